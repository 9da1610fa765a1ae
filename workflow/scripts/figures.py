"""figures: the files of all runs → results/figures/<name>, the figures that compare runs, as PNG and PDF."""

from pathlib import Path

from pascal.pipeline.rows import read_results
from pascal.pipeline.stage import stage
from pascal.report.figures import build_figures
from pascal.report.style import save_figure
from tqdm import tqdm

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    for path, figure in tqdm(build_figures(results, per_run=False), "figures", disable=None):
        save_figure(figure, Path("results/figures", path))
