"""Pictures that explain the method: the QCFS staircase, and one PASC neuron in its three phases."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pascal.errors import PascalError
from pascal.report.registry import figure
from pascal.report.results import Results
from pascal.report.rows import Rows, filled
from pascal.report.style import BESIDE, COLOURS, COLUMN_IN, PAGE_IN, PALETTE, panels, styled
from pascal.report.trace import EXAMPLE_CURRENTS, trace_pasc

PHASES = {
    "integrate": "1 · integrate the input",
    "settle": "2 · settle without input",
    "emit": "3 · emit the count",
}
_TINTS = ("0.94", "0.88", "0.94")
_TRACE = ["phase", "timestep", "current", "before", "membrane", "spike", "count"]


@figure("QCFS with its levels: the activation climbs one step where the preactivation passes the middle of a level.")
def qcfs(results: Results) -> Figure:
    """The paper's example."""
    return qcfs_figure()


@figure(
    "One PASC neuron. Phase 1 fires on the input, phase 2 corrects the count with excitatory or inhibitory spikes, "
    "phase 3 begins anew with a membrane of count · θ* and emits the count, earliest first."
)
def pasc_neuron(results: Results) -> Figure:
    """A neuron that phase 1 alone would let fire once too often."""
    return pasc_figure(trace_pasc(EXAMPLE_CURRENTS, step=1.0, levels=4))


@styled
def qcfs_figure(levels: int = 4, threshold: float = 0.25) -> Figure:
    """QCFS (eq. 1) with its levels, beside the clipped ReLU it stands for; the defaults are the paper's figure."""
    if levels < 1 or not threshold > 0:
        raise PascalError(f"qcfs_figure: got levels {levels} and threshold {threshold}, expected both positive")
    step = threshold / levels
    edges = np.concatenate(([-1.2], np.arange(levels) + 0.5, [levels + 1.2])) * step
    figure, ((axes,),) = panels(1, 1, COLUMN_IN, 2.6)
    ramp = np.array([edges[0], 0, threshold, edges[-1]])
    axes.plot(ramp, ramp.clip(0, threshold), color="0.5", linestyle="--", label="ReLU, clipped at θ")
    axes.stairs(np.arange(levels + 1) * step, edges, baseline=None, color=COLOURS["PASC"], lw=1.8, label="QCFS")
    axes.set(xlabel="preactivation z", ylabel="activation", ylim=(-0.08 * threshold, 1.1 * threshold))
    axes.legend(loc="upper left", frameon=True)
    counts = axes.secondary_yaxis("right", functions=(lambda value: value / step, lambda count: count * step))
    counts.set_ylabel(f"spike count, L = {levels}, θ = {threshold:g}")
    counts.set_yticks(range(0, levels + 1, -(-levels // 8)))
    return figure


@styled
def pasc_figure(rows: Rows, step: float = 1.0) -> Figure:
    """Input, membrane and spikes of one neuron through Algorithm 1.

    Columns: phase, timestep, current, before, membrane, spike, count, as `trace_pasc` gives them.
    """
    trace = filled(rows, _TRACE, "trace of a PASC neuron")
    trace["step_at"] = np.arange(1, len(trace) + 1)
    figure, axes = panels(3, 1, PAGE_IN, 4.4, sharex=True, height_ratios=(1, 2.2, 1.3))
    currents, membrane, spikes = axes[:, 0]
    _shade(axes[:, 0], trace)
    _draw_currents(currents, trace, step)
    _draw_membrane(membrane, trace, step)
    _draw_spikes(spikes, trace)
    figure.suptitle(_summary(trace, step))
    return figure


def _summary(trace: pd.DataFrame, step: float) -> str:
    emitted = trace.loc[trace.phase == "emit", "spike"]
    first = trace.loc[trace.phase == "integrate", "count"].iloc[-1]
    total = trace.current.astype(float).sum() / step
    return f"z = {total:.4g} θ*, L = {len(emitted)}: phase 1 alone counts {first}, the neuron emits {emitted.sum()}"


def _shade(axes: np.ndarray, trace: pd.DataFrame) -> None:
    for tint, (phase, title) in zip(_TINTS, PHASES.items(), strict=True):
        at = trace.loc[trace.phase == phase, "step_at"]
        if at.empty:  # one level on both sides leaves nothing to settle
            continue
        for panel in axes:
            panel.axvspan(at.min() - 0.5, at.max() + 0.5, color=tint, lw=0, zorder=0)
            panel.grid(False, axis="x")
        shown = title if len(at) > 0.17 * len(trace) else title[0]  # a short phase has room for its number only
        top = axes[0].get_xaxis_transform()
        axes[0].text((at.min() + at.max()) / 2, 1.04, shown, transform=top, ha="center", va="bottom")


def _draw_currents(axes: Axes, trace: pd.DataFrame, step: float) -> None:
    fed = trace.dropna(subset="current")
    axes.bar(fed.step_at, fed.current.astype(float) / step, width=0.5, color=COLOURS["ANN"], zorder=2)
    axes.axhline(0, color="0.3", lw=0.8)
    axes.set_ylabel("current (θ*)")
    axes.margins(y=0.15)


def _draw_membrane(axes: Axes, trace: pd.DataFrame, step: float) -> None:
    """A step enters at the left of its slot, is compared in the middle, and leaves reset at the right."""
    for phase in PHASES:
        part = trace[trace.phase == phase]
        at = np.repeat(part.step_at.to_numpy(float), 4) + np.tile([-0.5, 0, 0, 0.5], len(part))
        values = part[["before", "before", "membrane", "membrane"]].to_numpy(float).ravel() / step
        if phase == "integrate":  # mem(0) = θ*/2
            axes.plot(0.5, 0.5, "o", color=COLOURS["PASC"], clip_on=False, zorder=4, label="start at θ*/2")
            at, values = np.insert(at, 0, 0.5), np.insert(values, 0, 0.5)
        axes.plot(at, values, color=COLOURS["PASC"], zorder=3, label="membrane" if phase == "integrate" else None)
    start = trace[trace.phase == "emit"].iloc[0]
    axes.annotate(
        "set to count · θ*",
        (start.step_at - 0.5, start.before / step),
        xytext=(0, 14),
        textcoords="offset points",
        ha="center",
        fontsize=6,
        arrowprops={"arrowstyle": "->", "lw": 0.6},
    )
    axes.axhline(1, color=COLOURS["bad"], linestyle="--", lw=1, label="θ*: fires at or above")
    axes.axhline(0, color=COLOURS["IF"], linestyle=":", lw=1.3, label="0: in phase 2,\ninhibited below")
    axes.set_ylabel("membrane (θ*)")
    axes.margins(y=0.1)
    axes.legend(**BESIDE)


def _draw_spikes(axes: Axes, trace: pd.DataFrame) -> None:
    for sign, colour, label in ((1, PALETTE[0], "excitatory spike"), (-1, PALETTE[3], "inhibitory spike")):
        fired = trace[trace.spike == sign]
        if len(fired):
            axes.vlines(fired.step_at, 0, sign, color=colour, lw=3, label=label, zorder=2)
    for phase in PHASES:
        part = trace[trace.phase == phase]
        name = "count in its phase" if phase == "integrate" else None
        axes.step(part.step_at, part["count"], where="mid", color="0.2", marker="o", ms=3, lw=0.8, label=name)
    axes.axhline(0, color="0.3", lw=0.8)
    axes.set(ylabel="spikes", xlabel="timestep of each phase")
    _name_timesteps(axes, trace)
    axes.set_xlim(0.5, len(trace) + 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.margins(y=0.15)
    axes.legend(**BESIDE)


def _name_timesteps(axes: Axes, trace: pd.DataFrame) -> None:
    """Some two dozen labels, none of them next to the first of the following phase."""
    every = -(-len(trace) // 24)
    left = trace.groupby("phase")["timestep"].transform("max") - trace.timestep + 1
    named = trace[((trace.timestep - 1) % every == 0) & ((trace.timestep == 1) | (left >= every))]
    axes.set_xticks(named.step_at, named.timestep)
