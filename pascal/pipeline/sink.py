"""MLflow as a sink: runs are put there by key; the same key again updates, another key stands beside it."""

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pascal.errors import PascalError
from pascal.pipeline.masking import masked
from pascal.pipeline.store import EXPERIMENT, artifact_place, bring_artifacts_along, check_database, database
from pascal.pipeline.view import TAGS

os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

_KEY, _PARENT = "pascal.key", "mlflow.parentRunId"
_ATTEMPTS = 5
_BATCH = 900  # MLflow takes 1,000 metrics in one call

Curve = list[tuple[int, float]]  # (step, value)


@dataclass(frozen=True)
class Entry:
    """What one MLflow run shall hold; `key` is the digest of its parameters and seed."""

    key: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    artifacts: Sequence[tuple[str, str]] = ()  # (file, folder within the run)
    tags: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None  # that the jobs took; without it the time of the upload


class Sink:
    """One MLflow store."""

    def __init__(self, uri: str) -> None:
        self.client = MlflowClient(uri)
        file = database(uri)
        if file and self.client.get_experiment_by_name(EXPERIMENT):
            bring_artifacts_along(file)
        self.experiment = self._open_experiment(artifact_place(file) if file else None)
        for name, value in TAGS.items():
            self._tag_experiment(name, value)

    def _tag_experiment(self, name: str, value: str) -> None:
        """Once: clients that set a tag together would be refused by the database."""
        if self._tags().get(name) != value:
            try:
                self.client.set_experiment_tag(self.experiment, name, value)
            except MlflowException:
                if self._tags().get(name) != value:  # else someone was faster
                    raise

    def _tags(self) -> Mapping[str, str]:
        return self.client.get_experiment(self.experiment).tags

    def _open_experiment(self, location: str | None) -> str:
        """The experiment of this name, which another client may be creating at the same moment."""
        refused: MlflowException | None = None
        if not (known := self.client.get_experiment_by_name(EXPERIMENT)):
            try:
                self.client.create_experiment(EXPERIMENT, location, dict(TAGS))
            except MlflowException as error:
                refused = error
            known = self.client.get_experiment_by_name(EXPERIMENT)
        if known is None:
            raise refused or MlflowException(f"no experiment {EXPERIMENT!r} in this store")
        return str(known.experiment_id)

    def put(self, entry: Entry, parent: str | None = None) -> str:
        """Create or update the run with this entry's key; gives its MLflow id."""
        below = {_PARENT: parent} if parent else {}
        refused: MlflowException | None = None
        for _ in range(_ATTEMPTS):
            run = self._find(entry.key)
            if run is not None and not self._agrees(run, entry):
                self._delete(run)  # a curve cannot be taken back
                run = None
            if run is None:
                name = entry.name if parent else self._told_apart(entry)
                start = int(1000 * (time.time() - (entry.seconds or 0)))
                self.client.create_run(self.experiment, start, {_KEY: entry.key, **below}, name)
                run = self._find(entry.key)
            if run is None:
                continue
            try:
                self._fill(run, replace(entry, tags={**entry.tags, **below}))
                if self._alive(run):
                    return str(run.info.run_id)
            except MlflowException as error:  # others may fill it at the same moment, or have deleted it: look again
                refused = error
        raise refused or MlflowException(f"other clients keep deleting the run {entry.name!r}")

    def _alive(self, run: Run) -> bool:
        return str(self.client.get_run(run.info.run_id).info.lifecycle_stage) == "active"

    def _find(self, key: str) -> Run | None:
        """The one run with a key: where clients created several at once, all of them keep the same one."""
        found = self.client.search_runs([self.experiment], f"tags.`{_KEY}` = '{key}'")
        ordered = sorted(found, key=lambda run: (run.info.start_time, run.info.run_id))
        for other in ordered[1:]:
            self._delete(other)
        return ordered[0] if ordered else None

    def _delete(self, run: Run) -> None:
        try:
            self.client.delete_run(run.info.run_id)
        except MlflowException:
            if self._alive(run):  # else someone was faster
                raise

    def _told_apart(self, entry: Entry) -> str:
        """The name of a run; of an ablation with what was edited in it, beside the run that is most like it."""
        runs = self.client.search_runs([self.experiment], "tags.stage = 'all'")
        edits = [_edits(run.data.params, entry.params) for run in runs if run.data.tags.get("run") == entry.name]
        if not edits:
            return entry.name
        fewest = min(edits, key=len)
        return ", ".join([entry.name, *fewest[:2], *([f"{len(fewest) - 2} more"] if len(fewest) > 2 else [])])

    def _agrees(self, run: Run, entry: Entry) -> bool:
        """Whether the run's curves are a beginning of the entry's, or not there yet."""
        for name, curve in entry.curves.items():
            there = sorted({(point.step, point.value) for point in self._history(run, name)})
            if there and there != sorted(curve):
                return False
        return True

    def _history(self, run: Run, name: str) -> Sequence[Metric]:
        return self.client.get_metric_history(run.info.run_id, name) if name in run.data.metrics else []

    def _fill(self, run: Run, entry: Entry) -> None:
        number, there = run.info.run_id, run.data
        fresh = {name: value for name, value in entry.metrics.items() if there.metrics.get(name) != value}
        metrics = [Metric(name, value, 0, 0) for name, value in fresh.items()]
        for name, curve in entry.curves.items():
            if name not in there.metrics:
                metrics += [Metric(name, value, 0, step) for step, value in curve]
        params = [Param(name, str(value)) for name, value in entry.params.items() if name not in there.params]
        for first in range(0, len(metrics), _BATCH):
            self.client.log_batch(number, metrics=metrics[first : first + _BATCH])
        for first in range(0, len(params), 90):
            self.client.log_batch(number, params=params[first : first + 90])
        self.client.log_batch(number, tags=[RunTag(name, value) for name, value in entry.tags.items()])
        for file, folder in entry.artifacts:
            self.client.log_artifact(number, file, folder)
        end = None if entry.seconds is None else run.info.start_time + int(1000 * entry.seconds)
        self.client.set_terminated(number, end_time=end)


def _edits(before: Mapping[str, str], after: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in after.items() if before.get(name) != str(value)]


@contextmanager
def open_sink(uri: str) -> Iterator[Sink]:
    """A store that is there; what goes wrong in it loses nothing, for all results are in files already."""
    if file := database(uri):
        check_database(file)
    else:
        _check_reachable(uri)
    try:
        yield Sink(uri)
    except (MlflowException, SQLAlchemyError) as error:
        raise _unusable(uri, error) from error


def _check_reachable(uri: str) -> None:
    if not uri.startswith("http"):
        return
    scheme, _, rest = uri.partition("://")
    address = f"{scheme}://{rest.rpartition('@')[2].rstrip('/')}/health"
    try:
        urllib.request.urlopen(address, timeout=10).close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        if not isinstance(error, urllib.error.HTTPError) or error.code >= 500:  # who asks for a password is there
            raise _unusable(uri, error) from error


def _unusable(uri: str, error: Exception) -> PascalError:
    said = " ".join(masked(str(error)).split())
    return PascalError(
        f"MLflow at {masked(uri)} does not answer ({said[:300]}). All results are kept; when it can be used, "
        "`snakemake --cores 1 track` uploads them"
    )


def flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested parameters under dotted names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= flatten(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat
