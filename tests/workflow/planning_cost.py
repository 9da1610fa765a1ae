"""`python -m tests.workflow.planning_cost results/reference/planning.csv`: CPU seconds of planning, by number of runs.

Results of many runs are written down with records that fit, as their jobs would have left them: nothing is trained.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from pascal.files import write_rows
from pascal.pipeline.canonical import dump
from pascal.pipeline.records import text_digest
from tests.workflow.hashed import hash_stages
from tests.workflow.workspace import Workspace, make_workspace, tiny_params

SEEDS = [0, 1, 2, 3, 4]
COMMANDS = {
    "snakemake -n all": ("snakemake", "--cores", "1", "--dry-run", "--quiet", "all", "--", "all"),
    "dvc status": ("dvc", "status"),
    "dvc repro": ("dvc", "repro"),
}


def grow(params: dict[str, Any], runs: int) -> dict[str, Any]:
    """Pairs of a uniform run and an adaptive one, each pair with another learning rate."""
    pairs: dict[str, Any] = {}
    for number in range(runs // 2):
        rate = {"train": {"learning_rate": round(0.01 + number * 1e-4, 6)}}
        pairs[f"plain{number}"] = params["runs"]["plain"] | rate
        pairs[f"adaptive{number}"] = params["runs"]["adaptive"] | {"from": f"plain{number}"}
    return params | {"runs": pairs, "defaults": params["defaults"] | {"seeds": SEEDS}}


def records_of(workspace: Workspace) -> list[dict[str, Any]]:
    """What the jobs of two runs with one seed recorded."""
    return [json.loads(path.read_text()) for path in sorted(workspace.path.glob("**/records/*.json"))]


def pretend(workspace: Workspace, records: list[dict[str, Any]]) -> None:
    """Write results and records of every run and seed; a file's text is its path."""
    stamps = json.loads((workspace.path / "build/asked.json").read_text())["stamps"]
    written: set[str] = set()
    for number in range(len(workspace.params()["runs"]) // 2):
        for seed in SEEDS:
            for record in records:
                _write(workspace, record, number, seed, stamps, written)
    of_runs = sorted(path for path in written if path.startswith(("results/plain", "results/adaptive")))
    for path in sorted((workspace.path / "results").glob("*/records/*.json")):
        content = json.loads(path.read_text())
        if content["rule"] in ("tables", "figures"):
            content["inputs"] |= {name: text_digest(name) for name in of_runs}
            path.write_text(dump(content))


def _write(
    workspace: Workspace, record: dict[str, Any], number: int, seed: int, stamps: dict[str, str], written: set[str]
) -> None:
    def placed(path: str) -> str:
        name = path.replace("/plain", f"/plain{number}").replace("/adaptive", f"/adaptive{number}")
        return name.replace("/0/", f"/{seed}/").replace("/0.", f"/{seed}.")

    outputs = {placed(path): text_digest(placed(path)) for path in record["outputs"]}
    inputs = {placed(path): stamps.get(placed(path)) or text_digest(placed(path)) for path in record["inputs"]}
    first = next(iter(outputs))
    if first in written:
        return
    written |= outputs.keys()
    for path in outputs:
        (workspace.path / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.path / path).write_text(path)
    run = next((name for name in Path(first).parts if name.startswith(("plain", "adaptive"))), "")
    home = (
        workspace.path / "results" / run / str(seed) if run and f"/{seed}" in first else (workspace.path / first).parent
    )
    stem = f"{record['rule']}.json" if home.name == str(seed) else f"{record['rule']}-{Path(first).stem}.json"
    (home / "records").mkdir(exist_ok=True)
    (home / "records" / stem).write_text(dump({"rule": record["rule"], "inputs": inputs, "outputs": outputs}))


def cpu_seconds(workspace: Workspace, *command: str) -> tuple[float, str]:
    """User and system time of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = workspace.run(*command).check()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ran.text


def main(out: str, *sizes: str) -> None:
    """Measure each command with 50, 100 and 200 runs of five seeds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        small = hash_stages(make_workspace(Path(folder, "small"), tiny_params()))
        small.snakemake("all").check()
        for runs in map(int, sizes or ("50", "100", "200")):
            many = hash_stages(make_workspace(Path(folder, f"many{runs}"), grow(tiny_params(), runs)))
            many.snakemake("--dry-run", "--quiet", "all", "--", "plan").check()
            pretend(many, records_of(small))
            many.dvc("commit", "--force").check()
            for name, command in COMMANDS.items():
                seconds, said = cpu_seconds(many, *command)
                row = {"runs": runs, "seeds": len(SEEDS), "command": name, "cpu_seconds": round(seconds, 1)}
                rows.append(row | {"said": " ".join(said.split())[-60:]})
                print(rows[-1], flush=True)
                write_rows(out, rows[0], rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
