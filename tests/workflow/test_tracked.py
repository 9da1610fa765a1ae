"""What MLflow is told: names that tell ablations apart, times of jobs, means and spread."""

from pathlib import Path

import pytest

from pascal.pipeline import times
from pascal.pipeline.sink import Entry, open_sink
from pascal.pipeline.tracked import _over_seeds
from pascal.pipeline.view import TAGS


def _entry(key: str, **params: object) -> Entry:
    return Entry(key=key, name="vgg", params=params, tags={"run": "vgg", "stage": "all"}, seconds=90.5)


def test_ablations_are_named_by_what_is_edited_and_last_as_long_as_their_jobs(tmp_path: Path) -> None:
    with open_sink(f"sqlite:///{tmp_path}/mlflow.db") as sink:
        sink.put(_entry("a", epochs=12, k=1.0, levels=4))
        edited = sink.put(_entry("b", epochs=12, k=0.5, levels=4))
        sink.put(_entry("c", epochs=3, k=0.75, levels=8))
        assert sink.put(_entry("b", epochs=12, k=0.5, levels=4)) == edited  # the same again is the same run
        runs = sink.client.search_runs([sink.experiment])
        assert {run.info.run_name for run in runs} == {
            "vgg", "vgg, k=0.5", "vgg, epochs=3, k=0.75, 1 more",
        }  # fmt: skip
        assert {run.info.end_time - run.info.start_time for run in runs} == {90_500}
        assert TAGS.items() <= sink.client.get_experiment(sink.experiment).tags.items()


def test_numbers_over_seeds() -> None:
    found = [{"accuracy": 0.5, "t_norm": 4.0}, {"accuracy": 0.7}]
    assert _over_seeds(found) == pytest.approx({"accuracy": 0.6, "accuracy_std": 0.02**0.5})
    assert _over_seeds(found[:1]) == found[0]


def test_times_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, took in (("train/a-0", 2.5), ("train/a-1", 4), ("energy/a-0", 1), ("train/a-b-0", 100)):
        file = times.TIMES / f"{name}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"s\th:m:s\n{took}\t0:00:02\n")
    assert times.seconds("a", [0, 1]) == 7.5
    assert times.seconds("a", [0], ["energy", "hardware"]) == 1
    assert times.seconds("a", [2]) is None
