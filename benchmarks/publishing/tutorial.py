"""`python -m benchmarks.publishing.tutorial` executes examples/tutorial.py and writes docs/tutorial.md with outputs."""

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCE, PAGE = ROOT / "examples" / "tutorial.py", ROOT / "docs" / "tutorial.md"
_TEXT = " [markdown]\n"


def cells() -> list[tuple[str, str]]:
    """("text" | "code", content) in order."""
    parts = SOURCE.read_text().split("# %%")[1:]
    return [("text", _uncommented(part)) if part.startswith(_TEXT) else ("code", part.strip()) for part in parts]


def _uncommented(part: str) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in part.removeprefix(_TEXT).splitlines())


def executed() -> str:
    """The page, each block of code followed by what it printed."""
    names: dict[str, Any] = {"__name__": "tutorial"}
    page = []
    for kind, content in cells():
        if kind == "text":
            page.append(content.strip())
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(content, str(SOURCE), "exec"), names)
        page.append(f"```py\n{content}\n```")
        if printed.getvalue():
            page.append(f"```text\n{printed.getvalue().rstrip()}\n```")
    return "\n\n".join(page) + "\n"


def main() -> None:
    """Write the page; files of the tutorial stay in a temporary folder."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            page = executed()
        finally:
            os.chdir(home)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
