"""Records for people: tables on a terminal and in a notebook."""

from collections.abc import Sequence
from html import escape

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines: the first column to the left, numbers to the right."""
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    padded = [
        [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        for line in lines
    ]
    return ["  ".join(line).rstrip() for line in padded]


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for a notebook."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def si(value: float | None, unit: str = "") -> str:
    """A large number with its prefix: 40.8 M."""
    if value is None:
        return ""
    for size, prefix in _UNITS:
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}".rstrip()


def shortened(rows: Sequence[tuple[str, ...]], most: int = 40) -> list[tuple[str, ...]]:
    """The first and the last rows of a long table, with a line that says how many are left out."""
    if len(rows) <= most:
        return list(rows)
    left_out = (f"({len(rows) - most} more)", *[""] * (len(rows[0]) - 1))
    return [*rows[: most // 2], left_out, *rows[-(most // 2) :]]
