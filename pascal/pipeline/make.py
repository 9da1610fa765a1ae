"""`python -m pascal.pipeline.make [RUN [SEED]]`: a stage of DVC. Files of a seed, figures of a run, or all results.

Snakemake makes what does not fit its record; where all fits, as after `snakemake all`, it is not even asked to plan.
"""

import json
import subprocess
import sys
from pathlib import Path

from pascal.pipeline import intact
from pascal.pipeline.manifest import RESULTS, files_of, outputs


def targets(run: str, seed: str = "") -> list[str]:
    """Paths, as the kind of the run has them."""
    entry = json.loads(Path("build", "report", f"{run}.json").read_text(encoding="utf-8"))
    (kind,) = {found["kind"] for found in entry["runs"]}
    if seed:
        return [str(RESULTS / run / seed / file.path) for file in files_of(kind).values()]
    return [f"{stem}.{ending}" for stem in outputs("figures", run, kind) for ending in ("png", "pdf")]


def main(run: str = "", seed: str = "") -> int:
    """Make the files; 0 if all of them fit their records then: nothing else is committed."""
    files = targets(run, seed) if run else []
    if not intact.faults(files):
        print("all files fit their records: nothing to be done")
        return 0
    made = subprocess.run(["snakemake", "--cores", "all", *(files or ["report"])], check=False)
    return made.returncode or intact.main(files)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
