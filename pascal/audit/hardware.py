"""What the simulators gave, in the quantities of the paper's appendix "Hardware Quantification"."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pascal.audit.audit import Measured

_PRESET = "pascal40"  # the default; other design points stand in the hardware tables
_NETWORKS = {"qcfs": "ANN", "if": "IF", "pasc": "PASC"}


def measured_hardware(
    network: str, dataset: str, levels: tuple[int, ...], summaries: Iterable[Mapping[str, Any]]
) -> Iterator[Measured]:
    """Joules and seconds per 10,000 images of the default accelerator, from rows of `hardware.Simulation.summary`."""
    for row in summaries:
        if row["preset"] != _PRESET or row["overlap"] != "blocking":
            continue
        conditions = (
            f"{_PRESET}, {row['pes']} PEs, memory {'on' if row['memory'] else 'off'}, "
            f"{row['joint_density']:.1%} matches per MAC"
        )
        values = {
            "energy mJ": row["energy_mj_per_10000"],
            "neurons' energy mJ": row["neuron_pj"] * 1e-5,  # 10,000 images, 10⁹ pJ in a mJ
            "latency s": row["latency_s_per_10000"],
        }
        for quantity, value in values.items():
            yield Measured(f"{_NETWORKS[row['neuron']]} {quantity}", network, dataset, levels, value, conditions)
