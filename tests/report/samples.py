"""Made-up results with the shape of real ones: any number of layers, levels and seeds, the same at every call."""

import numpy as np
import pandas as pd

from pascal.report.results import RunResults

VGG = [f"features.{index}" for index in (2, 5, 9, 12, 16, 19, 22, 26, 29, 32, 36, 39, 42)] + ["head.2", "head.5"]


def layer_names(layers):
    """15 layers as VGG-16 has them, otherwise a ResNet's stem and blocks."""
    if layers == 15:
        return VGG
    return ["act1", *[f"layer{1 + 4 * n // layers}.{n // 2}.act{1 + n % 2}" for n in range(layers - 1)]]


def histogram_rows(layers=15, levels=4, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for depth, layer in enumerate(layer_names(layers)):
        shares = np.exp(-np.arange(levels + 1) * rng.uniform(0.3, 2.5))
        counts = (shares / shares.sum() * 3_000_000 / (1 + depth)).astype(int)
        rows += [{"layer": layer, "level": level, "count": int(count)} for level, count in enumerate(counts)]
    return rows


def by_k_rows(metric):
    """The same metrics for both readings of the moments and three thresholds."""
    readings = [(moments, k) for moments in ("levels", "frequencies") for k in (1, 0.75, 0.5)]
    return [{**row, "moments": moments, "k": k} for moments, k in readings for row in metric]


def metric_rows(layers=15, seed=0, constant=()):
    rng = np.random.default_rng(seed)
    base = np.exp(np.random.default_rng(99).normal(2, 1.2, layers))
    rows = []
    for index, layer in enumerate(layer_names(layers)):
        agreement, skewness = 0.25 * (1 + index % 4), rng.uniform(0.5, 3)
        metric = np.nan if index in constant else base[index] * rng.uniform(0.9, 1.1)
        rows.append({"layer": layer, "agreement": agreement, "skewness": skewness,
                     "kurtosis": metric / agreement / (skewness**2 + 1), "metric": metric})  # fmt: skip
    return rows


def assigned_levels(rows, values=(4, 2, 1)):
    """Levels by thirds of the metric; the highest gets the smallest, a constant layer too."""
    metric = pd.DataFrame(rows).set_index("layer").metric
    rank = metric.rank(pct=True).fillna(1.0)
    return {layer: values[min(int(share * len(values)), len(values) - 1)] for layer, share in rank.items()}


def workload_rows(layers=15, levels=4, seed=0):
    """`levels` is one number for all layers, or one for each name."""
    rng = np.random.default_rng(seed)
    names = layer_names(layers)
    levels = levels if isinstance(levels, dict) else dict.fromkeys(names, levels)
    rows = []
    for index, activation in enumerate([*names, None]):
        channels = 16 * 2 ** min(3, index // 4)
        macs = 9 * channels * channels * 1024 // 4 ** min(3, index // 4)
        rows.append({
            "path": f"conv{index + 1}" if activation else "fc", "kind": "conv" if activation else "linear",
            "input_shape": f"{channels}x32x32", "output_shape": f"{channels}x32x32", "kernel": "3x3",
            "macs": macs, "fan_in": 9 * channels, "producer_levels": levels[names[index - 1]] if index else None,
            "synaptic_operations": macs * rng.uniform(0.3, 1.0) if index else None,
            "nonzero_macs": macs * rng.uniform(0.2, 0.6), "activation": activation,
            "levels": levels.get(activation), "neurons": 1024 * channels if activation else 0,
            "spikes_per_neuron": rng.uniform(0.2, 0.9) * levels[activation] if activation else None,
        })  # fmt: skip
    return rows


def train_rows(epochs=24, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for epoch in range(1, epochs + 1):
        done = epoch / epochs
        rows.append({
            "epoch": epoch, "loss": 2.3 * np.exp(-3 * done) + rng.uniform(0, 0.05),
            "train_accuracy": min(1, 0.4 + 0.58 * done**0.4 + rng.normal(0, 0.005)),
            "validation_accuracy": min(1, 0.4 + 0.5 * done**0.4 + rng.normal(0, 0.01)),
            "learning_rate": 0.05 * (1 + np.cos(np.pi * done)), "threshold_min": 8 - 7 * done + rng.uniform(0, 0.1),
            "threshold_max": 8 - 3 * done, "seconds": 116.0,
        })  # fmt: skip
    return rows


def energy_rows(layers=15, seed=0):
    rng = np.random.default_rng(seed)
    networks = {"SNN PASC": 1.0, "SNN IF": 0.98, "ANN": 6.0, "ANN zero-skipping": 2.5, "ANN low-bit": 3.0,
                "ANN zero-skipping low-bit": 1.4}  # fmt: skip
    rows = []
    for costs, scale in (("FP32", 1e6), ("INT8", 1e5)):
        for network, factor in networks.items():
            for index in range(layers):
                parts = {"synaptic_pj": factor, "scaling_pj": 0.02, "residual_pj": 0.03 * (layers != 15),
                         "pooling_pj": 0.01, "neuron_pj": 0.1, "memory_pj": 2.0 + 0.5 * factor}  # fmt: skip
                parts = {name: part * scale * rng.uniform(0.9, 1.1) for name, part in parts.items()}
                total = sum(parts.values())
                rows.append({"costs": costs, "network": network, "path": f"conv{index}", **parts, "total_pj": total})
    return rows


def sensitivity_rows(seed=0):
    rng = np.random.default_rng(seed)
    return [
        {"costs": costs, "memory": memory, "skip_zeros": skip, "low_bits": low, "snn_pj": 1e6,
         "ann_pj": 8e6 * (0.2 if memory else 1) * (0.4 if skip else 1) * (0.6 if low else 1) * rng.uniform(0.95, 1.05)}
        for costs in ("FP32", "INT8") for memory in (False, True) for skip in (False, True) for low in (False, True)
    ]  # fmt: skip


def hardware_sensitivity_rows(seed=0):
    values = {"dram_bit_pj": (3.9, 12.45, 20.0, 40.0), "cell": ("lop", "hp", "lstp"), "act_bits": (8, 3),
              "profile": ("ideal", "h1", "nf", "cons"), "pes": (16, 64, 256, 1024),
              "schedule": ("dynamic", "lpt", "barrier", "barrier_n", "gb"), "memory": (True, False),
              "weight_density": (1.0, 0.5, 0.25, 0.1, 0.05)}  # fmt: skip
    rng = np.random.default_rng(seed)
    return [
        {"parameter": name, "value": value, "ann_over_snn_compute": rng.uniform(1.4, 1.8),
         "ann_over_snn_on_chip": rng.uniform(1.1, 1.4), "ann_over_snn_with_dram": rng.uniform(0.8, 1.1)}
        for name, choices in values.items() for value in choices
    ]  # fmt: skip


def hardware_rows(seed=0):
    rng = np.random.default_rng(seed)
    machines = (("loas", "if", "blocking", 100), ("loas", "pasc", "blocking", 101), ("loas", "pasc", "pipelined", 101),
                ("sparten", "qcfs", "blocking", 170))  # fmt: skip
    rows = []
    for machine, neuron, overlap, pe in machines:
        parts = {"pe_pj": pe * 1e6, "neuron_pj": 3e5 if neuron == "pasc" else 1e5, "sram_pj": 5e7, "static_pj": 2.6e8,
                 "dram_pj": 4.3e8}  # fmt: skip
        parts = {name: part * rng.uniform(0.98, 1.02) for name, part in parts.items()}
        total = sum(parts.values())
        latency = 3.42 * (1.09 if (neuron, overlap) == ("pasc", "blocking") else 1.0)
        rows.append({
            "preset": "pascal40", "machine": machine, "neuron": neuron, "overlap": overlap, "pes": 16, "memory": True,
            "masks": "recorded", "images": 500, "joint_density": 0.057, **parts, "latency_ms_per_image": latency,
            "latency_s_per_10000": latency * 10, "energy_uj_per_image": total * 1e-6,
            "energy_uj_per_image_without_dram": (total - parts["dram_pj"]) * 1e-6,
            "energy_mj_per_10000": total * 1e-5, "energy_mj_per_10000_without_dram": (total - parts["dram_pj"]) * 1e-5,
        })  # fmt: skip
    return rows


def comparison_rows(seed=0):
    rng = np.random.default_rng(seed)
    quantities = {
        "PASC / IF energy, on-chip dynamic": (1.0012, 1.0012),
        "PASC / IF latency, blocking": (1.09, 1.125),
        "PASC / IF latency, pipelined": (0.99, 1.125),
        "ANN / SNN (PASC) energy, with DRAM": (1.09, 8.3514),
    }
    return [
        {"quantity": quantity, "measured": value * rng.uniform(0.999, 1.001), "low": value * 0.99,
         "high": value * 1.01, "reported": reported, "preset": "pascal40", "pes": 16, "memory": True,
         "joint_density": 0.057, "masks": "recorded", "images": 500, "note": ""}
        for quantity, (value, reported) in quantities.items()
    ]  # fmt: skip


def ratio_rows(layers=15, levels=4):
    return [
        {"activation": layer, "timesteps": levels if index else None, "levels": levels, "fan_in": 576,
         "spikes_per_neuron": 0.75, "operation_ratio": 1 / (576 * 0.75), "energy_ratio": 1.03,
         "energy_ratio_counted": 1.02}
        for index, layer in enumerate(layer_names(layers))
    ]  # fmt: skip


AUDIT = [
    {"quantity": quantity, "network": network, "dataset": dataset, "levels": levels, "reported": reported,
     "equation": equation, "difference": "",
     "counted": "", "latency_timesteps": "", "authors_list": "", "measured": "", "agrees": agrees,
     "reason": "", "source": "the paper"}
    for quantity, network, dataset, levels, reported, equation, agrees in (
        ("ANN accuracy %", "vgg16", "cifar10", "4", "95.66", "", ""),
        ("SNN accuracy %", "vgg16", "cifar10", "4", "95.61", "", ""),
        ("T_eff", "vgg16", "cifar10", "2 1 2 1 2 1 1 1 1 1 4 4 2 4 4", "2.13", "2.119", "no"),
        ("SNN accuracy %", "vgg16", "cifar10", "2 1 2 1 2 1 1 1 1 1 4 4 2 4 4", "93.73", "", ""),
        ("Energy_ANN/Energy_SNN FP32", "vgg16", "cifar10", "4", "7.49", "7.494", "yes"),
        ("network r_E", "vgg16", "cifar10", "4", "1.001", "1.016", "no"),
        ("MACs", "vgg16", "cifar10", "", "332111872", "332111872", "yes"),
        ("PASC energy mJ", "vgg16", "cifar10", "4", "446.02", "", ""),
        ("PASC latency s", "vgg16", "cifar10", "4", "0.45", "", ""),
    )
]  # fmt: skip


def compare_rows(accuracy=0.9, levels=4):
    """Two methods over timesteps, one that chooses, an exact one and one that cannot."""
    rows = [
        {"method": method, "label": label, "answer": f"T={t}", "chosen": True, "accuracy": accuracy - loss / t,
         "total_timesteps": t + before, "sequential_timesteps": t + before, "synaptic_operations": 1e6 * t}
        for method, label, loss, before in (("plain", "IF", 0.3, 0), ("cos", "COS, ρ = 4", 0.05, 4))
        for t in (1, 2, 4, 8)
    ]  # fmt: skip
    alone = {"method": "seenn", "label": "SEENN-I", "accuracy": accuracy - 0.01, "sequential_timesteps": 3.2}
    rows += [alone | {"answer": "confidence > 0.8", "chosen": True, "total_timesteps": 3.2, "synaptic_operations": 3e6},
             alone | {"answer": "oracle", "chosen": False, "total_timesteps": 1.5, "synaptic_operations": 1e6},
             {"method": "pasc", "label": "PASC", "answer": f"T={levels}", "chosen": True, "accuracy": accuracy,
              "total_timesteps": levels, "sequential_timesteps": 102, "synaptic_operations": 3e6}]  # fmt: skip
    same = {"levels": str(levels), "ann_accuracy": accuracy, "agreement": 0.99, "mismatches": 0.1, "pooling": "average",
            "neuron_operations": 1e5, "buffer_bits": 3.0, "problem": ""}  # fmt: skip
    cannot = dict.fromkeys([*rows[0], *same], None) | {"method": "radix", "label": "radix", "levels": "4", "answer": ""}
    return [same | row for row in rows] + [cannot | {"chosen": False, "problem": "radix: 4 levels, expected 2ⁿ − 1"}]


def run_results(run="c10-vgg-l4", seed=0, layers=15, level=4, adaptive=False, **changes):
    """One complete run; `changes` replace facts and files, with None for a file that is missing."""
    rng = np.random.default_rng(seed + 100 * level + adaptive)
    accuracy = 0.9 - 0.02 * adaptive + rng.normal(0, 0.002)
    metric = metric_rows(layers, seed)
    network = {15: "vgg16", 17: "resnet18", 33: "resnet34"}.get(layers, "other")
    summary = {
        "t_eff": 2.2 + rng.uniform(0, 0.1) if adaptive else 1.05 * level, "spikes_per_neuron": 0.66,
        "synaptic_operations_per_mac": 0.5, "first_layer_share": 0.005, "energy_ratio_formula": 1.016,
        "ann_snn_ratio_paper_FP32": 7.49, "ann_snn_ratio_exact_FP32": 9.5, "energy_ratio_FP32": 1.01,
        "ann_snn_ratio_paper_INT8": 11.03, "ann_snn_ratio_exact_INT8": 14.1, "energy_ratio_INT8": 1.02,
    }  # fmt: skip
    verify = {
        "images": 10_000, "neurons": 10_000 * 284_672, "count_mismatches": 0, "prediction_mismatches": 0,
        "max_logit_error": 0.0, "first_divergence": None, "layers": [], "dtype": "float64", "passed": True,
    }  # fmt: skip
    counts = range(level + 1)
    files = {
        "accuracy": {"ann_accuracy": accuracy, "snn_accuracy": accuracy, "images": 10_000},
        "accuracy_vs_timesteps": [
            {"timesteps": t, "accuracy": accuracy - 0.3 / t, "images": 60, "ann_accuracy": accuracy}
            for t in (1, 2, 4, 8, 16, 32, 64)
        ],
        "verify": verify,
        "train": train_rows(24, seed),
        "workload": workload_rows(layers, assigned_levels(metric) if adaptive else level, seed),
        "activity": [{"activation": layer, "timestep": t, "firing": 0.5 / t} for layer in layer_names(layers)
                     for t in range(1, level + 1)],
        "counts": [{"neuron": "PASC", "ann_count": c, "snn_count": c, "neurons": 10**6 // (c + 1)} for c in counts],
        "energy": energy_rows(layers, seed), "energy_summary": summary, "energy_sensitivity": sensitivity_rows(seed),
        "ratios": ratio_rows(layers, level), "hardware": hardware_rows(seed),
        "compare": compare_rows(accuracy, level),
        "hardware_comparison": comparison_rows(seed), "hardware_sensitivity": hardware_sensitivity_rows(seed),
    }  # fmt: skip
    files |= {"histogram": histogram_rows(layers, level, seed), "levels": dict.fromkeys(layer_names(layers), level)}
    if adaptive:
        files |= {
            "metric": metric, "levels": assigned_levels(metric),
            "metric_by_k": by_k_rows(metric),
        }  # fmt: skip
    facts = {"run": run, "seed": seed, "dataset": "cifar10", "network": network}
    if adaptive:
        facts |= {
            "kind": "derived",
            "start": "c10-vgg-l4",
            "clusters": 3,
            "values": (4, 2, 1),
            "levels_change_epoch": 16,
        }
    facts |= {name: value for name, value in changes.items() if name not in files}
    files |= {name: value for name, value in changes.items() if name in files}
    there = {name: content for name, content in files.items() if content is not None}
    return RunResults(**facts, missing=tuple(name for name in files if name not in there), files=there)


def over(seeds, rows, **columns):
    """The rows of several seeds under one another."""
    return [{**row, **columns, "seed": seed} for seed in range(seeds) for row in rows(seed)]
