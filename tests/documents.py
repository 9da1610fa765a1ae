"""Fenced blocks of README and docs, and the commands in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXECUTED = ("snakemake ", "dvc ", "git ", "pascal ", "workflow/adopt")  # commands that run on a computed pipeline


def blocks(language: str) -> list[tuple[str, str]]:
    """The blocks of a language with a name for each, page by page."""
    found = [(page, re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)) for page in PAGES]
    return [(f"{page.name}-{number}", code) for page, codes in found for number, code in enumerate(codes)]


def commands(page: str = "") -> list[str]:
    """The commands of all `sh` blocks, or of one page's, without their comments."""
    lines = [line for name, code in blocks("sh") if name.startswith(page) for line in code.splitlines()]
    return [command for line in lines if (command := line.partition(" #")[0].strip()) and not command.startswith("#")]
