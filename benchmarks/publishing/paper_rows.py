"""The paper's accuracies beside those of the recorded networks, for docs/results.md: what has no run says so."""

import pandas as pd

from pascal.audit import Measured
from pascal.audit.audit import AuditRow, target_row
from pascal.audit.targets import ACCURACIES
from pascal.report.rows import levels_text
from pascal.report.write import to_markdown

SENTENCE = (
    "The paper's accuracies on CIFAR beside networks trained here. Narrower networks, with fewer epochs, stand beside "
    "a row and never for it; rows without any run are counted below."
)


def paper_part(measured: list[Measured]) -> str:
    """The rows with a run here, under their sentence, and how many have none."""
    rows = [target_row(claim, measured) for claim in ACCURACIES]
    told = [row for row in rows if row.measured or row.narrower]
    open_rows = [row for row in rows if row not in told]
    gpus = sum(row.claim.dataset == "imagenet" for row in open_rows)
    left = f"\nWithout any run here: {len(open_rows)} of {len(rows)} rows, {gpus} of them ImageNet's, for GPUs.\n"
    return to_markdown(pd.DataFrame([_row(row) for row in told]), SENTENCE) + left if told else left.lstrip()


def _row(row: AuditRow) -> dict[str, str]:
    return {
        "accuracy": row.claim.quantity.removesuffix(" accuracy %"),
        "network": row.claim.network,
        "data": row.claim.dataset,
        "L": levels_text(row.claim.levels),
        "reported %": row.claim.printed,
        "measured %": " ".join(f"{value:.2f}" for value in row.measured) or "no run at this width",
        "difference": "" if row.difference is None else f"{row.difference:+.2f}",
        "how": row.reason.removeprefix("no run here; "),
    }
