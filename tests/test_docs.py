"""Every snippet of README and docs runs; every command there is executed by a test, or is a make target that exists."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.runs import merge
from tests.documents import EXECUTED, PAGES, ROOT, blocks, commands


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in blocks("python")])
def test_python_snippets_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "snippet", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in blocks("yaml")])
def test_parameters_of_snippets_are_good(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snippets are parts of params.yaml, or of its defaults."""
    monkeypatch.chdir(tmp_path)
    shipped, snippet = yaml.safe_load((ROOT / "params.yaml").read_text()), yaml.safe_load(code)
    part = snippet if snippet.keys() <= shipped.keys() else {"defaults": snippet}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(merge(shipped, part)))
    load_params(tmp_path / "params.yaml")


def test_make_targets_exist() -> None:
    named = set(re.findall(r"`make ([a-z-]+)", "\n".join(page.read_text() for page in PAGES)))
    named |= {command.split()[1] for command in commands() if command.startswith("make ")}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("command", sorted(set(commands())))
def test_no_command_goes_unchecked(command: str) -> None:
    """Those of make are checked above, those of Python here, the rest are executed."""
    words = command.split()
    if words[0] == "python":
        assert (ROOT / words[1]).exists() if words[1] != "-m" else importlib.util.find_spec(words[2])
    else:
        assert words[0] == "make" or command.startswith(EXECUTED), "let tests/workflow/test_docs_commands.py execute it"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" in link or (page.parent / link).exists(), link
