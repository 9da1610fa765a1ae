"""Who may import whom: the picture of the package, so that it cannot rot."""

import ast
from pathlib import Path

import pytest

import pascal

PACKAGE = Path(pascal.__file__).parent

FREE = {"checks", "errors", "files", "inference", "text"}  # to all
ALLOWED = {  # part: the siblings it may import, besides these
    "checks": set(),
    "errors": set(),
    "files": set(),
    "inference": set(),
    "text": set(),
    "workload": set(),
    "neurons": set(),
    "data": set(),
    "training": set(),
    "report": set(),
    "networks": {"neurons", "graph"},  # networks of other libraries are quantised
    "adapt": {"neurons"},
    "graph": {"neurons", "workload"},
    "calibration": {"neurons", "graph", "training"},  # fine-tuning, where labels are there
    "energy": {"workload"},
    "accelerators": set(),
    "hardware": {"accelerators", "workload"},
    "audit": {"accelerators", "energy", "graph", "networks", "workload"},
    "costing": {"energy", "graph", "hardware", "recording", "workload"},
    "plot": {"adapt", "energy", "graph", "report", "workload"},
    "recording": {"graph", "hardware", "inference", "workload"},
    "planning": {"adapt", "energy", "graph", "hardware", "neurons", "workload"},
    "baselines": {"energy", "graph", "neurons", "workload"},
    "pipeline": {"accelerators", "adapt", "audit", "calibration", "data", "energy", "graph", "hardware", "networks"}
    | {"neurons", "planning", "report", "training", "workload"},
}
WITHOUT_TORCH = ("accelerators", "energy", "hardware", "report", "workload", "errors", "checks")


def _imports(path: Path) -> set[str]:
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    froms = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return froms | {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}


def _files() -> list[tuple[str, Path]]:
    parts = [(path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path) for path in PACKAGE.rglob("*.py")]
    return [(part, path) for part, path in parts if part not in ("__init__", "cli", "__main__")]


@pytest.mark.parametrize(("part", "path"), _files(), ids=lambda value: str(value).removeprefix(f"{PACKAGE}/"))
def test_imports_follow_the_table(part: str, path: Path) -> None:
    imported = _imports(path)
    assert "pascal" not in imported, "import the sibling, not the whole package"
    siblings = {name.split(".")[1] for name in imported if name.startswith("pascal.")} - {part} - FREE
    assert siblings <= ALLOWED[part]
    if part in WITHOUT_TORCH:
        assert not {name for name in imported if name.split(".")[0] in ("torch", "torchvision", "timm")}


def test_only_the_graph_uses_fx() -> None:
    using = {part for part, path in _files() if "torch.fx" in path.read_text() or "import fx" in path.read_text()}
    assert using == {"graph"}


def test_nothing_in_the_package_knows_mlflow_or_logs() -> None:
    for part, path in _files():
        known = {"mlflow"} if part == "pipeline" else set()
        assert not {"mlflow", "logging", "pickle"} & {name.split(".")[0] for name in _imports(path)} - known, path


def test_nothing_but_tests_imports_tests_and_no_test_an_example() -> None:
    root = PACKAGE.parent
    for folder, foreign in (("pascal", "tests"), ("benchmarks", "tests"), ("examples", "tests"), ("tests", "examples")):
        for path in (root / folder).rglob("*.py"):
            assert foreign not in {name.split(".")[0] for name in _imports(path)}, path
