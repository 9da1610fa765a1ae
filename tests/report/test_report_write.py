"""CSV, Markdown and LaTeX of a table: readable, escaped, the same bytes each time."""

import pandas as pd
import pytest

from pascal.report.page import to_html
from pascal.report.write import heading, readable, to_csv, to_latex, to_markdown, write_table

TABLE = pd.DataFrame({
    "run": ["a_b", "c|d"],
    "snn_accuracy_percent": [91.0, None],
    "snn_accuracy_percent_std": [1.41421356, None],
    "macs": [332111872, 5],
    "t_eff": [2.119, 4.0],
    "reported_t_eff": ["2.13", ""],
    "empty": ["", ""],
})  # fmt: skip


def test_csv_has_every_column_and_empty_cells_for_what_is_not_known():
    lines = to_csv(TABLE).splitlines()
    assert lines[0] == "run,snn_accuracy_percent,snn_accuracy_percent_std,macs,t_eff,reported_t_eff,empty"
    assert lines[1:] == ["a_b,91,1.41421356,332111872,2.119,2.13,", "c|d,,,5,4,,"]


def test_markdown_folds_the_deviation_and_leaves_empty_columns_out():
    lines = to_markdown(TABLE, "A caption.").splitlines()
    assert lines[0] == "A caption."
    assert lines[2] == "| run | SNN accuracy (%) | MACs | T_eff | reported T_eff |"
    assert lines[4] == "| a_b | 91.00 ± 1.41 | 332,111,872 | 2.119 | 2.13 |"
    assert lines[5] == r"| c\|d | — | 5 | 4 | — |"


def test_latex_has_booktabs_and_no_bare_special_letters():
    text = to_latex(TABLE.assign(run=["a_b & 50%", "L=4 ± 1 #1 {x} ~ ^ \\"]), "χ of 5 %", "tab:x")
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert r"a\_b \& 50\% & 91.00 $\pm$ 1.41 & 332,111,872" in text
    assert r"L=4 $\pm$ 1 \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}" in text
    assert r"\caption{$\chi$ of 5 \%}" in text
    assert r"\begin{tabular}{lrrrr}" in text


def test_a_long_table_breaks_over_pages_and_a_wide_one_is_scaled():
    long = to_latex(pd.DataFrame({"layer": range(50)}))
    assert r"\begin{longtable}" in long
    assert long.count("{") == long.count("}")
    wide = to_latex(pd.DataFrame([dict.fromkeys("abcdefghi", 1)]))
    assert r"\resizebox{\textwidth}{!}{%" in wide
    assert wide.count("{") == wide.count("}")


@pytest.mark.parametrize(
    ("value", "std", "text"),
    [
        (1.00123456, None, "1.0012"),
        (8.351, 0.02, "8.351 ± 0.020"),
        (0.00318, None, "0.003180"),
        (4.0, 0.0, "4 ± 0"),  # the seeds agree
        (4.0, 0.3, "4.000 ± 0.300"),  # a whole mean of numbers that differ is not a whole number
        (12345.6, None, "12,346"),
        (0, None, "0"),
        (True, None, "True"),
    ],
)
def test_numbers_have_the_digits_that_count(value, std, text):
    table = pd.DataFrame({"ratio": [value]} | ({} if std is None else {"ratio_std": [std]}))
    assert readable(table).iloc[0, 0] == text


def test_headings_put_units_last():
    assert heading("energy_uj_per_image_without_dram") == "energy per image without DRAM (µJ)"
    assert heading("latency_s_per_10000") == "latency per 10,000 images (s)"
    assert heading("if_t16_percent") == "IF T=16 (%)"
    assert heading("clusters") == "χ"


def test_an_empty_table_says_so():
    assert "No rows yet." in to_markdown(TABLE.iloc[:0])
    assert to_csv(TABLE.iloc[:0]).count("\n") == 1
    assert r"\toprule" in to_latex(TABLE.iloc[:0])


def test_a_page_shows_every_cell_and_runs_none():
    page = to_html(pd.DataFrame({"run": ["<script>"], "words": ["x" * 31]}), "A & B")
    assert "<script>" not in page
    assert all(part in page for part in ("&lt;script&gt;", "A &amp; B", f'<td class="words">{"x" * 31}</td>'))
    assert "http" not in page
    assert "no rows" in to_html(pd.DataFrame({"run": []}))


def test_four_files_are_written_whole(tmp_path):
    written = write_table(TABLE, tmp_path / "accuracy", "Caption")
    assert [path.name for path in written] == ["accuracy.csv", "accuracy.md", "accuracy.html", "accuracy.tex"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        path.name for path in written
    )  # nothing else left
    assert r"\label{tab:accuracy}" in written[3].read_text()
    before = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in write_table(TABLE, tmp_path / "accuracy", "Caption")] == before
