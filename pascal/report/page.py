"""Tables as pieces of a page: `snakemake --report` shows them, and its first page includes some."""

from html import escape

import pandas as pd

_STYLE = """\
<style>
.pascal {border-collapse: collapse; font: 13px/1.4 sans-serif; background: white; color: #222}
.pascal caption {caption-side: top; text-align: left; padding: 8px; max-width: 60em}
.pascal th {position: sticky; top: 0; background: #eee; text-align: left; vertical-align: bottom}
.pascal th, .pascal td {padding: 3px 8px; border-bottom: 1px solid #ddd}
.pascal td {font-variant-numeric: tabular-nums; white-space: nowrap}
.pascal td.words {white-space: normal; min-width: 12em; max-width: 24em}
.pascal tr:hover td {background: #f4f8ff}
</style>"""
_WIDE = 30  # letters from which a cell may be broken into lines


def to_html(shown: pd.DataFrame, caption: str = "") -> str:
    """Cells that are text already, as `readable` gives them; works without a network, like the rest of the page."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in shown)
    rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in shown.to_numpy().tolist())
    rows = rows or f'<tr><td colspan="{len(shown.columns)}">no rows</td></tr>'
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    table = f'<table class="pascal">{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'
    return f'<meta charset="utf-8">\n{_STYLE}\n<div style="overflow-x: auto">{table}</div>\n'


def _cell(text: str) -> str:
    return f'<td class="words">{escape(text)}</td>' if len(text) > _WIDE else f"<td>{escape(text)}</td>"
