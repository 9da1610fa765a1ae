"""Every figure of the report from the results of all runs. A figure without results says so in its place."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from matplotlib.figure import Figure

from pascal.report.figure_rows import (
    Results,
    curve_rows,
    energy_cost_rows,
    machine_rows,
    metric_rows,
    point_rows,
    spike_rows,
    timestep_cost_rows,
)
from pascal.report.figures_accuracy import pareto_figure, timesteps_figure
from pascal.report.figures_cost import components_figure
from pascal.report.figures_equivalence import equivalence_figure
from pascal.report.figures_layers import activity_figure, histogram_figure, spikes_figure
from pascal.report.figures_metric import metric_figure, metric_threshold_figure
from pascal.report.figures_neuron import pasc_figure, qcfs_figure
from pascal.report.figures_sensitivity import energy_sensitivity_figure, hardware_sensitivity_figure
from pascal.report.figures_training import training_figure
from pascal.report.results import RunResults, gather
from pascal.report.style import message_figure
from pascal.report.trace import EXAMPLE_CURRENTS, trace_pasc


@dataclass(frozen=True)
class FigurePlan:
    """A caption that says how to read the figure, the files it needs, and what draws it."""

    caption: str
    files: tuple[str, ...]
    draw: Callable[[Results], Figure]
    adaptive: bool = False  # only for runs whose levels come from the metric


ACROSS_RUNS: dict[str, FigurePlan] = {
    "qcfs": FigurePlan(
        "QCFS with its levels: the activation climbs one step where the preactivation passes the middle of a level.",
        (),
        lambda results: qcfs_figure(),
    ),
    "pasc_neuron": FigurePlan(
        "One PASC neuron. Phase 1 fires on the input, phase 2 corrects the count with excitatory or inhibitory "
        "spikes, phase 3 emits the count, earliest first.",
        (),
        lambda results: pasc_figure(trace_pasc(EXAMPLE_CURRENTS, step=1.0, levels=4)),
    ),
    "spikes": FigurePlan(
        "Spikes per neuron and image in each layer, mean ± std over seeds: the paper's SpikeRate. A layer cannot "
        "spike more often than it has levels.",
        ("workload",),
        lambda results: spikes_figure(spike_rows(results)),
    ),
    "timesteps": FigurePlan(
        "Accuracy of the plain IF network over its timesteps, mean ± std over seeds. The star is PASC at its effective "
        "timesteps; it has the ANN's accuracy (dotted) exactly. Plain IF runs on a sample of plain_images test "
        "images, PASC on all of them.",
        ("accuracy_vs_timesteps",),
        lambda results: timesteps_figure(curve_rows(results), point_rows(results)),
    ),
    "pareto_t_eff": FigurePlan(
        "Accuracy against effective timesteps. No run is better in both than one on the dashed front.",
        ("accuracy", "energy_summary"),
        lambda results: pareto_figure(timestep_cost_rows(results), "$T_\\mathrm{eff}$ (timesteps)"),
    ),
    "pareto_energy": FigurePlan(
        "Accuracy against energy of the SNN per image, arithmetic and on-chip memory. No run is better in both than "
        "one on the dashed front.",
        ("accuracy", "energy"),
        lambda results: pareto_figure(energy_cost_rows(results), "energy per image (µJ)"),
    ),
}

PER_RUN: dict[str, FigurePlan] = {
    "training": FigurePlan(
        "Loss, accuracy, learning rate and thresholds over the epochs; lines are means, bands span the seeds. "
        "At the dotted line an adaptive run takes its own levels.",
        ("train",),
        lambda runs: training_figure(gather(runs, "train"), runs[0].levels_change_epoch),
    ),
    "histogram": FigurePlan(
        "How often each level is taken in each layer of the starting run, over training images. Layers that crowd at "
        "one level need few.",
        ("histogram",),
        lambda runs: histogram_figure(gather(runs, "histogram")),
        adaptive=True,
    ),
    "metric": FigurePlan(
        "The AL metric of each layer, one line per seed; the mark is the level that its cluster got. A high metric "
        "allows few levels. With one seed, dashed lines part the clusters.",
        ("metric", "levels"),
        lambda runs: metric_figure(metric_rows(runs)),
        adaptive=True,
    ),
    "metric_threshold": FigurePlan(
        "The AL metric of each layer for three thresholds below which a level counts as empty and both readings of the "
        "moments, mean over seeds. Where lines part, the assignment depends on the threshold.",
        ("metric_by_k",),
        lambda runs: metric_threshold_figure(gather(runs, "metric_by_k")),
        adaptive=True,
    ),
    "activity": FigurePlan(
        "Share of neurons that fire in each timestep. Trains are earliest-first, so activity falls along a row.",
        ("activity",),
        lambda runs: activity_figure(gather(runs, "activity")),
    ),
    "equivalence": FigurePlan(
        "Spike count of the SNN against level of the ANN, for every neuron of every layer: PASC left, plain IF right. "
        "Neurons off the diagonal differ.",
        ("counts",),
        lambda runs: equivalence_figure(gather(runs, "counts")),
    ),
    "energy_components": FigurePlan(
        "Energy per image by component, one panel per arithmetic: both SNNs, and the ANN as it is, skipping MACs whose "
        "input is zero, and carrying activations in as few bits as their levels need.",
        ("energy",),
        lambda runs: components_figure(gather(runs, "energy")),
    ),
    "energy_sensitivity": FigurePlan(
        "Energy of the ANN over that of the SNN, with and without memory, against four kinds of ANN (see energy "
        "components). Left of 1 the ANN needs less.",
        ("energy_sensitivity",),
        lambda runs: energy_sensitivity_figure(gather(runs, "energy_sensitivity")),
    ),
    "hardware_components": FigurePlan(
        "Energy per image on the simulated accelerators, by component. Labels say machine, neuron, and whether a PE "
        "waits for its neuron unit (blocking) or not (pipelined).",
        ("hardware",),
        lambda runs: components_figure(machine_rows(runs), "preset", "bar"),
    ),
    "hardware_sensitivity": FigurePlan(
        "Energy of SparTen with the ANN over that of LoAS with PASC when one parameter of the accelerator moves and "
        "the others stay. Left of 1 the ANN needs less.",
        ("hardware_sensitivity",),
        lambda runs: hardware_sensitivity_figure(gather(runs, "hardware_sensitivity")),
    ),
}


def figure_plans(results: Results) -> dict[str, tuple[FigurePlan, Results]]:
    """Names of all figures, `name` or `name_run`, with what each draws. They depend on the runs, not on their files."""
    by_run: dict[str, list[RunResults]] = {}
    for result in results:
        by_run.setdefault(result.run, []).append(result)
    plans: dict[str, tuple[FigurePlan, Results]] = {name: (plan, results) for name, plan in ACROSS_RUNS.items()}
    for name, plan in PER_RUN.items():
        for run, seeds in by_run.items():
            if seeds[0].clusters is not None or not plan.adaptive:
                plans[f"{name}_{run}"] = plan, seeds
    return plans


def build_figures(results: Results) -> Iterator[tuple[str, Figure]]:
    """All figures by name, one at a time, whatever is missing."""
    for name, (plan, runs) in figure_plans(results).items():
        if not plan.files or any(_has(run, plan.files) for run in runs):
            yield name, plan.draw(runs)
        else:
            yield name, message_figure(f"{name}: no results yet ({', '.join(plan.files)})")


def _has(run: RunResults, files: tuple[str, ...]) -> bool:
    return all(getattr(run, file) is not None for file in files)
