"""What the reference pages say is what the reference files hold; the code itself is tested elsewhere."""

import csv
import json
from pathlib import Path

from benchmarks.publishing.engines_page import RESULTS
from benchmarks.studies.certificate import PUBLIC

REFERENCE = Path(__file__).parents[1] / "results" / "reference"


def _certificate(dtype: str) -> dict[str, int]:
    return json.loads((REFERENCE / f"resnet20_cifar10_{dtype}.json").read_text())


def test_the_page_tells_the_recorded_float64_certificate() -> None:
    certificate = _certificate("float64")
    page = (REFERENCE / "README.md").read_text()
    assert certificate["images"] == 10_000
    assert f"{certificate['count_mismatches']} of {certificate['neurons']:,} counts differ" in page
    assert certificate["count_mismatches"] == certificate["prediction_mismatches"] == 0


def test_the_page_tells_the_recorded_float32_certificate() -> None:
    certificate = _certificate("float32")
    page = (REFERENCE / "README.md").read_text()
    assert f"{certificate['count_mismatches']:,} counts" in page
    assert f"{certificate['prediction_mismatches']} predictions differ" in page


def test_the_recorded_table_of_plain_if() -> None:
    with (REFERENCE / "resnet20_cifar10_plain_if.csv").open() as file:
        rows = list(csv.DictReader(file))
    correct = {(row["neuron"], int(row["timesteps"])): int(row["correct"]) for row in rows}
    assert correct["plain IF", 1] < correct["plain IF", 8] < correct["PASC", 8]
    assert {row["images"] for row in rows} == {"2000"}


def test_the_recorded_certificates_of_the_engines() -> None:
    with (RESULTS / "engines_certificate.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if "float32" not in row["first"]]
    assert {row["count_mismatches"] for row in rows} == {"0"}
    for pair in (("integer steps", "integer counts"), ("steps, float64", "counts, float64")):
        images = {row["ann"]: row["images"] for row in rows if (row["first"], row["second"]) == pair}
        assert images[PUBLIC] == "10000"
        assert len(images) == 3  # two networks trained here beside it
