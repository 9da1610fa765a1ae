"""Stages whose files are digests of all they are made from: nothing stale looks current, and nothing is trained.

Rules, parameters, stamps, records, Snakemake and DVC are the real ones; each script keeps its imports, from which its
stamp follows, and only its work is another.
"""

import ast
from pathlib import Path

from tests.workflow.workspace import Workspace

_WORK = """

import hashlib
import json
import os
import time
from pathlib import Path
from pascal.pipeline.stage import stage

HALF = float(os.environ.get("SECONDS_OF_A_FILE", 0)) / 2

with stage(snakemake):
    made_from = [[str(path), hashlib.sha256(Path(path).read_bytes()).hexdigest()] for path in snakemake.input]
    for path in snakemake.output:
        content = {"file": path if path.startswith("results") else "", "made_from": made_from}
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content, indent=1)
        with open(path, "w") as file:  # not at once, so that a kill leaves a part of it
            for part in (text[:50], text[50:]):
                time.sleep(HALF)
                file.write(part)
                file.flush()
    if snakemake.rule == "track":
        Path("results/mlflow.db").touch()  # a store that is gone is filled again
"""


def hash_stages(workspace: Workspace) -> Workspace:
    """Put such stages in the place of the real ones."""
    for script in sorted((workspace.path / "workflow/scripts").glob("*.py")):
        tree = ast.parse(script.read_text())
        imports = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        script.write_text("\n    ".join(["def what_the_real_one_runs():", *imports]) + _WORK)
    workspace.commit("hashed stages")
    return workspace


def edit_script(workspace: Workspace, stage: str) -> None:
    """Another version of a stage's code."""
    script: Path = workspace.path / f"workflow/scripts/{stage}.py"
    script.write_text(f"{script.read_text()}\nEDITED = True\n")
