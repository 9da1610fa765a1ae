"""`python -m pascal.pipeline.targets RUN [SEED]` prints the targets: files of a seed, or figures."""

import json
import shlex
import sys
from pathlib import Path

from pascal.pipeline.manifest import RESULTS, files_of, outputs


def targets(run: str, seed: str = "") -> list[str]:
    """Paths, as the kind of the run has them."""
    entry = json.loads(Path("build", "report", f"{run}.json").read_text(encoding="utf-8"))
    (kind,) = {found["kind"] for found in entry["runs"]}
    if seed:
        return [str(RESULTS / run / seed / file.path) for file in files_of(kind).values()]
    return [f"{stem}.{ending}" for stem in outputs("figures", run, kind) for ending in ("png", "pdf")]


if __name__ == "__main__":
    print(shlex.join(targets(*sys.argv[1:])))
