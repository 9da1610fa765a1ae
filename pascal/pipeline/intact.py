"""`python -m pascal.pipeline.intact [files]`: whether results are those that their records tell of."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pascal.pipeline.fit import check_results

PLAN = Path("build/asked.json")  # what the newest plan asks for: results, and stamps that they must be made from
_SHOWN = 10


def edited_since(stamps: Mapping[str, str]) -> str:
    """What was edited while a command ran, so that some of its jobs did not do what it had planned; nothing if none."""
    now = json.loads(PLAN.read_text(encoding="utf-8"))["stamps"]
    edited = sorted(path for path in now.keys() | stamps.keys() if now.get(path) != stamps.get(path))
    return f"edited while this ran: {', '.join(edited[:_SHOWN])}; run the same command again" if edited else ""


def faults(files: Sequence[str] = ()) -> dict[str, str]:
    """Which of some results do not fit, or of all that the newest plan asks for, and why."""
    if not PLAN.exists():
        return {str(PLAN): "no such file; `snakemake --cores 1 --dry-run all` writes it"}
    plan = json.loads(PLAN.read_text(encoding="utf-8"))
    fit = check_results(plan["stamps"])
    told = {path: fit.fault(path) if Path(path).exists() else "no such file" for path in files or plan["results"]}
    return {path: fault for path, fault in told.items() if fault}


def main(files: Sequence[str]) -> int:
    """Check some results, or all; says which do not fit, and why."""
    found = faults(files)
    for path, fault in list(found.items())[:_SHOWN]:
        print(f"{path}: {fault}", file=sys.stderr)
    if found:
        remedy = "`snakemake --cores 2 all` makes them anew"
        print(f"{len(found)} results do not fit their records; {remedy}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
