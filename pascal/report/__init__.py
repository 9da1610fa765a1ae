"""Rows in, tables and figures out. `build_tables` and `build_figures` make all of them from `RunResults`."""

from pascal.report.all_figures import ACROSS_RUNS, PER_RUN, build_figures, figure_plans
from pascal.report.all_tables import TABLES, build_tables
from pascal.report.figures_accuracy import pareto_figure, pareto_front, timesteps_figure
from pascal.report.figures_cost import components_figure
from pascal.report.figures_equivalence import equivalence_figure
from pascal.report.figures_layers import activity_figure, histogram_figure, spikes_figure
from pascal.report.figures_metric import metric_figure, metric_threshold_figure
from pascal.report.figures_neuron import pasc_figure, qcfs_figure
from pascal.report.figures_sensitivity import energy_sensitivity_figure, hardware_sensitivity_figure
from pascal.report.figures_training import training_figure
from pascal.report.results import RunResults, gather, overview
from pascal.report.style import save_figure
from pascal.report.tables_accuracy import accuracy_table, al_table, timesteps_table
from pascal.report.tables_audit import audit_table, missing_table
from pascal.report.tables_energy import energy_networks_table, energy_table, overhead_table
from pascal.report.tables_hardware import hardware_ratio_table, hardware_table
from pascal.report.tables_layers import layer_overhead_table, operations_table
from pascal.report.tables_write import to_csv, to_latex, to_markdown, write_table
from pascal.report.trace import EXAMPLE_CURRENTS, trace_pasc

__all__ = [
    "ACROSS_RUNS",
    "EXAMPLE_CURRENTS",
    "PER_RUN",
    "TABLES",
    "RunResults",
    "accuracy_table",
    "activity_figure",
    "al_table",
    "audit_table",
    "build_figures",
    "build_tables",
    "components_figure",
    "energy_networks_table",
    "energy_sensitivity_figure",
    "energy_table",
    "equivalence_figure",
    "figure_plans",
    "gather",
    "hardware_ratio_table",
    "hardware_sensitivity_figure",
    "hardware_table",
    "histogram_figure",
    "layer_overhead_table",
    "metric_figure",
    "metric_threshold_figure",
    "missing_table",
    "operations_table",
    "overhead_table",
    "overview",
    "pareto_figure",
    "pareto_front",
    "pasc_figure",
    "qcfs_figure",
    "save_figure",
    "spikes_figure",
    "timesteps_figure",
    "timesteps_table",
    "to_csv",
    "to_latex",
    "to_markdown",
    "trace_pasc",
    "training_figure",
    "write_table",
]
