"""`python -m pascal.pipeline.ui [PORT]`: MLflow in the browser, on the table of runs. `make ui` calls it."""

import os
import sys
import webbrowser
from threading import Timer

from mlflow import MlflowClient

from pascal.pipeline.masking import masked
from pascal.pipeline.store import EXPERIMENT, database, tracking_uri
from pascal.pipeline.view import runs_page


def main(port: str = "5000") -> int:
    """Say where the runs are, and serve them there unless a server already does."""
    uri, file = tracking_uri(), database(tracking_uri())
    experiment = None if file and not file.exists() else MlflowClient(uri).get_experiment_by_name(EXPERIMENT)
    if experiment is None:
        print("no runs in MLflow yet: `make run` first", file=sys.stderr)
        return 1
    serving = uri.startswith("http")
    page = runs_page(uri if serving else f"http://127.0.0.1:{port}", experiment.experiment_id)
    print(f"The runs: {masked(page)}", flush=True)
    if _has_screen():
        Timer(0 if serving else 5, webbrowser.open, [page]).start()
    if not serving:
        _serve(uri, port)
    return 0


def _serve(uri: str, port: str) -> None:
    """Until Ctrl-C."""
    from mlflow.cli import cli

    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")  # of chats: nine processes for nothing
    cli(["ui", "--backend-store-uri", uri, "--port", port, "--workers", "1"])


def _has_screen() -> bool:
    """A browser of letters would take the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
