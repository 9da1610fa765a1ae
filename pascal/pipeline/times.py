"""How long jobs took, by the times that Snakemake notes beside its logs."""

import csv
from collections.abc import Iterable
from pathlib import Path

TIMES = Path("logs/times")


def seconds(run: str, seeds: Iterable[int], rules: Iterable[str] = ("*",)) -> float | None:
    """Of these rules for these seeds, added up; None where nothing was noted, as of results that came by DVC."""
    files = [file for rule in rules for seed in seeds for file in TIMES.glob(f"{rule}/{run}-{seed}.tsv")]
    return sum(map(_seconds, files)) if files else None


def _seconds(file: Path) -> float:
    with file.open(newline="") as lines:
        return sum(float(row["s"]) for row in csv.DictReader(lines, delimiter="\t"))
