"""MLflow's server on PostgreSQL, artefacts through it: many clients at once, each result there once, nothing lost."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from pascal.errors import PascalError
from pascal.pipeline.sink import Entry, Sink, open_sink
from tests.workflow.workspace import Workspace

pytestmark = [pytest.mark.pipeline, pytest.mark.cluster, pytest.mark.xdist_group("tracking")]
SERVER = Path(__file__).with_name("tracking")
CLIENTS = 8
FOLDER = Path(tempfile.gettempdir(), f"pascal-tracking-{os.getpid()}")  # where user postgres may enter


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that is up."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        pytest.skip("not installed: PostgreSQL (Debian: postgresql-15)")
    if os.getuid() == 0 and shutil.which("su") is None:
        pytest.skip("not installed: su, without which root cannot start PostgreSQL")
    FOLDER.mkdir(mode=0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        subprocess.run([SERVER, "up", str(FOLDER), str(port)], check=True)
        yield f"http://127.0.0.1:{port}"
    finally:
        subprocess.run([SERVER, "down", str(FOLDER)], check=False)
        shutil.rmtree(FOLDER)


def _runs(sink: Sink, experiment: str) -> list[str]:
    return [str(run.info.run_name) for run in sink.client.search_runs([experiment])]


def test_clients_that_come_together_share_one_experiment_and_one_run_of_a_key(uri: str, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("a result")
    together = Barrier(CLIENTS)

    def client(number: int) -> str:
        together.wait()
        with open_sink(uri) as sink:
            curve = {"loss": [(1, 2.0), (2, 1.0)]}
            entry = Entry("same", "shared", {"levels": 4}, {"accuracy": 0.5}, curve, [(str(file), "")])
            sink.put(entry)
            sink.put(Entry(f"own {number}", f"own {number}", metrics={"accuracy": number}))
            return sink.experiment

    with ThreadPoolExecutor(CLIENTS) as pool:
        (experiment,) = set(pool.map(client, range(CLIENTS)))
    sink = Sink(uri)
    assert Counter(_runs(sink, experiment)) == Counter(["shared", *(f"own {number}" for number in range(CLIENTS))])
    assert _runs(sink, "0") == []  # nothing fell into Default
    (shared,) = (run for run in sink.client.search_runs([experiment]) if run.info.run_name == "shared")
    assert (shared.data.metrics, shared.data.params) == ({"accuracy": 0.5, "loss": 1.0}, {"levels": "4"})
    assert [file.path for file in sink.client.list_artifacts(shared.info.run_id)] == ["note.txt"]
    assert shared.info.artifact_uri.startswith("mlflow-artifacts:")  # the server has them, no folder of a client's


def test_checkouts_upload_side_by_side_and_nothing_is_there_twice(
    uri: str, computed: Workspace, tmp_path: Path
) -> None:
    checkouts = [computed.copy(tmp_path / name) for name in ("one", "two")]
    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(lambda each: each.snakemake("track", cores=1, MLFLOW_TRACKING_URI=uri), checkouts))
    assert [each.check().jobs for each in ran] == [{"track": 1}, {"track": 1}]
    sink = Sink(uri)
    runs = sink.client.search_runs([sink.experiment], "tags.`stage` != ''")
    keys = Counter(run.data.tags["pascal.key"] for run in runs)
    assert set(keys.values()) == {1}
    assert {run.data.tags["run"] for run in runs} == {"plain", "adaptive"}
    parents = {run.info.run_id for run in runs if run.data.tags["stage"] == "all"}
    below = {run.data.tags.get("mlflow.parentRunId") for run in runs if run.data.tags["stage"] != "all"}
    assert below == parents


def _stop_and_put(uri: str) -> None:
    with open_sink(uri) as sink:
        subprocess.run([SERVER, "stop", str(FOLDER)], check=True)
        sink.put(Entry("late", "late"))


def test_results_stay_when_the_server_goes(uri: str) -> None:
    with pytest.raises(PascalError, match=r"All results are kept; when it can be used, `snakemake --cores 1 track`"):
        _stop_and_put(uri)
