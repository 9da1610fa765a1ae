"""All figures, found by their decorators."""

from collections.abc import Iterator
from importlib import import_module

from matplotlib import rc_context
from matplotlib.figure import Figure

from pascal.report.registry import Plan, plans
from pascal.report.results import Results, RunResults
from pascal.report.style import STYLE


def figure_plans(results: Results) -> dict[str, tuple[Plan, Results]]:
    """Paths of all figures, `name` or `run/name`, with what each draws. They depend on the runs, not on their files."""
    by_run: dict[str, list[RunResults]] = {}
    for result in results:
        by_run.setdefault(result.run, []).append(result)
    found: dict[str, tuple[Plan, Results]] = {}
    for name, plan in plans("figures").items():
        if not plan.per_run:
            found[name] = plan, results
        else:
            found |= {f"{run}/{name}": (plan, seeds) for run, seeds in by_run.items() if seeds[0].kind in plan.kinds}
    return found


def build_figures(
    results: Results, per_run: bool | None = None, kinds: tuple[str, ...] | None = None
) -> Iterator[tuple[str, Figure]]:
    """All figures by path, or some of them, one at a time; one without results is left out."""
    for path, (plan, runs) in figure_plans(results).items():
        drawable = not plan.files or any(all(run.get(file) is not None for file in plan.files) for run in runs)
        if drawable and per_run in (None, plan.per_run) and kinds in (None, plan.kinds):
            yield path, draw(plan, runs)


def draw(plan: Plan, results: Results) -> Figure:
    """A figure in the style of all, from the files that it names: no other would remake it."""
    make = getattr(import_module(f"pascal.report.figures.{plan.module}"), plan.name)
    with rc_context(STYLE):
        figure: Figure = make([result.only(plan.files) for result in results])
    return figure
