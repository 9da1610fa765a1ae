"""What the audit learns from runs: full-width networks alone, accuracies and simulated machines."""

import pandas as pd

from pascal.hardware import compare_machines
from pascal.pipeline.rows import measured_here
from pascal.report.results import RunResults
from tests.hardware.shapes import small_trace


def test_full_width_runs_are_measured_and_narrow_ones_are_not() -> None:
    _, machines = compare_machines(small_trace(), small_trace(words=True))
    files = {"levels": {"act1": 4, "act2": 2}, "accuracy": {"ann_accuracy": 0.95, "snn_accuracy": 0.94}}
    files["hardware"] = pd.DataFrame([run.summary() for run in machines.values()])
    wide, narrow = (RunResults("run", 0, "cifar10", "vgg16", width=width, files=files) for width in (1.0, 0.25))
    found = {number.quantity: number for number in measured_here([wide, narrow])}
    assert {number.levels for number in found.values()} == {(4, 2)}
    assert found["SNN accuracy %"].value == 94
    assert found["PASC latency s"].value == machines["pasc blocking"].latency_s * 1e4
    assert found["ANN energy mJ"].value == machines["ann"].summary()["energy_mj_per_10000"]
    assert "pascal40, 16 PEs, memory on" in found["IF neurons' energy mJ"].conditions
    assert len(found) == 2 + 3 * 3
    assert not list(measured_here([narrow]))
