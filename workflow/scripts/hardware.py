"""hardware: traces → cycles and joules on LoAS (plain IF, PASC) and SparTen (QCFS), per network (hardware.csv) and per
layer, their ratios (hardware_comparison.csv), and what moves them (hardware_sensitivity.csv)."""

from lib.stage import reading, stage, write_rows
from pascal.hardware import load_trace
from pascal.hardware.compare import compare_machines
from pascal.hardware.sensitivity import sensitivity

with stage(snakemake) as params:
    settings, traces = params["hardware"], {}
    for neuron, path in (("pasc", snakemake.input.pasc), ("if", snakemake.input.plain)):
        with reading(path):
            traces[neuron] = load_trace(path)
    effort = {"images": min(settings["images"], traces["pasc"].images), "workers": snakemake.threads, "progress": True}
    networks, layers, ratios = [], [], []
    for name, block in settings["accelerators"].items():
        rows, machines = compare_machines(traces["pasc"], traces["if"], {"name": name, **block}, **effort)
        ratios += rows
        for result in machines.values():
            machine = {"preset": name, "machine": result.accelerator.machine, "neuron": result.neuron}
            networks.append(result.summary())
            layers += [machine | {"overlap": result.accelerator.overlap} | row for row in result.layer_rows()]
    doubts = sensitivity(traces["pasc"], **effort | {"images": 1})
    for output, table in zip(snakemake.output, (networks, layers, ratios, doubts), strict=True):
        write_rows(output, table[0], table)
