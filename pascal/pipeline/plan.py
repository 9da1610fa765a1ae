"""What each stage of DVC depends on, in small files under build/plan: parameters, code and weights, by content.

They are parameter files to DVC, which may be missing where files may not: `dvc repro --dry` works in a fresh clone.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pascal.pipeline import manifest
from pascal.pipeline.canonical import digest, dump
from pascal.pipeline.parameters.runs import Params, Run
from pascal.pipeline.parameters.weights import maker
from pascal.pipeline.plots import PAGE, page
from pascal.pipeline.stamps import write_if_changed

PLACE = Path("build/plan")
LINKS = Path("workflow/weights")  # to weights of the user's own: planning depends on `workflow`, and so on their bytes
_MAKING = {"prepare", "retrain", *manifest.STAGES}  # stages that lead to a run's files


def write_plan(params: Params, code: Mapping[str, str], content: Callable[[str], str | None]) -> None:
    """Write what changed and remove what nothing asks for; `content` gives the digest of a user's file."""
    texts = {**_texts(params, code, content), PAGE: page()}
    for name, text in texts.items():
        write_if_changed(PLACE / name, text)
    for path in set(PLACE.rglob("*.*")) - {PLACE / name for name in texts}:
        path.unlink()
    _link_weights({run.name: run.settings.weights for run in params.runs.values() if _brought(run, params)})


def _brought(run: Run, params: Params) -> bool:
    """Whether a run has weights that no other run makes."""
    weights = run.settings.weights
    return bool(run.start is None and weights and not maker(weights, params))


def _link_weights(weights: Mapping[str, str | None]) -> None:
    targets = {LINKS / name: os.path.relpath(str(path), LINKS) for name, path in weights.items()}
    for link in LINKS.glob("*"):
        if link not in targets or os.readlink(link) != targets[link]:
            link.unlink()
    for link, target in targets.items():
        LINKS.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(target)


def _texts(params: Params, code: Mapping[str, str], content: Callable[[str], str | None]) -> dict[str, str]:
    making = digest({stage: stamp for stage, stamp in code.items() if stage.partition("-")[0] in _MAKING})
    runs = {run.name: digest([_depends(run, params, content), making]) for run in params.runs.values()}
    report = [params.seeds, list(params.runs), runs, code["tables"], code["figures"]]
    found = {
        "checked": "",  # every stage waits for it, whatever its own name says
        "figures": digest([params.seeds, code["run_figures"]]),
        "track": digest(code["track"]),
        "report": digest(report),
        **{f"runs/{name}": depends for name, depends in runs.items()},
    }
    return {f"{name}.json": dump({"digest": text}) for name, text in found.items()}


def _depends(run: Run, params: Params, content: Callable[[str], str | None]) -> dict[str, Any]:
    """A run's own parameters, those of the runs that it starts from, and its data set's."""
    weights = run.settings.weights if run.start is None else None
    other = maker(weights, params) if weights else None
    return {
        "run": [run.kind, run.settings.model_dump(mode="json"), params.defaults.adapt.images],
        "from": _depends(params.runs[run.start], params, content) if run.start else None,
        "dataset": params.datasets[run.settings.dataset].model_dump(mode="json"),
        "weights": _depends(other, params, content) if other else weights and content(weights),
    }
