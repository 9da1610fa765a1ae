"""What people do to a checkout between two commands: the rows of the matrix, each with the stages that it makes old."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pascal.pipeline.manifest import STAGES
from tests.workflow.hashed import edit_script
from tests.workflow.workspace import Workspace

HOME = "results/plain/0"
ALL = frozenset({"prepare"})  # with what follows: everything
REPORT = frozenset({"tables", "figures", "run_figures"})
Act = Callable[[Workspace], "Workspace | None"]


@dataclass(frozen=True)
class Situation:
    """An act, and the stages that may run again because of it, together with all that follow from them."""

    name: str
    act: Act
    old: frozenset[str] = frozenset()


def _make(workspace: Workspace) -> None:
    """Bring all up to date and commit it, as one does on a branch."""
    workspace.dvc("repro").check()
    workspace.commit("results")


def _set(*keys: Any) -> Act:
    return lambda workspace: workspace.set(*keys)


def _params(change: Callable[[dict[str, Any]], Any]) -> Act:
    def act(workspace: Workspace) -> None:
        params = workspace.params()
        change(params)
        workspace.write_params(params)

    return act


def _then_back(act: Act) -> Act:
    """Do it, make everything, and take it back as by `git checkout` of the files."""

    def there_and_back(workspace: Workspace) -> None:
        act(workspace)
        workspace.snakemake("all").check()
        workspace.run("git", "checkout", "-q", "--", ".").check()

    return there_and_back


COSTS = _set("defaults", "energy", "fp32", "add_pj", 0.5)
HAND = {"from": "plain", "adapt": {"levels": [4] * 15}}
BY_HAND = _set("runs", "adaptive", HAND)


def _git(workspace: Workspace, *command: str) -> None:
    workspace.run("git", *command).check()


def _on_a_branch(workspace: Workspace, act: Act = COSTS) -> None:
    _git(workspace, "checkout", "-q", "-b", "other")
    act(workspace)
    _make(workspace)


def _branches(*steps: str) -> Act:
    """A branch with other costs, made and committed; then to and fro, with DVC or without."""

    def act(workspace: Workspace) -> None:
        _on_a_branch(workspace)
        for step in steps:
            if step == "dvc":
                workspace.dvc("checkout").check()
            else:
                _git(workspace, "checkout", "-q", {"back": "-", "there": "-"}[step])

    return act


def _stash(pop: bool) -> Act:
    def act(workspace: Workspace) -> None:
        COSTS(workspace)
        workspace.snakemake("all").check()
        _git(workspace, "stash", "-q")
        if pop:
            workspace.snakemake("all").check()
            _git(workspace, "stash", "pop", "-q")

    return act


def _merged(workspace: Workspace) -> None:
    _on_a_branch(workspace)
    _git(workspace, "checkout", "-q", "-")
    _git(workspace, "merge", "-q", "other")


def _cut(file: str, share: float) -> Act:
    def act(workspace: Workspace) -> None:
        content = (workspace.path / file).read_bytes()
        (workspace.path / file).write_bytes(content[: int(len(content) * share)])

    return act


def _delete(*files: str) -> Act:
    def act(workspace: Workspace) -> None:
        for file in files:
            for path in sorted(workspace.path.glob(file)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    return act


def _rewrite(file: str, old: str = "made_from", new: str = "made from", keep_time: bool = False) -> Act:
    """Edit by hand; bytes of the same number, and if wanted of the same time."""

    def act(workspace: Workspace) -> None:
        path = workspace.path / file
        times, text = os.stat(path), path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        if keep_time:
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    return act


def _swap(one: str, two: str) -> Act:
    def act(workspace: Workspace) -> None:
        first, second, aside = (workspace.path / name for name in (one, two, "aside"))
        for source, target in ((first, aside), (second, first), (aside, second)):
            os.replace(source, target)

    return act


def _copy(one: str, two: str) -> Act:
    def act(workspace: Workspace) -> None:
        source, target = workspace.path / one, workspace.path / two
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target, dirs_exist_ok=True) if source.is_dir() else shutil.copy(source, target)

    return act


def _write(file: str, text: str) -> Act:
    def act(workspace: Workspace) -> None:
        (workspace.path / file).parent.mkdir(parents=True, exist_ok=True)
        (workspace.path / file).write_text(text)

    return act


def _append(file: str, text: str) -> Act:
    def act(workspace: Workspace) -> None:
        with open(workspace.path / file, "a") as opened:
            opened.write(text)

    return act


def _times(*patterns: str, seconds: int | None = None) -> Act:
    """Touch files, or give them times of long ago in the wrong order."""

    def act(workspace: Workspace) -> None:
        files = sorted(path for pattern in patterns for path in workspace.path.glob(pattern) if path.is_file())
        for age, path in enumerate(reversed(files)):
            os.utime(path, None if seconds is None else (seconds + age, seconds + age))

    return act


def _moved(workspace: Workspace) -> Workspace:
    elsewhere = workspace.path.with_name("moved")
    os.rename(workspace.path, elsewhere)
    return Workspace(elsewhere)


def _copied(workspace: Workspace) -> Workspace:
    """By `cp -r`, so that all times are new."""
    elsewhere = workspace.path.with_name("copied")
    shutil.copytree(workspace.path, elsewhere, symlinks=True, copy_function=shutil.copyfile)
    for script in ("workflow/adopt",):
        (elsewhere / script).chmod(0o755)
    return Workspace(elsewhere)


def _cloned(workspace: Workspace) -> Workspace:
    """A clone that has fetched results."""
    elsewhere = Workspace(workspace.path.with_name("clone"))
    workspace.dvc("remote", "add", "-d", "store", str(workspace.path.with_name("store"))).check()
    workspace.commit("store")
    workspace.dvc("push").check()
    workspace.run("git", "clone", "-q", str(workspace.path), str(elsewhere.path)).check()
    elsewhere.dvc("pull").check()
    return elsewhere


def _vouch(workspace: Workspace) -> None:
    """A record that speaks for edited bytes, but of other parameters."""
    record = workspace.path / HOME / "records/energy.json"
    content = json.loads(record.read_text())
    content["inputs"]["build/params/plain/energy.json"] = "0" * 64
    record.write_text(json.dumps(content))


def _linked(workspace: Workspace) -> None:
    """A result that is a link to its neighbour's."""
    path = workspace.path / HOME / "energy.json"
    path.unlink()
    path.symlink_to("../../adaptive/0/energy.json")


def _reorder(params: dict[str, Any]) -> None:
    params["runs"] = dict(reversed(params["runs"].items()))


def _exchange(params: dict[str, Any]) -> None:
    params["runs"]["plain"]["levels"] = 2
    params["runs"]["second"] = {**params["runs"]["plain"], "levels": 4}


def _two_seeds(workspace: Workspace) -> None:
    workspace.set("defaults", "seeds", [0, 1])
    workspace.snakemake("all").check()
    workspace.set("defaults", "seeds", [1, 0])
    _swap("results/plain/0", "results/plain/1")(workspace)


def _a_file(stage: str) -> str:
    """A file of a stage, in the run that has it; nothing if neither has."""
    kinds, file = STAGES[stage].kinds, next(iter(STAGES[stage].files.values())).path
    return f"{HOME}/{file}" if "uniform" in kinds else f"results/adaptive/0/{file}" if "derived" in kinds else ""


FILES = {
    **{stage: file for stage in STAGES if (file := _a_file(stage))},
    "prepare": "results/data/digits.json",
    "retrain": "work/retrain/adaptive/0.safetensors",
    "tables": "results/tables/accuracy.csv",
    "figures": "results/figures/spikes.png",
    "run_figures": "results/figures/plain/training.png",
}
OF_STAGES = [
    situation
    for stage, file in FILES.items()
    for situation in (
        Situation(f"cut: {stage}", _cut(file, 0.5), frozenset({stage})),
        Situation(f"deleted: {stage}", _delete(file), frozenset({stage})),
    )
]

SITUATIONS = [
    Situation("nothing", lambda workspace: None),
    # parameters
    Situation("other costs", COSTS, frozenset({"energy"}) | REPORT),
    Situation("costs reverted", _then_back(COSTS), frozenset({"energy"}) | REPORT),
    Situation("training reverted", _then_back(_set("defaults", "train", "epochs", 4)), frozenset({"train"}) | REPORT),
    Situation("other data", _set("datasets", "digits", "validation", 1308), ALL | REPORT),
    Situation("a default written out", _set("defaults", "train", "workers", 0)),
    Situation("a remark in params.yaml", _append("params.yaml", "# a remark\n")),
    Situation("runs in another order", _params(_reorder), frozenset({"tables", "figures"})),
    Situation("reordered and back", _then_back(_params(_reorder)), frozenset({"tables", "figures"})),
    Situation("a run added", _set("runs", "hand", HAND), ALL | {"given"} | REPORT),
    Situation("a run removed", _params(lambda params: params["runs"].pop("adaptive")), REPORT),
    Situation("a run removed and back", _then_back(_params(lambda p: p["runs"].pop("adaptive"))), REPORT),
    Situation("levels by hand", BY_HAND, frozenset({"given", "retrain", "finetune"}) | REPORT),
    Situation("levels by hand and back", _then_back(BY_HAND), frozenset({"assign", "retrain"}) | REPORT),
    Situation("two runs exchange names", _params(_exchange), ALL | {"given"} | REPORT),
    Situation("a seed added", _set("defaults", "seeds", [0, 1]), ALL | {"given"} | REPORT),
    Situation("seeds reordered, folders exchanged", _two_seeds, ALL | {"given"} | REPORT),
    # branches
    Situation("branch", _branches(), frozenset()),
    Situation("branch and back", _branches("back"), frozenset({"energy"}) | REPORT),
    Situation("branch and back with its results", _branches("back", "dvc"), frozenset({"track"})),
    Situation("branch with the results of main", _branches("back", "dvc", "there"), frozenset({"energy"}) | REPORT),
    Situation("branch, results to and fro", _branches("back", "dvc", "there", "dvc"), frozenset({"track"})),
    Situation("branch merged", _merged, frozenset()),
    Situation("stash", _stash(pop=False), frozenset({"energy"}) | REPORT),
    Situation("stash popped", _stash(pop=True), frozenset({"energy"}) | REPORT),
    # code
    Situation("a remark in a script", _append("workflow/scripts/prepare.py", "# a remark\n")),
    Situation("a remark in the package", _append("pascal/training/loop.py", "# a remark\n")),
    Situation("code of energy", _append("pascal/energy/model.py", "EDITED = 1\n"), frozenset({"energy"}) | REPORT),
    Situation("code of training", lambda workspace: edit_script(workspace, "train"), frozenset({"train"})),
    Situation("code reverted", _then_back(lambda w: edit_script(w, "workload")), frozenset({"workload"})),
    Situation("code of tracking", lambda workspace: edit_script(workspace, "track"), frozenset({"track"})),
    Situation("scripts touched", _times("workflow/scripts/*")),
    Situation("old times everywhere", _times("**/*", seconds=10**9)),
    # by hand
    Situation("edited", _rewrite(f"{HOME}/accuracy.json"), frozenset({"evaluate"})),
    Situation("edited within the same time", _rewrite(f"{HOME}/energy.json", keep_time=True), frozenset({"energy"})),
    Situation("a table edited", _rewrite("results/tables/energy.csv"), frozenset({"tables"})),
    Situation("a figure overwritten", _write("results/figures/spikes.png", "none"), frozenset({"figures"})),
    Situation("the metrics edited", _rewrite("results/metrics/plain.json"), frozenset({"tables"})),
    Situation("emptied", _write(f"{HOME}/levels.json", ""), frozenset({"given"})),
    Situation("exchanged", _swap(f"{HOME}/energy.csv", "results/adaptive/0/energy.csv"), frozenset({"energy"})),
    Situation("another run's files and records", _copy("results/adaptive/0", HOME), ALL | {"given"} | REPORT),
    Situation("a link to another run's file", _linked, frozenset({"energy"})),
    Situation("a file of one's own", _write(f"{HOME}/notes.txt", "mine"), frozenset()),
    Situation("a file of another kind of run", _write(f"{HOME}/metric.csv", "mine"), frozenset()),
    Situation("a record cut", _cut(f"{HOME}/records/verify.json", 0.5), frozenset({"verify"})),
    Situation("a record of other parameters", _vouch, frozenset({"energy"})),
    Situation("records deleted", _delete("results/**/records"), ALL | {"given"} | REPORT),
    Situation("build edited", _write("build/params/plain/energy.json", "{}\n"), frozenset()),
    # deletions
    Situation("a run's results deleted", _delete("results/plain"), ALL | {"given", "train"} | REPORT),
    Situation("tables deleted", _delete("results/tables"), frozenset({"tables"})),
    Situation("all results deleted", _delete("results"), ALL | {"given"} | REPORT),
    Situation("work deleted", _delete("work"), frozenset({"retrain", "track"})),
    Situation("build deleted", _delete("build")),
    Situation("Snakemake's memory deleted", _delete(".snakemake")),
    Situation("DVC's cache deleted", _delete(".dvc/cache", ".dvc/tmp")),
    Situation("dvc.lock deleted", _delete("dvc.lock")),
    # elsewhere
    Situation("moved", _moved, frozenset({"track"})),
    Situation("copied", _copied, frozenset({"track"})),
    Situation("cloned and pulled", _cloned, frozenset({"track"})),
]  # fmt: skip


def place_of(workspace: Workspace, act: Act) -> Workspace:
    """Do it; gives the workspace in which commands are given from then on."""
    return act(workspace) or workspace
