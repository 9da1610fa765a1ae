"""Tables in pages, written from the files behind them: `<!-- name -->` … `<!-- /name -->` holds what is generated."""

import re
from pathlib import Path

import pandas as pd


def section(page: Path, name: str) -> str:
    """What stands between the marks."""
    return _pattern(name).search(page.read_text())[2].strip()  # type: ignore[index]


def replace_section(page: Path, name: str, text: str) -> None:
    """Put `text` between the marks."""
    written, found = _pattern(name).subn(lambda match: f"{match[1]}\n{text.strip()}\n{match[3]}", page.read_text())
    if found != 1:
        raise ValueError(f"{page}: found {found} sections {name!r}, expected one")
    page.write_text(written)


def markdown(table: pd.DataFrame) -> str:
    """A table whose cells are already text."""
    rows = [table.columns.tolist(), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name} -->)(.*?)(<!-- /{name} -->)", re.DOTALL)
