"""The commands of README and docs, one after the other as a reader would give them, on a computed pipeline."""

import pytest
import torch
import yaml
from safetensors.torch import save_file

from tests.documents import EXECUTED, PAGES, commands
from tests.workflow.workspace import ROOT, Workspace

# The runs of params.yaml, and what stands for them in the tiny workspace.
_TINY = {"digits-vgg-l4": "plain", "digits-vgg-al": "adaptive", "--width 0.125": "--width 0.0625"}
_TINY["results/reference"] = str(ROOT / "results/reference")


def _here(command: str) -> str:
    for shipped, tiny in _TINY.items():
        command = command.replace(shipped, tiny)
    if "profiles/slurm" in command:
        return "true"  # tests/cluster gives it
    return f"{command} --dry-run" if "--configfile" in command else command  # presets are planned, not trained


def _bring_weights(workspace: Workspace) -> None:
    """Files that presets start from, and that a reader would have to make first."""
    for preset in (ROOT / "workflow" / "presets").glob("*.yaml"):
        for run in yaml.safe_load(preset.read_text())["runs"].values():
            if "weights" in run:
                (workspace.path / run["weights"]).parent.mkdir(exist_ok=True)
                save_file({"a": torch.zeros(1)}, workspace.path / run["weights"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page.name for page in PAGES if any(c.startswith(EXECUTED) for c in commands(page.name))]
)
def test_commands_of_a_page(page: str, workspace: Workspace) -> None:
    _bring_weights(workspace)
    for command in commands(page):
        if command.startswith(EXECUTED):
            workspace.run("bash", "-c", _here(command)).check()
