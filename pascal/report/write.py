"""Tables as files: CSV for programs, Markdown, HTML and LaTeX (booktabs) for people. The same table, the same bytes."""

import os
import re
from itertools import repeat
from math import floor, isfinite, log10
from pathlib import Path
from typing import Any

import pandas as pd

from pascal.files import write_text
from pascal.report.page import to_html

_UNITS = {"percent": "(%)", "uj": "(µJ)", "mj": "(mJ)", "ms": "(ms)", "s": "(s)"}
_WORDS = {"ann": "ANN", "snn": "SNN", "if": "IF", "pasc": "PASC", "macs": "MACs", "pes": "PEs", "dram": "DRAM",
          "10000": "10,000 images"}  # fmt: skip
_HEADINGS = {
    "clusters": "χ",
    "t_eff": "T_eff",
    "t_norm": "T_norm",
    "reported_t_eff": "reported T_eff",
    "operation_ratio": "r'",
    "energy_ratio": "r_E",
    "energy_ratio_counted": "r_E, counted",
}
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "—": "---"},
    **{"χ": r"$\chi$", "θ": r"$\theta$", "×": r"$\times$", "−": "$-$", "≤": r"$\le$", "µ": r"$\mu$", "…": r"\dots{}"},
    **{"–": "--", "·": r"$\cdot$", "≥": r"$\ge$", "Σ": r"$\Sigma$", "⌈": r"$\lceil$", "⌉": r"$\rceil$", "₂": "$_2$"},
}  # fmt: skip
_SETTINGS = {"width", "level", "levels", "clusters", "seeds", "timesteps", "fan_in", "pes", "images", "seed", "k"}
_WIDE = 30  # letters from which a column of text is broken into lines
_LONG = 40  # rows from which a table may break over pages
_MANY = 8  # columns from which it is scaled to the page


def write_table(table: pd.DataFrame, stem: str | os.PathLike[str], caption: str = "") -> list[Path]:
    """Write `stem.csv`, `stem.md`, `stem.html` and `stem.tex`."""
    shown = readable(table)
    texts = {
        "csv": to_csv(table),
        "md": to_markdown(table, caption),
        "html": to_html(shown, fitting(caption, shown)),
        "tex": to_latex(table, caption, f"tab:{Path(stem).name}"),
    }
    return [write_text(f"{os.fspath(stem)}.{kind}", text) for kind, text in texts.items()]


def to_csv(table: pd.DataFrame) -> str:
    """Every column by its name, numbers to ten digits, nothing where nothing is known."""
    return table.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def to_markdown(table: pd.DataFrame, caption: str = "") -> str:
    """A pipe table of `readable` cells, the caption above."""
    shown = readable(table).map(lambda cell: cell.replace("|", "\\|"))
    lines = [list(shown.columns), ["---"] * len(shown.columns), *shown.to_numpy().tolist()]
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    note, caption = "" if len(shown) else "\n\nNo rows yet.", fitting(caption, shown)
    return f"{caption}\n\n{body}{note}\n" if caption else f"{body}{note}\n"


def to_latex(table: pd.DataFrame, caption: str = "", label: str = "") -> str:
    """A booktabs table of `readable` cells; a long one needs longtable, another with many columns graphicx."""
    shown = readable(table)
    caption = fitting(caption, shown)
    long, wide = len(shown) > _LONG, len(shown.columns) > _MANY
    text = (
        shown.map(_escape)
        .rename(columns=_escape)
        .to_latex(
            index=False,
            escape=False,
            column_format="".join(_layout(shown[name]) for name in shown),
            caption=_escape(caption) or None,
            label=label or None,
            longtable=long,
        )
    )
    if long:
        return f"{{\\scriptsize\\setlength{{\\tabcolsep}}{{3pt}}\n{text}}}\n"
    return _fit(text) if wide else text


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Cells as people read them: `mean ± std` in one, units in headings, columns without any entry left out."""
    names = [str(name) for name in table.columns if not _is_empty(table[name]) and not _is_deviation(table, str(name))]
    shown = {heading(name): list(map(_cell, table[name], _deviations(table, name), repeat(name))) for name in names}
    return pd.DataFrame(shown, index=range(len(table)), dtype=object)


def fitting(caption: str, shown: pd.DataFrame) -> str:
    """The caption without sentences about columns that have no entry and are left out."""
    absent = [mark for mark, column in _ABOUT.items() if not any(str(name).startswith(column) for name in shown)]
    sentences = re.split(r"(?<=\.) (?=[A-Z])", caption)
    return " ".join(sentence for sentence in sentences if not any(mark in sentence for mark in absent))


_ABOUT = {"Reported numbers": "reported", "low and high": "low"}  # words of a caption → a column's heading


def heading(name: str) -> str:
    """`ann_accuracy_percent` → `ANN accuracy (%)`."""
    if name in _HEADINGS:
        return _HEADINGS[name]
    words = [_WORDS.get(word, re.sub(r"^t(\d+)$", r"T=\1", word)) for word in name.split("_") if word not in _UNITS]
    return " ".join([*words, *[_UNITS[word] for word in name.split("_") if word in _UNITS]])


def _is_deviation(table: pd.DataFrame, name: str) -> bool:
    return name.endswith("_std") and name.removesuffix("_std") in table


def _deviations(table: pd.DataFrame, name: str) -> list[Any]:
    return list(table[f"{name}_std"]) if f"{name}_std" in table else [None] * len(table)


def _is_empty(column: pd.Series) -> bool:
    return len(column) > 0 and bool((column.isna() | (column.astype(str) == "")).all())


def _cell(value: Any, std: Any, name: str) -> str:
    if pd.isna(value) or value == "":
        return "—"
    if isinstance(value, str | bool):
        return str(value)
    if name.startswith("reported"):
        return f"{value:,.10g}"
    if name in _SETTINGS:
        return f"{value:,g}" if abs(value) < 1e6 else f"{value:,.0f}"
    known = std is not None and not pd.isna(std)  # zero where the seeds agree
    whole = float(value).is_integer() and not (known and std > 1e-9 * abs(value))
    digits = 2 if name.endswith("percent") else 0 if whole else _digits(float(value))
    text = f"{float(value):,.{digits}f}"
    return f"{text} ± {float(std):,.{digits}f}" if known else text


def _digits(value: float) -> int:
    """Four digits that count; one more just above one, where ratios lie."""
    places = floor(log10(abs(value))) if value and isfinite(value) else 0
    return max(0, 3 - places) + (1 <= abs(value) < 2)


def _fit(text: str) -> str:
    """As wide as the page."""
    start, end = "\\begin{tabular}", "\\end{tabular}"
    return text.replace(start, f"\\resizebox{{\\textwidth}}{{!}}{{%\n{start}").replace(end, f"{end}}}")


def _escape(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _layout(cells: pd.Series) -> str:
    if len(cells) and cells.str.len().max() > _WIDE:
        return "p{4cm}"
    return "r" if cells.str.match(r"^(-?\d[\d,.]*( ± [\d,.]+)?|—)$").all() else "l"
