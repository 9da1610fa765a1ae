"""`python -m tests.workflow.kills results/reference/kills.csv 100`: SIGKILL at random moments of every rule.

One workspace is killed again and again, by both tools. What a rule had made is deleted before it is waited for, so that
it runs. At the end both tools complete, and every byte must be that of a run without any kill. Stages are those of
`hashed.py`, which write slowly and in parts, or with a third argument `real`.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pascal.files import write_rows
from pascal.pipeline.manifest import STAGES
from tests.workflow.hashed import hash_stages
from tests.workflow.situations import FILES
from tests.workflow.workspace import Workspace, make_workspace, tiny_params

COMMANDS = {"snakemake": ("snakemake", "--cores", "2", "all"), "dvc": ("dvc", "repro")}
SCOPES = ("everything", "snakemake alone")
RULES = (*FILES, "track")
_MADE = {
    "prepare": "results/data/*.json",
    "retrain": "work/retrain/*/*",
    "tables": "results/tables/*.csv",
    "figures": "results/figures/*.png",
    "run_figures": "results/figures/*/*.png",
    "track": "work/mlflow/*",
}


@dataclass(frozen=True)
class Kill:
    """One kill: which rule was waited for, which were at work, and how long after."""

    number: int
    tool: str
    scope: str
    rule: str
    running: str
    seconds: float


def forget(workspace: Workspace, rule: str) -> None:
    """Delete what a rule made, so that it runs again."""
    stage = STAGES.get(rule)
    for pattern in [f"results/*/0/{file.path}" for file in stage.files.values()] if stage else [_MADE[rule]]:
        for path in workspace.path.glob(pattern):
            path.unlink()


def kill(workspace: Workspace, number: int, tool: str, scope: str, rule: str, seconds: float) -> Kill | None:
    """Start a tool, wait for a rule and a moment more, and kill; None if the tool had ended by then."""
    log = workspace.path / "killed.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            COMMANDS[tool],
            cwd=workspace.path,
            env=workspace.env(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    while not re.search(rf"rule {rule}:", log.read_text(errors="replace")) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(seconds)
    text = log.read_text(errors="replace")
    ended = process.poll() is not None
    _end(process.pid, scope)
    process.wait()
    _wait_for_orphans(process.pid)
    begun = re.findall(r"rule (\w+):", text)
    for done in re.findall(r"\(Rule: (\w+)\)", text):
        begun.remove(done) if done in begun else None
    return None if ended else Kill(number, tool, scope, rule, " ".join(sorted(begun)), round(seconds, 2))


def _end(group: int, scope: str) -> None:
    """Kill a whole session, or Snakemake in it and nothing else."""
    if scope == "everything":
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        return
    for number, command in _processes(group):
        if re.search(r"bin/snakemake\0", command):
            os.kill(number, signal.SIGKILL)


def _wait_for_orphans(group: int) -> None:
    """Stages end with their Snakemake: none may be there when the next command starts."""
    deadline = time.time() + 120
    while list(_processes(group)):
        assert time.time() < deadline, f"orphans: {list(_processes(group))}"
        time.sleep(0.1)


def _processes(group: int) -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, own = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(own) == group and state != "Z":
                yield int(folder.name), (folder / "cmdline").read_text()
        except (OSError, ValueError):
            continue


def killed_again_and_again(
    workspace: Workspace, kills: int, seed: int = 0, rules: Sequence[str] = RULES
) -> Iterator[Kill]:
    """Rules in turn, all else by chance."""
    chance, number = random.Random(seed), 0
    while number < kills:
        rule, tool, scope = rules[number % len(rules)], chance.choice(list(COMMANDS)), chance.choice(SCOPES)
        forget(workspace, rule)
        if done := kill(workspace, number + 1, tool, scope, rule, chance.uniform(0, 4)):
            number += 1
            yield done


def main(out: str, kills: str = "100", stages: str = "hashed") -> int:
    """Kill, complete, compare; 0 if all bytes are equal."""
    with tempfile.TemporaryDirectory() as folder:
        whole = make_workspace(Path(folder, "whole"), tiny_params())
        if stages == "hashed":
            hash_stages(whole).environment["SECONDS_OF_A_FILE"] = "0.5"
        workspace, done = whole.copy(Path(folder, "killed")), list[Kill]()
        for each in killed_again_and_again(workspace, int(kills)):
            done.append(each)
            print(each, flush=True)
            write_rows(out, Kill.__annotations__, map(asdict, done))
        workspace.dvc("repro").check()
        again = workspace.snakemake("all").check().jobs
        whole.snakemake("all").check()
        expected, found = whole.results(), workspace.results()
        other = [path for path in expected if found.get(path) != expected[path]]
        print(f"{len(done)} kills; of {len(expected)} files {len(other)} with other bytes {other[:5]}; jobs {again}")
    return int(bool(other or again))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
