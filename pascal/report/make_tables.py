"""All tables, found by their decorators."""

from collections.abc import Sequence
from importlib import import_module

import pandas as pd

from pascal.report.registry import plans
from pascal.report.results import RunResults
from pascal.report.rows import Rows


def build_tables(results: Sequence[RunResults], audit: Rows = ()) -> dict[str, pd.DataFrame]:
    """All tables by name, whatever is missing; `audit` is what `audit.audit_rows` gives."""
    audit = audit if isinstance(audit, pd.DataFrame) else list(audit)
    tables = {}
    for name, plan in plans("tables").items():
        make = getattr(import_module(f"pascal.report.tables.{plan.module}"), name)
        tables[name] = make([result.only(plan.files) for result in results], audit)
    return tables
