"""Figures: every function under `@figure` is one, and its name is the figure's."""

from pascal.report.make_figures import build_figures, draw, figure_plans

__all__ = ["build_figures", "draw", "figure_plans"]
