"""run_figures: the files of one run → results/figures/<run>/<name>, as PNG and PDF; seeds are drawn together."""

from pathlib import Path

from pascal.pipeline.rows import read_results
from pascal.pipeline.stage import stage
from pascal.report.figures import build_figures
from pascal.report.style import save_figure
from tqdm import tqdm

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    for path, figure in tqdm(
        build_figures(results, per_run=True, kinds=snakemake.params.kinds), "figures", disable=None
    ):
        save_figure(figure, Path("results/figures", path))
