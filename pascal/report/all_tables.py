"""Every table of the report from the results of all runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from pascal.report.results import RunResults, gather, overview
from pascal.report.rows import Rows
from pascal.report.tables_accuracy import accuracy_table, al_table, timesteps_table
from pascal.report.tables_audit import audit_table, missing_table
from pascal.report.tables_energy import energy_networks_table, energy_table, overhead_table
from pascal.report.tables_hardware import hardware_ratio_table, hardware_table
from pascal.report.tables_layers import layer_overhead_table, operations_table

_WIDTH = "Reported numbers are the paper's, of networks of width 1."


@dataclass(frozen=True)
class TablePlan:
    """A caption, and what makes the table from all runs, their overview and the audit."""

    caption: str
    make: Callable[[Sequence[RunResults], pd.DataFrame, Rows], pd.DataFrame]


TABLES: dict[str, TablePlan] = {
    "accuracy": TablePlan(
        f"Accuracy of the ANN and of the SNN converted from it, mean ± std over seeds. The certificate counts neurons "
        f"whose spikes differ from the ANN's level. {_WIDTH}",
        lambda results, runs, audit: accuracy_table(runs, audit),
    ),
    "adaptive": TablePlan(
        f"Adaptive layerwise runs: levels of each layer, effective timesteps and accuracy. {_WIDTH}",
        lambda results, runs, audit: al_table(runs, audit),
    ),
    "timesteps": TablePlan(
        "Accuracy of the plain IF network over timesteps, of PASC at its effective timesteps, and where the former "
        "reaches the latter.",
        lambda results, runs, audit: timesteps_table(runs, gather(results, "accuracy_vs_timesteps")),
    ),
    "energy": TablePlan(
        f"Energy of the ANN over that of the SNN by the paper's formula and by exact operations. {_WIDTH}",
        lambda results, runs, audit: energy_table(runs, audit),
    ),
    "energy_networks": TablePlan(
        "Energy per image of both SNNs, and of the ANN as it is, skipping zeros, and with low-bit activations.",
        lambda results, runs, audit: energy_networks_table(runs, gather(results, "energy")),
    ),
    "overhead": TablePlan(
        f"Cost of PASC over plain IF: the paper's formula, operations counted, simulated hardware. {_WIDTH}",
        lambda results, runs, audit: overhead_table(runs, gather(results, "hardware_comparison"), audit),
    ),
    "overhead_layers": TablePlan(
        "Cost of PASC over plain IF in each layer.",
        lambda results, runs, audit: layer_overhead_table(runs, gather(results, "ratios")),
    ),
    "hardware": TablePlan(
        f"Energy and latency on the simulated accelerators. {_WIDTH}",
        lambda results, runs, audit: hardware_table(runs, gather(results, "hardware"), audit),
    ),
    "hardware_ratios": TablePlan(
        f"Ratios on the simulated accelerators; low and high are a 95 % bootstrap interval over images. {_WIDTH}",
        lambda results, runs, audit: hardware_ratio_table(runs, gather(results, "hardware_comparison"), audit),
    ),
    "operations": TablePlan(
        f"Operations of each layer per image. {_WIDTH}",
        lambda results, runs, audit: operations_table(runs, gather(results, "workload"), audit),
    ),
    "audit": TablePlan(
        "The paper's numbers: as reported, from its equations, from the authors' lists, as measured here.",
        lambda results, runs, audit: audit_table(audit),
    ),
    "missing": TablePlan(
        "Results that are not there, by run and seed; an empty table means that nothing is missing.",
        lambda results, runs, audit: missing_table(runs),
    ),
}


def build_tables(results: Sequence[RunResults], audit: Rows = ()) -> dict[str, pd.DataFrame]:
    """All of TABLES by name, whatever is missing; `audit` is what `energy.audit_rows` gives."""
    audit = audit if isinstance(audit, pd.DataFrame) else list(audit)
    runs = overview(results)
    return {name: plan.make(results, runs, audit) for name, plan in TABLES.items()}
