"""`python -m pascal.pipeline.dvc` writes dvc.yaml from the manifest; runs and seeds DVC fills in from params.yaml.

Stages depend on small files that planning writes, never on folders of sources: `dvc status` stays linear.
Outputs are folders where the kind of a run decides which files it has.
"""

from pathlib import Path
from typing import Any

import yaml

from pascal.files import write_text
from pascal.pipeline.manifest import CURVES, METRICS, outputs
from pascal.report.registry import CURVES as DRAWN

_HEAD = """\
# Versions of results, written by `python -m pascal.pipeline.dvc`: edit that, not this.
# One DAG makes the results, Snakemake's: each stage calls it for its own files, and DVC keeps what came out. `plan`
# comes first: it checks the parameters and writes what each run depends on, parameters and code, into build/plan.
"""
_MAKE = "python -m pascal.pipeline.make"


def _planned(*names: str) -> list[dict[str, None]]:
    """Files of the plan that a stage depends on; nothing runs before the parameters are known to be good."""
    return [{f"build/plan/{name}.json": None} for name in ("checked", *names)]


def stages() -> dict[str, Any]:
    """The stages of dvc.yaml; outputs persist, for Snakemake decides what is old."""
    figures = [f"{stem}.{ending}" for stem in outputs("figures") for ending in ("png", "pdf")]
    folders = ("results/figures/records", "results/data", "results/tables", str(CURVES))
    home = "results/${item.run}/${item.seed}"
    return {
        "plan": {
            "cmd": "python -m pascal.pipeline.check --every-run && snakemake --cores 1 --dry-run --quiet all -- plan",
            "deps": ["params.yaml", "Snakefile", "pascal", "workflow"],
            "outs": [{"build/plan": {"persist": True}}],
        },
        "report": {
            "cmd": _MAKE,
            "params": _planned("report"),
            "outs": [{path: {"persist": True}} for path in (*figures, *folders)],
            "metrics": [{str(METRICS): {"persist": True}}],
        },
        "run": {
            "matrix": {"run": "${runs}", "seed": "${defaults.seeds}"},
            "cmd": f"{_MAKE} '${{item.run}}' '${{item.seed}}'",
            "params": _planned("runs/${item.run}"),
            "outs": [{home: {"persist": True}}],
        },
        "figures": {
            "foreach": "${runs}",
            "do": {
                "cmd": f"{_MAKE} '${{key}}'",
                "params": _planned("runs/${key}", "figures"),
                "outs": [{"results/figures/${key}": {"persist": True}}],
            },
        },
        "track": {  # it has no output, and its failure spoils no result
            "cmd": "snakemake --cores all track",
            "deps": [str(METRICS), "results/tables"],
            "params": _planned("track"),
        },
    }


def plots() -> list[dict[str, Any]]:
    """Curves of all runs in one plot each, by the template .dvc/plots/runs.json."""
    return [
        {curve.title: {"template": "runs", "x": {file: curve.over}, "y": {file: curve.quantity}}}
        for name, curve in DRAWN.items()
        for file in [str(CURVES / f"{name}.csv")]
    ]


def text() -> str:
    """What dvc.yaml holds."""
    content = {"params": ["params.yaml"], "plots": plots(), "stages": stages()}
    return _HEAD + "\n" + yaml.safe_dump(content, sort_keys=False, width=1000, default_flow_style=None)


if __name__ == "__main__":
    write_text(Path("dvc.yaml"), text())
