"""hardware: traces → cycles and joules on LoAS (plain IF, PASC) and SparTen (QCFS), per network (hardware.csv) and per
layer, their ratios (hardware_comparison.csv), and what moves them (hardware_sensitivity.csv).

With `weight_density` the weights are pruned by magnitude; the spikes stay those of the network as it was trained."""

from pascal.files import write_rows
from pascal.hardware import load_trace, prune_trace
from pascal.hardware.compare import compare_machines
from pascal.hardware.sensitivity import WEIGHT_DENSITIES, sensitivity
from pascal.pipeline.stage import reading, stage

with stage(snakemake) as params:
    settings, traces = params.hardware, {}
    density = settings.weight_density
    for neuron, path in (("pasc", snakemake.input.pasc), ("if", snakemake.input.plain)):
        with reading(path):
            traces[neuron] = prune_trace(load_trace(path), density)
    effort = {"images": min(settings.images, traces["pasc"].images), "workers": snakemake.threads, "progress": True}
    networks, layers, ratios = [], [], []
    for name, accelerator in settings.accelerators.items():
        rows, machines = compare_machines(
            traces["pasc"], traces["if"], {"name": name, **accelerator.model_dump()}, **effort
        )
        ratios += [row | {"weight_density": density} for row in rows]
        for result in machines.values():
            machine = {"preset": name, "machine": result.accelerator.machine, "neuron": result.neuron}
            networks.append(result.summary() | {"weight_density": density})
            layers += [machine | {"overlap": result.accelerator.overlap} | row for row in result.layer_rows()]
    lower = [density, *(other for other in WEIGHT_DENSITIES if other < density)]
    doubts = sensitivity(traces["pasc"], weight_densities=lower, **effort | {"images": 1})
    for output, table in zip(snakemake.output, (networks, layers, ratios, doubts), strict=True):
        write_rows(output, table[0], table)
