"""MLflow's store: at home where it is, checked before use, and its credentials in no text."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pascal.errors import PascalError
from pascal.pipeline import store
from pascal.pipeline.masking import masked
from pascal.pipeline.sink import Entry, open_sink

DATABASE = Path("results/mlflow.db")


def _put(name: str) -> str:
    Path(f"{name}.txt").write_text(name)
    with open_sink(f"sqlite:///{DATABASE.resolve()}") as sink:  # MLflow remembers addresses as long as a process lives
        return sink.put(Entry(key=name, name=name, artifacts=[(f"{name}.txt", "")]))


def _artifacts(folder: Path) -> set[str]:
    return {path.name for path in (folder / "results/mlartifacts").rglob("*.txt")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that holds one run."""
    folder = tmp_path_factory.mktemp("store") / "made"
    (folder / "results").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _put("one")
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, at home."""
    folder = Path(shutil.copytree(made, tmp_path / "here"))
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    store.follow_store()
    return folder


def test_a_copied_checkout_writes_into_itself(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = shutil.copytree(here, tmp_path / "copy")
    monkeypatch.chdir(copy)
    _put("two")
    assert (_artifacts(here), _artifacts(copy)) == ({"one.txt"}, {"one.txt", "two.txt"})


def test_planning_brings_a_moved_store_home(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = here.rename(tmp_path / "moved")
    monkeypatch.chdir(moved)
    store.follow_store()
    with closing(sqlite3.connect(DATABASE)) as connection:
        places = connection.execute("select artifact_location from experiments where name = 'pascal'").fetchall()
        places += connection.execute("select artifact_uri from runs").fetchall()
    assert len(places) == 2
    assert all(place.startswith((moved / "results/mlartifacts").as_uri()) for (place,) in places)


def test_a_damaged_database_is_told_at_once(here: Path) -> None:
    whole = DATABASE.read_bytes()
    for content in (whole[:30000], b"no database" * 1000):
        DATABASE.write_bytes(content)
        store.follow_store()  # planning goes on
        with pytest.raises(
            PascalError, match=r"results/mlflow.db cannot be used .* All results are kept; move it away"
        ):
            _put("two")


def test_a_locked_database_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_PATIENCE", 0.1)
    with closing(sqlite3.connect(DATABASE)) as other:
        other.execute("begin exclusive")
        store.follow_store()
        with pytest.raises(
            PascalError, match=r"locked\). All results are kept; end the program .* `snakemake --cores 1"
        ):
            _put("two")
    _put("two")


@pytest.mark.parametrize(
    "address",
    [
        "http://bob:hunter2@host:5000/path",
        "https://bob:hunter2@host",
        "postgresql+psycopg2://bob:hun@ter2:hunter2@host:5432/mlflow",
        "mysql://host/mlflow?user=bob&password=hunter2",
        "http://hunter2@host",
    ],
)
def test_credentials_are_masked_wherever_an_address_stands(address: str) -> None:
    text = masked(f"MLflow at '{address}': no answer\n(see {address})")
    assert "hunter2" not in text
    assert text.count("host") == 2
    assert masked(text) == text


def test_a_server_that_is_down_is_told_without_credentials() -> None:
    with pytest.raises(PascalError) as caught, open_sink("http://bob:hunter2@127.0.0.1:9"):
        pass
    assert "http://***@127.0.0.1:9 does not answer" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_texts_without_addresses_stay_as_they_are() -> None:
    text = "me@example.org: 3 files, key=value, results/plain/0/a.csv @ 12:00"
    assert masked(text) == text
