"""A copy of the pipeline with tiny parameters in a git repository of its own, and what commands do to it."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent
_TARGETS = {"all", "report"}  # rules that do nothing themselves
_IGNORED = ".snakemake/\n/build/\n/workflow/weights/\nwork/\n/results/\n/logs/\n__pycache__/\n"


@dataclass(frozen=True)
class Ran:
    """What a command printed, how it ended, and the rules that Snakemake executed on its behalf."""

    command: str
    code: int
    text: str

    @property
    def jobs(self) -> Counter[str]:
        """How often each rule was executed."""
        finished = re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", self.text)
        rules = [re.sub(r"^run_figures\w*", "run_figures", rule) for rule in finished]  # a rule for some kinds of run
        return Counter(rule for rule in rules if rule not in _TARGETS)

    def check(self) -> "Ran":
        """The same, if the command succeeded."""
        assert self.code == 0, f"{self.command}\n{self.text[-6000:]}"
        return self


@dataclass
class Workspace:
    """A folder with the pipeline."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)
    first_repro: Ran | None = None

    def run(self, *command: str, **environment: str) -> Ran:
        """Run a command of the virtual environment in this folder."""
        done = subprocess.run(
            [str(_BIN / command[0]) if (_BIN / command[0]).exists() else command[0], *command[1:]],
            cwd=self.path,
            env=self.env(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Ran(" ".join(command), done.returncode, done.stdout)

    def env(self, **more: str) -> dict[str, str]:
        """No network, no user settings, one thread per process."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW", "PASCAL"))}
        own = {"PATH": f"{_BIN}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", "DVC_NO_ANALYTICS": "1"}
        own["PYTHONPATH"] = str(self.path)  # the code of this workspace, not the installed one
        return kept | own | self.environment | more

    def snakemake(self, *arguments: str, cores: int = 2, **environment: str) -> Ran:
        """Run Snakemake."""
        return self.run("snakemake", "--cores", str(cores), *arguments, **environment)

    def dvc(self, *arguments: str) -> Ran:
        """Run DVC."""
        return self.run("dvc", *arguments)

    def commit(self, message: str) -> None:
        """Record what stands in git."""
        for command in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", message]):
            self.run("git", *command).check()

    def params(self) -> dict[str, Any]:
        """The parameters as they stand."""
        return yaml.safe_load((self.path / "params.yaml").read_text())

    def write_params(self, params: dict[str, Any]) -> None:
        """Other parameters."""
        (self.path / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))

    def set(self, *keys: Any) -> None:
        """Edit one parameter: the keys that lead to it, then its value."""
        params = place = self.params()
        *path, last, value = keys
        for key in path:
            place = place[key]
        place[last] = value
        self.write_params(params)

    def results(self) -> dict[str, str]:
        """Digest of every result by path; MLflow's store, records and the seconds of epochs, which they know, aside."""
        found = (self.path / "results").rglob("*")
        files = [path for path in found if path.is_file() and path.parent.name != "records"]
        kept = [path for path in files if not path.relative_to(self.path / "results").parts[0].startswith("ml")]
        return {str(path.relative_to(self.path)): hashlib.sha256(_without_clock(path)).hexdigest() for path in kept}

    def copy(self, path: Path) -> "Workspace":
        """The same files with the same times elsewhere."""
        shutil.copytree(self.path, path, symlinks=True)
        return Workspace(path, dict(self.environment), self.first_repro)


def _without_clock(path: Path) -> bytes:
    """A result's bytes; of `train.csv` and `compare.csv` all but what the machine took for it, their last columns."""
    content = path.read_bytes()
    columns = content.partition(b"\n")[0].split(b",")
    if path.name not in ("train.csv", "compare.csv") or b"seconds" not in columns:
        return content
    of_the_machine = len(columns) - columns.index(b"seconds")
    return b"\n".join(row.rsplit(b",", of_the_machine)[0] for row in content.split(b"\n"))


def make_workspace(path: Path, params: dict[str, Any]) -> Workspace:
    """The pipeline of this repository with other parameters."""
    path.mkdir(parents=True)
    without = shutil.ignore_patterns("__pycache__", "*.pyc")
    for folder in ("workflow", "pascal"):
        shutil.copytree(ROOT / folder, path / folder, ignore=without)
    (path / "profiles").symlink_to("workflow/profiles")
    shutil.copytree(ROOT / ".dvc/plots", path / ".dvc/plots")
    for file in ("Snakefile", "dvc.yaml", ".dvcignore", ".dvc/config", ".dvc/.gitignore"):
        shutil.copy(ROOT / file, path / file)
    (path / ".gitignore").write_text(_IGNORED)
    (path / "README.md").write_text("A workspace.\n")
    workspace = Workspace(path)
    workspace.write_params(params)
    for command in (["init", "-q"], ["config", "user.email", "test@example.org"], ["config", "user.name", "test"]):
        workspace.run("git", *command).check()
    workspace.commit("start")
    return workspace


def tiny_params() -> dict[str, Any]:
    """Two runs of a very narrow VGG-16 on 128 digits: small numbers everywhere, every stage real."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["defaults"] |= {
        "seeds": [0],
        "verify": {"images": 4, "batch_size": 4, "dtype": "float64"},
        "evaluate": {"batch_size": 60, "timesteps": [1, 2, 4], "plain_images": 16},
        "workload": {"images": 2, "batch_size": 2, "timesteps": 4},
        "hardware": {"images": 1, "accelerators": {"pascal40": {"base": "pascal40"}}},
        "compare": {
            "images": 4,
            "batch_size": 4,
            "methods": ["pasc", "plain", "radix"],
            "timesteps": [1, 2],
            "calibration_images": 4,
        },
    }
    params["defaults"]["train"] |= {"epochs": 3, "warmup_epochs": 0, "checkpoint_steps": 2, "channels_last": False}
    params["defaults"]["adapt"] |= {"images": 64, "k": 1.0}  # at 0.5 the metric of so short a training is 0 everywhere
    params["datasets"] = {"digits": {"validation": 1309}}
    params["runs"] = {
        "plain": {"dataset": "digits", "network": "vgg16", "width": 0.0625, "levels": 4},
        "adaptive": {"from": "plain", "adapt": {"clusters": 3, "values": [4, 2, 1]}},
    }
    return params
