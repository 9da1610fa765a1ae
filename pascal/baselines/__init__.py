"""Rival methods, one file each: a file with a `Method` of its own is found by being here."""

from pascal.baselines.compare import Row, compare
from pascal.baselines.discovery import METHODS
from pascal.baselines.method import Method

__all__ = ["METHODS", "Method", "Row", "compare"]
