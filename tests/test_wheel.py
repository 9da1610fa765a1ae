"""The library as people install it: the built wheel in a folder of its own, README and tutorial followed from there.

`python -m tests.wheel FOLDER` does the same in an environment of its own, where third-party packages are installed too.
"""

import os
import re
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from benchmarks.publishing.tutorial import PAGE, cells
from tests.documents import ROOT
from tests.wheel import build, follow


def test_the_tutorial_page_shows_the_code_that_is_executed() -> None:
    code = [content for kind, content in cells() if kind == "code"]
    assert re.findall(r"```py\n(.*?)\n```", PAGE.read_text(), re.DOTALL) == code


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    mkdocs = Path(sys.executable).with_name("mkdocs")
    command = [mkdocs, "build", "--strict", "--quiet", "--site-dir", tmp_path]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "plan_levels" in (tmp_path / "api.html").read_text()


@pytest.mark.slow
def test_readme_and_tutorial_from_the_built_wheel(tmp_path: Path) -> None:
    room, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--no-deps", "--target", room, build(tmp_path)], check=True)
    _check_metadata(next(iter(Distribution.discover(name="pascal-snn", path=[str(room)]))))
    environment = {**os.environ, "PYTHONPATH": str(room)}  # third-party packages are this environment's
    follow(Path(sys.executable), room, home, environment)


def _check_metadata(installed: Distribution) -> None:
    """The library alone without Snakemake, DVC and MLflow; these by an extra."""
    needed = installed.requires or []
    plain = " ".join(one for one in needed if "extra ==" not in one)
    assert "torch" in plain
    assert not any(name in plain for name in ("snakemake", "dvc", "mlflow", "pytest", "mkdocs"))
    workflow = " ".join(one for one in needed if "workflow" in one)
    assert all(name in workflow for name in ("snakemake", "dvc", "mlflow"))
