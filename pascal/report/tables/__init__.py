"""Tables: every function under `@table` is one, and its name is the table's."""

from pascal.report.make_tables import build_tables

__all__ = ["build_tables"]
