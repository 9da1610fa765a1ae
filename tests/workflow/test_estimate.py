"""What a run will cost, told before it is queued: against what runs did cost."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from pascal.cli import main
from pascal.errors import PascalError
from pascal.pipeline.estimate import Recorded, estimate, jobs, read_records, seconds_of, start_seconds
from pascal.pipeline.parameters.file import load_params
from tests.workflow.workspace import ROOT

PRESET, TIMES = ROOT / "workflow/presets/cifar10-small.yaml", ROOT / "results/reference/cifar10"


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_every_stage_of_the_cifar_runs_is_told_within_a_factor_of_two() -> None:
    """Each run by the times of the others alone."""
    params = load_params(PRESET)
    real, told = defaultdict[str, float](float), defaultdict[str, float](float)
    for run in params.runs:
        own = json.loads(path.read_text())["seconds"] if (path := TIMES / f"{run}-0.json").exists() else {}
        others = read_records(params, TIMES, without=run)
        for job in jobs(params):
            if job.name == f"{run}-0" and job.stage in own and job.stage in others:
                real[job.stage] += own[job.stage]
                told[job.stage] += seconds_of(job.macs, others[job.stage], start_seconds(others))
    assert real.keys() >= {"train", "finetune", "histogram", "verify", "evaluate", "workload", "convert"}
    ratios = {stage: told[stage] / real[stage] for stage in real}
    assert all(0.5 < ratio < 2 for ratio in ratios.values()), ratios
    assert 0.8 < sum(told.values()) / sum(real.values()) < 1.25


def test_time_is_a_start_and_then_in_proportion() -> None:
    recorded = [Recorded(15, 100, 1e9), Recorded(25, 300, 2e9)]
    assert seconds_of(4e9, recorded, 5) == 45
    assert seconds_of(0, recorded, 5) == 5  # nothing is computed
    assert seconds_of(4e9, [Recorded(15, 100, 0), Recorded(17, 100, 0)], 5) == 16


def test_jobs_are_those_of_the_pipeline() -> None:
    found = estimate(load_params(Path("params.yaml")), load_params(PRESET), TIMES, 2)
    counts = {stage.stage: stage.jobs for stage in found.stages}
    assert counts == {
        **dict.fromkeys(("train", "given", "retrain", "finetune", "assign"), 4),
        **dict.fromkeys(("histogram", "convert", "verify", "evaluate", "workload", "energy", "hardware", "compare"), 8),
    }
    assert found.elapsed_hours == max(found.hours / 2, found.longest_hours)


def test_the_command_tells_and_says_what_it_does_not_know(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    known = ["--recorded", str(PRESET), "--times", str(TIMES)]
    assert main(["plan-run", "workflow/presets/paper.yaml", *known, "--at-once", "8"]) == 0
    said = capsys.readouterr().out
    assert "none: not counted" in said
    assert "8 at once: " in said
    assert main(["plan-run", "--times", str(tmp_path)]) == 2
    assert "expected the logs/times of a pipeline that ran" in capsys.readouterr().err
    assert main(["plan-run", *known, "--at-once", "0"]) == 2
    with pytest.raises(PascalError, match="no times of the runs"):
        estimate(load_params(PRESET), load_params(PRESET), tmp_path)
