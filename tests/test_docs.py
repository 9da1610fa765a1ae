"""Every Python snippet of README and docs runs, and every make target named there exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _blocks(language: str) -> list[tuple[str, str]]:
    found = [(page, re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)) for page in PAGES]
    return [(f"{page.name}-{number}", code) for page, codes in found for number, code in enumerate(codes)]


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in _blocks("python")])
def test_python_snippets_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "snippet", "exec"), {"__name__": "__main__"})


def test_make_targets_exist() -> None:
    named = set(re.findall(r"`?make ([a-z-]+)", "\n".join(page.read_text() for page in PAGES)))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named <= targets
