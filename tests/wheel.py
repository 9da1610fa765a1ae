"""`python -m tests.wheel FOLDER`: the built wheel in an environment that holds nothing else, README and tutorial there.

First `pascal-snn` alone, then with `[workflow]`; versions are those of requirements.txt. `make test-wheel` calls it.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.publishing.tutorial import cells
from tests.documents import ROOT, blocks

_PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
_PAGES = ("README", "saving", "energy", "gpu")
_CALLS = ("['--version']", "['inspect', 'resnet20', '--json']", "['audit', '--json']")


def build(folder: Path) -> Path:
    """The wheel of what is committed."""
    source = folder / "source"
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    subprocess.run(
        [sys.executable, *_PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source], check=True
    )
    (wheel,) = folder.glob("pascal_snn-*.whl")
    return wheel


def follow(python: Path, room: Path, home: Path, environment: Mapping[str, str]) -> None:
    """Every snippet of the pages, the tutorial and some commands, by this Python, with the package from `room`."""
    guard = f"import pascal; assert pascal.__file__.startswith({str(room)!r}), pascal.__file__\n"
    snippets = [code for name, code in blocks("python") if name.startswith(_PAGES)]
    snippets.append("\n".join(content for kind, content in cells() if kind == "code"))
    snippets += [f"import sys; from pascal.cli import main; sys.exit(main({call}))" for call in _CALLS]
    for code in snippets:
        subprocess.run([python, "-c", guard + code], cwd=home, env=environment, check=True)


def main(folder: Path) -> None:
    """From nothing to a certificate."""
    home, room, python = folder / "home", folder / "venv", folder / "venv/bin/python"
    home.mkdir(parents=True)
    wheel = build(folder)
    subprocess.run([sys.executable, "-m", "venv", room], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def install(what: str) -> None:
        subprocess.run([python, *_PIP, "install", what, "-c", ROOT / "requirements.txt"], env=environment, check=True)

    install(str(wheel))
    missing = [name for name in ("snakemake", "dvc", "mlflow") if not (python.with_name(name)).exists()]
    assert len(missing) == 3, "pascal-snn alone is the library"
    follow(python, room, home, environment)
    install(f"{wheel}[workflow]")
    for name in missing:
        subprocess.run([python.with_name(name), "--version"], cwd=home, env=environment, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
