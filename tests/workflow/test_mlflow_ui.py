"""MLflow's own page in a real browser: an ablation and its original side by side, with parameters and metrics."""

import json
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pascal.pipeline.view import runs_page
from tests.workflow.browser import needs_browser, rendered
from tests.workflow.workspace import Workspace

pytestmark = [pytest.mark.slow, needs_browser]


@contextmanager
def _server(workspace: Workspace) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "mlflow"), "server", "--workers", "1", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--backend-store-uri", "sqlite:///results/mlflow.db"]
    log = open(workspace.path / "server.log", "wb")  # noqa: SIM115
    server = subprocess.Popen(command, cwd=workspace.path, env=workspace.env(), stdout=log, stderr=log)
    try:
        _wait(f"http://127.0.0.1:{port}", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
        log.close()


def _wait(address: str, server: "subprocess.Popen[bytes]") -> None:
    while server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    raise AssertionError("the MLflow server ended")


def test_an_ablation_stands_beside_the_original(workspace: Workspace) -> None:
    workspace.set("defaults", "energy", "int8", "add_pj", 0.04)
    workspace.snakemake("all").check()
    query = "select value, run_uuid from tags where key='mlflow.runName' and value like 'plain%'"
    with sqlite3.connect(workspace.path / "results/mlflow.db") as connection:
        runs = dict(connection.execute(query).fetchall())
    ablation = "plain, energy.int8.add_pj=0.04"
    assert runs.keys() == {"plain", ablation}
    with _server(workspace) as address:
        chosen = urllib.parse.urlencode({"runs": json.dumps(list(runs.values())), "experiments": '["1"]'})
        page = rendered(f"{address}/#/compare-runs?{chosen}")
        for shown in ("Comparing 2 Runs", "energy.int8.add_pj", "0.03", "0.04", "snn_accuracy"):
            assert shown in page
        table = rendered(runs_page(address, "1"))
        for shown in (ablation, "snn_accuracy", "t_eff", "count_mismatches", "snn_uj_fp32", "Duration"):
            assert shown in table
