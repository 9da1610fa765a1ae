"""`python -m tests.workflow.matrix results/reference/reruns.csv`: every situation, both tools, in either order.

The oracle is a run from nothing with the same parameters and code. After each command every file of it must be there
with the same bytes, or the command must have failed and said why; and no stage may have run that the situation does not
make old.
"""

import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from pascal.files import write_rows
from pascal.pipeline.canonical import digest
from pascal.pipeline.records import file_digest
from tests.workflow.hashed import hash_stages
from tests.workflow.situations import OF_STAGES, SITUATIONS, Situation, place_of
from tests.workflow.workspace import Ran, Workspace, make_workspace, tiny_params

PARTS = ("params.yaml", "pascal", "workflow")
ORDERS = (("snakemake", "dvc"), ("dvc", "snakemake"))
_TOLD = re.compile(r"results|params|workflow|build|missing|expected", re.IGNORECASE)


@dataclass(frozen=True)
class Cell:
    """What one situation came to, with the tools in one order."""

    situation: str
    first: str
    second: str
    stale: int  # files with other bytes than a fresh run's, after either command that succeeded
    needless: str  # stages that ran although the situation does not make them old
    again: str  # stages that the second tool ran although the first had made everything
    failed: str  # what a command said that failed

    @property
    def good(self) -> bool:
        """Nothing stale, nothing too much, and failures say why."""
        return not (self.stale or self.needless or self.again) and (not self.failed or bool(_TOLD.search(self.failed)))


class Oracle:
    """Fresh runs, one for each set of parameters and code that is asked for."""

    def __init__(self, folder: Path) -> None:
        self.untouched = hash_stages(make_workspace(folder / "untouched", tiny_params()))
        self.folder, self.known, self.lock = folder, dict[str, dict[str, str]](), Lock()
        self.completed = self.untouched.copy(folder / "completed")
        self.completed.snakemake("all").check()
        self.completed.dvc("repro").check()
        self.completed.commit("results")
        self.known[_content(self.untouched.path)] = self.completed.results()

    def results(self, like: Workspace) -> dict[str, str]:
        """The results of a fresh run with the parameters and the code of a workspace."""
        key = _content(like.path)
        with self.lock:
            if key not in self.known:
                fresh = self.untouched.copy(self.folder / f"fresh{len(self.known)}")
                for part in PARTS:
                    _replace(like.path / part, fresh.path / part)
                fresh.snakemake("all").check()
                self.known[key] = fresh.results()
                shutil.rmtree(fresh.path)
        return self.known[key]

    def following(self, rules: frozenset[str]) -> set[str]:
        """Some rules and all that follow from them, by the records of a fresh run."""
        makers, users = {}, defaultdict(set)
        records = [json.loads(path.read_text()) for path in self.completed.path.glob("**/records/*.json")]
        for record in records:
            record["rule"] = re.sub(r"^run_figures\w*", "run_figures", record["rule"])
            makers |= dict.fromkeys(record["outputs"], record["rule"])
        for record in records:
            for path in record["inputs"]:
                users[makers.get(path)].add(record["rule"])
        found, queue = set(rules), list(rules)
        while queue:
            queue += (new := users[queue.pop()] - found)
            found |= new
        return found | {"track"} if found else found


def _content(folder: Path) -> str:
    """A digest of parameters and code, whatever their times."""
    files = sorted(path for part in PARTS for path in (folder / part, *(folder / part).rglob("*")) if path.is_file())
    kept = [path for path in files if path.parent.name != "__pycache__"]
    return digest([[str(path.relative_to(folder)), file_digest(path)] for path in kept])


def _replace(source: Path, target: Path) -> None:
    if source.is_file():
        shutil.copy(source, target)
        return
    shutil.rmtree(target)
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))


def cells(oracle: Oracle, situation: Situation, orders: Sequence[tuple[str, str]], folder: Path) -> list[Cell]:
    """A row of the matrix: the situation is made once, and each order of the tools has a copy of it."""
    made = place_of(oracle.completed.copy(folder / "workspace"), situation.act)
    copies = [made, *(made.copy(folder / f"copy{number}") for number in range(1, len(orders)))]
    return [cell(oracle, situation, order, copy) for order, copy in zip(orders, copies, strict=True)]


def cell(oracle: Oracle, situation: Situation, order: tuple[str, str], workspace: Workspace) -> Cell:
    """One tool, then the other."""
    ran, stale = [], 0
    for tool in order:
        ran.append(workspace.snakemake("all") if tool == "snakemake" else workspace.dvc("repro"))
        stale += _stale(ran[-1], workspace, oracle)
    allowed, first, second = oracle.following(situation.old), set(ran[0].jobs), set(ran[1].jobs)
    uploads = {"track"} if order[0] == "dvc" else situation.old & {"track"}  # DVC uploads changed results alone
    again = second - uploads if ran[0].code == 0 else set()
    failed = " | ".join(" ".join(each.text.split())[-300:] for each in ran if each.code)
    return Cell(situation.name, *order, stale, " ".join(sorted(first - allowed)), " ".join(sorted(again)), failed)


def _stale(ran: Ran, workspace: Workspace, oracle: Oracle) -> int:
    if ran.code:
        return 0
    found = workspace.results()
    return sum(found.get(path) != digest for path, digest in oracle.results(workspace).items())


def main(out: str, workers: str = "2") -> int:
    """Fill the whole matrix and write it; 0 if every cell is good."""
    rows: list[tuple[Situation, Sequence[tuple[str, str]]]] = [(situation, ORDERS) for situation in SITUATIONS]
    rows += [(situation, [ORDERS[place % 2]]) for place, situation in enumerate(OF_STAGES)]  # in turn
    filled: list[Cell] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(int(workers)) as pool:
        oracle = Oracle(Path(folder))

        def fill(row: tuple[Situation, Sequence[tuple[str, str]]]) -> None:
            with tempfile.TemporaryDirectory(dir=folder) as place:
                filled.extend(found := cells(oracle, *row, Path(place)))
            for each in found:
                print(f"{each.situation}, {each.first} first: {'good' if each.good else f'BAD {each}'}", flush=True)
            write_rows(out, Cell.__annotations__, map(asdict, sorted(filled, key=lambda each: each.situation)))

        list(pool.map(fill, rows))
    return int(not all(each.good for each in filled))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
