"""Where a recorded result comes from, so that it can be made again."""

import json
import sys
from pathlib import Path
from typing import Any

from pascal.pipeline.commit import git_commit


def provenance() -> dict[str, str]:
    """Commit and command of this process; folders of this machine shrink to their last part."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.orig_argv[1:]]
    return {"command": " ".join(["python", *words]), "commit": git_commit(Path(__file__).parent)}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """JSON in the record's own order, which is one to read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n")
