"""Files have the same bytes in any process: no time, no version, no order of a hash."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from pascal.report.figures import draw, figure_plans
from pascal.report.figures.neuron import qcfs_figure
from pascal.report.style import save_figure
from pascal.report.tables import build_tables
from pascal.report.write import write_table
from tests.report.samples import AUDIT, run_results

FIGURES = ("qcfs", "timesteps", "al/metric", "al/energy_components", "al/activity")


def written(folder):
    """Digests of the tables and of some figures of two runs, by name of the file."""
    results = [run_results(), run_results("al", adaptive=True)]
    for name in FIGURES:
        plan, runs = figure_plans(results)[name]
        save_figure(draw(plan, runs), folder / Path(name).name)
    for name, table in build_tables(results, AUDIT).items():
        write_table(table, folder / name)
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_another_process_writes_the_same_bytes(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    script = "import pathlib, sys; from tests.report.test_report_bytes import written; "
    script += "print(*written(pathlib.Path(sys.argv[1])).values())"
    done = subprocess.run(
        [sys.executable, "-c", script, str(there)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    digests = written(here)
    assert done.stdout.split() == list(digests.values())
    assert [name for name in digests if name.endswith(".pdf")] == sorted(f"{Path(name).name}.pdf" for name in FIGURES)


def test_a_figure_becomes_png_and_pdf_without_a_date(tmp_path):
    files = save_figure(qcfs_figure(), tmp_path / "qcfs")
    assert [path.name for path in files] == ["qcfs.png", "qcfs.pdf"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qcfs.pdf", "qcfs.png"]
    png, pdf = (path.read_bytes() for path in files)
    assert png.startswith(b"\x89PNG")
    assert b"Software" not in png
    assert pdf.startswith(b"%PDF")
    assert not any(word in pdf for word in (b"CreationDate", b"/Producer", b"/Creator"))
