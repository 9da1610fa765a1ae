"""MLflow's page on which `make ui` opens: the runs as a table, with the columns by which they are judged."""

import json

_VIEW = "pascal"
_METRICS = ("snn_accuracy", "snn_accuracy_std", "ann_accuracy", "count_mismatches", "t_eff", "snn_uj_fp32")
_CHOSEN = [*(f"metrics.`{name}`" for name in _METRICS), "params.`levels`", "params.`network`"]
_WIDTHS = {"attributes.`Run Name`": 250, "duration": 80, **dict.fromkeys(_CHOSEN, 115)}
_STATE = {"selectedColumns": _CHOSEN, "columnOrder": list(_WIDTHS), "columnWidths": _WIDTHS}

TAGS = {  # of the experiment: a table of trainings instead of a page of chats, and a view that a link names
    "mlflow.experimentKind": "custom_model_development",
    f"mlflow.sharedViewState.{_VIEW}": json.dumps(_STATE),
}


def runs_page(server: str, experiment: str) -> str:
    """The address of the table on a server."""
    chosen = f"viewStateShareKey={_VIEW}&workflowType=machine_learning"
    return f"{server.rstrip('/')}/#/experiments/{experiment}/runs?{chosen}"
