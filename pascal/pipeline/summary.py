"""`python -m pascal.pipeline.summary`: what came out, on one screen, and what to do next. `make run` ends with it."""

import json
from pathlib import Path
from typing import Any

from pascal.pipeline.manifest import METRICS, RESULTS
from pascal.pipeline.parameters.files import Report, ReportedRun, read_part
from pascal.text import text_table

_HEADINGS = ("run", "levels", "ANN %", "SNN %", "counts that differ", "T_eff", "µJ per image")
_WORDS = """\
Means over {seeds} seeds. SNN: the spiking network made of the trained one, the ANN. Counts that differ: neurons of it
that do not spike as often as the ANN's level says. T_eff: effective timesteps. µJ: of the SNN, by the prices {costs}.

Tables: {results}/tables, figures: {results}/figures. Next:
  make ui      compare the runs in the browser
  make report  one page with all tables and figures
  pascal plot equivalence {home}/ann.safetensors --network {network} --width {width:g} --dataset {source}"""


def summary(report: Report) -> str:
    """A line for each run; the words below explain the headings."""
    first = report.runs[0]
    costs = next(iter(first.settings.energy))
    rows = [_row(run, report.seeds, costs) for run in report.runs]
    words = _WORDS.format(
        seeds=len(report.seeds), costs=costs, results=RESULTS, home=RESULTS / first.run / str(report.seeds[0]),
        source=first.source, network=first.settings.network, width=first.settings.width,
    )  # fmt: skip
    return "\n".join([*text_table(_HEADINGS, rows), "", words])


def _row(run: ReportedRun, seeds: tuple[int, ...], costs: str) -> tuple[str, ...]:
    numbers: dict[str, float] = _read(METRICS / f"{run.run}.json")
    levels = {level for seed in seeds for level in _read(RESULTS / run.run / str(seed) / "levels.json").values()}
    return (
        run.run,
        "/".join(map(str, sorted(levels, reverse=True))),
        f"{100 * numbers['ann_accuracy']:.2f}",
        f"{100 * numbers['snn_accuracy']:.2f}",
        f"{numbers['count_mismatches']:,.0f}",
        f"{numbers['t_eff']:.2f}",
        f"{numbers.get(f'snn_uj_{costs}', float('nan')):.4g}",
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(summary(read_part("build/report.json")))
