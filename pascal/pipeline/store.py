"""Where MLflow's store is, as planning knows it too: the address, and the database if it is a file of this disk."""

import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from pascal.errors import PascalError
from pascal.pipeline.canonical import digest
from pascal.pipeline.masking import masked

EXPERIMENT = "pascal"
_DEFAULT = "sqlite:///results/mlflow.db"
_SQLITE = re.compile(r"sqlite(?:\+\w+)?:///(?!:memory:)([^?]+)")
_PATIENCE = 5  # seconds for another program's write to end


def tracking_uri() -> str:
    """The address as the user gave it: of no file, log or message."""
    return os.environ.get("MLFLOW_TRACKING_URI") or _DEFAULT


def database(uri: str) -> Path | None:
    """The file behind an address, if it is one of SQLite's."""
    found = _SQLITE.match(uri)
    return Path(found[1]) if found else None


def tracked_file() -> str:
    """What `track` leaves behind for this store."""
    return f"work/mlflow/{digest(masked(tracking_uri()))}.json"


def follow_store() -> None:
    """At planning: a deleted database holds nothing any more, and one that was moved or copied is at home here."""
    file = database(tracking_uri())
    if file and not file.exists():
        Path(tracked_file()).unlink(missing_ok=True)
    elif file:
        with suppress(sqlite3.Error):  # `track` says so, and all results are kept
            bring_artifacts_along(file)


def artifact_place(file: Path) -> str:
    """The folder of artefacts beside a database, wherever the two are now."""
    return (file.parent / "mlartifacts").resolve().as_uri()


def check_database(file: Path) -> None:
    """Whether MLflow can read and write it: MLflow itself tries for a minute, and then shows a page of SQLAlchemy."""
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(file, timeout=_PATIENCE)) as connection:
            (found,) = connection.execute("pragma quick_check(1)").fetchone()
            connection.execute("begin immediate")
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        locked = "locked" in found
        what = "end the program that writes to it" if locked else f"move it away (mv {file} {file}.damaged)"
        raise PascalError(
            f"MLflow's database {file} cannot be used ({found}). All results are kept; {what}, then "
            "`snakemake --cores 1 track` uploads them"
        )


def bring_artifacts_along(file: Path) -> None:
    """MLflow keeps absolute paths: of a database that was moved or copied they must not lead back to the old place."""
    place = artifact_place(file)
    with closing(sqlite3.connect(file, timeout=_PATIENCE)) as connection, connection:
        query = "select experiment_id, artifact_location from experiments where name = ? and artifact_location != ?"
        for number, before in connection.execute(query, [EXPERIMENT, place]).fetchall():
            moved = {"new": place, "old": before, "length": len(before), "number": number}
            connection.execute("update experiments set artifact_location = :new where experiment_id = :number", moved)
            connection.execute(
                "update runs set artifact_uri = :new || substr(artifact_uri, :length + 1) "
                "where experiment_id = :number and substr(artifact_uri, 1, :length) = :old",
                moved,
            )
