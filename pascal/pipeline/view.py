"""MLflow's page on which `make ui` opens: the runs as a table, with the columns by which they are judged."""

import json

_VIEW = "pascal"
_METRICS = (
    "snn_accuracy",
    "snn_accuracy_std",
    "ann_accuracy",
    "count_mismatches",
    "t_eff",
    "snn_uj_fp32",
    "ann_uj_fp32",
)
_COLUMNS = ["attributes.`Duration`", *(f"metrics.`{name}`" for name in _METRICS), "params.`levels`", "params.`network`"]

TAGS = {  # of the experiment: a table of trainings instead of a page of chats, and a view that a link names
    "mlflow.experimentKind": "custom_model_development",
    f"mlflow.sharedViewState.{_VIEW}": json.dumps({"selectedColumns": _COLUMNS, "viewMaximized": True}),
}


def runs_page(server: str, experiment: str) -> str:
    """The address of the table on a server."""
    return f"{server.rstrip('/')}/#/experiments/{experiment}/runs?viewStateShareKey={_VIEW}"
