"""Rival methods, one file each: a file with a `Method` of its own is found by being here."""

from pascal.baselines.claims import rival
from pascal.baselines.compare import compare
from pascal.baselines.discovery import METHODS
from pascal.baselines.method import Method
from pascal.baselines.row import Row, table
from pascal.baselines.whole import whole_comparison

__all__ = ["METHODS", "Method", "Row", "compare", "rival", "table", "whole_comparison"]
