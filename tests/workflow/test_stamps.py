"""Which edit makes which stage old: the computed stamps beside the modules that Python really loads for a script."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pascal.pipeline.closure import Imports
from pascal.pipeline.stamps import LIBRARY, PARAMETERS, code_stamp, code_stamps
from tests.workflow.workspace import ROOT

FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pascal").rglob("*.py"))
TRAINING = ("train", "retrain", "finetune")

# A package that only re-exports gives its names when they are asked for, so that no more is loaded than is used.
LAZY = """
import importlib

def __getattr__(name):
    if name not in {table}:
        raise AttributeError(name)
    module, member = {table}[name]
    return getattr(importlib.import_module(module), member)
"""

LOADED = """
import json, os, sys
import matplotlib, mlflow, numba, numpy, pandas, torch, torchvision, tqdm  # once for all scripts
for script in sys.argv[1:]:
    reading, writing = os.pipe()
    if os.fork() == 0:
        exec(open(script).read().partition("with stage")[0])
        ours = [module for name, module in list(sys.modules.items()) if name.startswith("pascal")]
        os.write(writing, json.dumps([os.path.relpath(module.__file__) for module in ours]).encode())
        os._exit(0)
    os.close(writing)
    print(json.dumps([script, json.loads(open(reading).read())]))
    os.wait()
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and the scripts, free to edit."""
    return _copy(tmp_path_factory.mktemp("stamps"))


def _copy(folder: Path) -> Path:
    for part in ("pascal", "workflow/scripts"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What Python loads for each script when packages are lazy and imports in functions stand at the end."""
    folder = _copy(tmp_path_factory.mktemp("loaded"))
    (folder / PARAMETERS / "files.py").write_text("read_part = None\n")  # its values are inputs; its code is none
    for file in folder.joinpath("pascal").rglob("*.py"):
        tree = ast.parse(file.read_text())
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
        if file.name == "__init__.py" and file.parent.name != "cli" and not file.with_suffix(".pyi").exists():
            assert len(imports) + 2 >= len(tree.body), f"{file} does more than to import names"
            table = {alias.name: (node.module, alias.name) for node in imports for alias in node.names}
            file.write_text(LAZY.format(table=table))
        elif late := [*(ast.unparse(node) for node in ast.walk(tree) if _inner(node, tree)), *_by_name(tree, folder)]:
            file.write_text(file.read_text() + "\n" + "\n".join(late) + "\n")
    scripts = sorted(path.relative_to(folder).as_posix() for path in folder.joinpath("workflow/scripts").glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *scripts], cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    found = dict(map(json.loads, done.stdout.decode().splitlines()))
    modules = {script: {file for file in files if not file.endswith("__init__.py")} for script, files in found.items()}
    models = {file for files in modules.values() for file in files if file.startswith(PARAMETERS)}
    return {Path(script).stem: files - models for script, files in modules.items()}


def _by_name(tree: ast.Module, folder: Path) -> list[str]:
    """Imports of every module of a package that `import_module(f"package.{name}")` may load."""
    calls = [
        node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and "import_module" in ast.dump(node.func)
    ]
    packages = [str(ast.literal_eval(text.values[0])).rstrip(".") for text in calls if isinstance(text, ast.JoinedStr)]
    files = [path for package in packages for path in folder.joinpath(*package.split(".")).glob("[!_]*.py")]
    return [f"import {'.'.join(path.relative_to(folder).with_suffix('').parts)}" for path in files]


def _inner(node: ast.AST, tree: ast.Module) -> bool:
    """An import of the package inside a function, but for those of networks of others."""
    ours = isinstance(node, ast.ImportFrom) and str(node.module).startswith("pascal.") and node not in tree.body
    return ours and f"{str(node.module).replace('.', '/')}.py" not in LIBRARY and not _for_types(node, tree)  # type: ignore[attr-defined]


def _for_types(node: ast.AST, tree: ast.Module) -> bool:
    checks = [part for part in tree.body if isinstance(part, ast.If) and "TYPE_CHECKING" in ast.dump(part.test)]
    return any(node in check.body for check in checks)


@pytest.mark.slow
def test_stamps_hold_what_python_loads(loaded: dict[str, set[str]]) -> None:
    stamps = code_stamps(ROOT, Path("/nonexistent"))
    for stage, files in loaded.items():
        assert {line.split()[1] for line in stamps[stage].splitlines()} == files | {f"workflow/scripts/{stage}.py"}


@pytest.mark.slow
def test_an_edit_of_each_file_makes_those_stages_old_that_load_it(copy: Path, loaded: dict[str, set[str]]) -> None:
    memory = copy / "memory.json"
    before = code_stamps(copy, memory)
    for name in FILES:
        file = copy / name
        text = file.read_text()
        file.write_text(f"{text}\nEDITED = True\n")
        after = code_stamps(copy, memory)
        file.write_text(text)
        old = {stage for stage in loaded if after[stage] != before[stage]}
        folder = name.removesuffix("__init__.py")
        runs = {stage for stage, files in loaded.items() if any(file.startswith(folder) for file in files)}
        assert old == runs, name
    assert code_stamps(copy, memory) == before


def test_training_depends_on_no_conversion_cost_or_report() -> None:
    stamps = code_stamps(ROOT, Path("/nonexistent"))
    for stage in (*TRAINING, "prepare", "histogram"):
        for part in ("graph", "energy", "hardware", "report"):
            assert f"  pascal/{part}/" not in stamps[stage], (stage, part)
    assert "pascal/hardware/bitplanes.py" in stamps["workload"]
    assert "pascal/adapt/levels.py" in stamps["finetune"]


def test_networks_of_libraries_add_the_graph() -> None:
    stamps = code_stamps(ROOT, Path("/nonexistent"))
    assert "pascal/graph/quantize.py" not in stamps["train"]
    assert "pascal/graph/quantize.py" in stamps["train-library"]


def test_comments_count_for_nothing(copy: Path) -> None:
    before = code_stamps(copy, copy / "memory.json")
    for name in ("pascal/training/loop.py", "workflow/scripts/prepare.py"):
        (copy / name).write_text(f"# a remark\n\n{(copy / name).read_text()}  # another\n")
    assert code_stamps(copy, copy / "memory.json") == before


def _files(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


TABLE = "from .a import A as first\nfrom .b import B\n"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from part import B\nelse:\n    import one"


def test_names_lead_through_packages_to_where_they_are_defined(tmp_path: Path) -> None:
    _files(tmp_path, one="ONE = 1\n", part__a="from ..one import ONE\nA = ONE\n", part__b="B = 2\n", part__c="C = 3\n")
    (tmp_path / "part/__init__.py").write_text(f"{TABLE}__all__ = ['first', 'B']\n")
    _files(tmp_path, more__d="D = 4\n")
    (tmp_path / "more/__init__.py").write_text("from . import d\n")
    asked = {
        "from more import d": {"more/d.py"},
        "import more": {"more/d.py"},
        "from part import first": {"part/a.py", "one.py"},
        "from part import B": {"part/b.py"},
        "from part import c": {"part/c.py"},
        "from part.c import C": {"part/c.py"},
        "import part": {"part/a.py", "part/b.py", "one.py"},
        "from part import *": {"part/a.py", "part/b.py", "one.py"},
        "def f():\n    from part import B": {"part/b.py"},
        "import importlib\nimportlib.import_module('part.c')": {"part/c.py"},
        TYPES: {"one.py"},
        "import torch\nfrom nowhere import nothing": set(),
    }
    for text, files in asked.items():
        (tmp_path / "script.py").write_text(text)
        assert Imports(tmp_path).closure("script.py").keys() == files | {"script.py"}, text
    (tmp_path / "part/__init__.py").write_text(f"{TABLE}print('code of its own')\n")
    (tmp_path / "script.py").write_text("from part.c import C")
    files = {"part/__init__.py", "part/a.py", "part/b.py", "part/c.py", "one.py", "script.py"}
    assert Imports(tmp_path).closure("script.py").keys() == files


def test_a_file_that_does_not_parse_changes_the_stamp(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("x = (")
    first = code_stamp(tmp_path, script)
    script.write_text("x = ((")
    assert code_stamp(tmp_path, script) != first


def test_a_damaged_memory_is_only_slower(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("x = 1\n")
    whole = Imports(tmp_path).closure("script.py")
    for text in ("", "[]", "{", '{"a": 1}', "null"):
        (tmp_path / "memory.json").write_text(text)
        assert Imports(tmp_path, tmp_path / "memory.json").closure("script.py") == whole
