"""What it costs Snakemake to plan a sweep: `python -m benchmarks.speed.sweeps OUT [RUNS ...]`.

OUT/sweeps.csv has CPU seconds and peak memory of `snakemake --dry-run all`, in a clean clone with as many runs as asked
for (50, 200, 1000); OUT/sweeps.png shows them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import yaml
from matplotlib.figure import Figure

from pascal.report.style import panels, save_figure, styled

_ROOT = Path(__file__).parents[2]
_CODE = ("pascal", "workflow", "Snakefile")
_PLAN = (
    "snakemake",
    "--workflow-profile",
    "workflow/profiles/default",
    "--cores",
    "1",
    "--dry-run",
    "--quiet",
    "rules",
)
_WIDEST = 5  # points beside each other in the sweep: an adaptive run for each learning rate and number of levels


def swept(runs: int) -> str:
    """The shipped parameters with a sweep of half the runs, and an adaptive run for each of them."""
    params = yaml.safe_load((_ROOT / "params.yaml").read_text(encoding="utf-8"))
    rates = [round(0.01 + number * 1e-4, 6) for number in range(runs // 2 // _WIDEST)]
    sweep = {"train.learning_rate": rates, "levels": list(range(1, _WIDEST + 1))}
    plain = {"dataset": "digits", "network": "vgg16", "width": 0.125, "sweep": sweep}
    params["runs"] = {"vgg": plain, "vgg-al": {"from": "vgg", "adapt": {"clusters": 3, "values": [4, 2, 1]}}}
    params["defaults"]["seeds"] = [0]
    return str(yaml.safe_dump(params, sort_keys=False))


def plan(runs: int) -> dict[str, float]:
    """CPU seconds, peak memory and jobs of a plan from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for name in _CODE:
            copy = shutil.copytree if (_ROOT / name).is_dir() else shutil.copy
            copy(_ROOT / name, Path(folder, name))
        Path(folder, "params.yaml").write_text(swept(runs), encoding="utf-8")
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [*_PLAN, "--", "all"],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": folder},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            _, status, used = os.wait4(process.pid, 0)
            output.seek(0)
            said = output.read().decode()
    if status:
        raise SystemExit(said)
    jobs = next(int(line.split()[1]) for line in said.splitlines() if line.startswith("total"))
    seconds = round(used.ru_utime + used.ru_stime, 1)
    return {"runs": runs, "jobs": jobs, "cpu_seconds": seconds, "peak_megabytes": round(used.ru_maxrss / 1024)}


@styled
def sweeps_figure(table: pd.DataFrame) -> Figure:
    """Seconds and memory over runs, and the limits that were set (dashed)."""
    figure, ((seconds, memory),) = panels(1, 2, 7, 2.8)
    for axis, column, most in ((seconds, "cpu_seconds", 300), (memory, "peak_megabytes", 2048)):
        axis.plot(table["runs"], table[column], marker="o")
        axis.axhline(most, linestyle="--", color="grey")
        axis.set(xlabel="runs", xlim=(0, None), ylim=(0, most * 1.1))
    seconds.set_ylabel("CPU time of a plan in s")
    memory.set_ylabel("peak memory in MB")
    return figure


def main(out: str, *sizes: str) -> None:
    """Measure each size, write, draw."""
    rows = []
    for runs in map(int, sizes or ("50", "200", "1000")):
        rows.append(plan(runs))
        print(rows[-1], flush=True)
        table = pd.DataFrame(rows)
        table.to_csv(Path(out, "sweeps.csv"), index=False)
    save_figure(sweeps_figure(table), Path(out, "sweeps"))


if __name__ == "__main__":
    main(*sys.argv[1:])
