"""run_figures: the files of one run → results/figures/<run>/<name>, as PNG and PDF; seeds are drawn together."""

from pathlib import Path

from lib.rows import read_results
from lib.stage import stage
from pascal.report import PER_RUN, save_figure
from pascal.report.style import message_figure
from tqdm import tqdm

GIVEN = "The levels of this run are given by its parameters: there is no metric behind them."

with stage(snakemake) as report:
    results = read_results(report, Path("results"))
    derived = results[0].clusters is not None
    for name, plan in tqdm(PER_RUN.items(), "figures", disable=None):
        figure = plan.draw(results) if derived or not plan.adaptive else message_figure(GIVEN)
        save_figure(figure, Path("results/figures", snakemake.wildcards.run, name))
