"""Sweeps: one entry, many runs, each with a name that says what differs."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pascal.errors import PascalError
from pascal.pipeline import check
from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.runs import Params
from pascal.pipeline.parameters.sweep import MOST_RUNS, expand, written_out
from tests.workflow.workspace import tiny_params


def _load(folder: Path, runs: dict[str, Any]) -> Params:
    file = folder / "params.yaml"
    file.write_text(yaml.safe_dump(tiny_params() | {"runs": runs}, sort_keys=False))
    return load_params(file)


PLAIN = {"dataset": "digits", "network": "vgg16", "width": 0.0625}


def test_a_grid_becomes_runs_with_names_that_say_what_differs(tmp_path: Path) -> None:
    sweep = {"levels": [2, 4], "train.learning_rate": [0.01, 0.04]}
    params = _load(tmp_path, {"vgg": PLAIN | {"sweep": sweep}})
    found = {name: (run.settings.levels, run.settings.train.learning_rate) for name, run in params.runs.items()}
    assert found == {
        "vgg-levels2-learning_rate0_01": (2, 0.01),
        "vgg-levels2-learning_rate0_04": (2, 0.04),
        "vgg-levels4-learning_rate0_01": (4, 0.01),
        "vgg-levels4-learning_rate0_04": (4, 0.04),
    }
    assert {run.settings.train.epochs for run in params.runs.values()} == {3}  # what the sweep does not say stays


def test_runs_that_start_from_a_sweep_are_as_many(tmp_path: Path) -> None:
    runs = {
        "vgg": PLAIN | {"sweep": {"levels": [4, 8]}},
        "al": {"from": "vgg", "adapt": {"clusters": 3}, "sweep": {"adapt.values": [[4, 2, 1], [8, 4, 2]]}},
        "one": {"from": "vgg-levels8", "adapt": {"k": 2.0}},
    }
    params = _load(tmp_path, runs)
    starts = {name: run.start for name, run in params.runs.items() if run.start}
    assert starts == {
        "al-levels4-values4_2_1": "vgg-levels4",
        "al-levels4-values8_4_2": "vgg-levels4",
        "al-levels8-values4_2_1": "vgg-levels8",
        "al-levels8-values8_4_2": "vgg-levels8",
        "one": "vgg-levels8",
    }
    assert params.runs["al-levels8-values8_4_2"].settings.adapt.values == (8, 4, 2)  # type: ignore[union-attr]


def test_keys_that_end_alike_are_told_apart() -> None:
    sweep = {"verify.images": [4], "evaluate.images": [8]}
    runs, faults = expand({"vgg": PLAIN | {"sweep": sweep}})
    assert (list(runs), faults) == (["vgg-verify_images4-evaluate_images8"], [])


@pytest.mark.parametrize(
    ("sweep", "told"),
    [
        (
            {"levels": 4},
            r"runs.vgg.sweep: got \{'levels': 4\}, expected keys of a run, as train.learning_rate, each with a",
        ),
        ({}, r"runs.vgg.sweep: got \{\}, expected keys of a run"),
        ([4], r"runs.vgg.sweep: got \[4\], expected keys of a run"),
        ({"levels": []}, r"runs.vgg.sweep: got .*, expected keys of a run"),
        ({"Train rate": [1]}, r"runs.vgg.sweep: got .*, expected keys of a run"),
        ({"levels": [4, 4]}, r"runs.vgg.sweep: got .*, expected values with names of their own, none twice"),
        ({"levels": [4, 0]}, r"runs.vgg-levels0.levels: got 0, expected"),
        (
            {"levels": [4], "train.lerning_rate": [1.0]},
            r"runs.vgg-levels4-lerning_rate1_0.train.lerning_rate: unknown key",
        ),
        ({f"train.k{n}": list(range(100)) for n in range(3)}, rf"got 1000000 runs, expected at most {MOST_RUNS}"),
        ({"levels": [4], "from": ["other"]}, r"runs.vgg-levels4-fromother"),
    ],
)
def test_faults_of_a_sweep_name_it(sweep: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=told):
        _load(tmp_path, {"vgg": PLAIN | {"sweep": sweep}})


def test_a_point_may_not_be_called_as_another_run(tmp_path: Path) -> None:
    runs = {"vgg": PLAIN | {"sweep": {"levels": [4]}}, "vgg-levels4": PLAIN | {"levels": 2}}
    told = r"runs.vgg.sweep: got the run 'vgg-levels4' twice"
    with pytest.raises(ParameterError, match=told):
        _load(tmp_path, runs)
    with pytest.raises(PascalError, match=told):  # one of the two would be lost
        written_out(yaml.safe_dump({"runs": runs}))


def test_dvc_is_told_to_have_the_runs_written_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swept = _load(tmp_path, {"vgg": PLAIN | {"sweep": {"levels": [4, 8]}}, "al": {"from": "vgg", "adapt": {"k": 1.0}}})
    file = tmp_path / "params.yaml"
    assert check.main([str(file)]) == 0
    assert check.main(["--every-run", str(file)]) == 1
    assert f"python -m pascal.pipeline.parameters.sweep {file}" in capsys.readouterr().err
    text = "# mine\n" + file.read_text() + "# the end\n"
    file.write_text(written_out(text))
    assert check.main(["--every-run", str(file)]) == 0
    assert load_params(file).runs.keys() == swept.runs.keys()
    assert file.read_text().startswith("# mine\ndefaults:")
    assert file.read_text().endswith("# the end\n")
