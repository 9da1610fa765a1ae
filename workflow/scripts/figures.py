"""figures: the files of all runs → results/figures/<name>, the figures that compare runs, as PNG and PDF."""

from pathlib import Path

from lib.rows import read_results
from lib.stage import stage
from pascal.report import ACROSS_RUNS, save_figure
from tqdm import tqdm

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    for name, plan in tqdm(ACROSS_RUNS.items(), "figures", disable=None):
        save_figure(plan.draw(results), Path("results/figures", name))
