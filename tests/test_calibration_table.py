"""The table of calibrated networks is what the recorded files hold; what is not recorded is left empty."""

import json
from pathlib import Path

from benchmarks.publishing.calibration_table import NONE, PAGE, REFERENCE, section
from benchmarks.publishing.pages import with_section


def test_readme_tells_what_the_files_hold() -> None:
    page = PAGE.read_text()
    assert "<!-- calibration -->" in page
    assert page == with_section(page, "calibration", section(REFERENCE)), (
        "run python -m benchmarks.publishing.calibration_table"
    )


def test_rows_come_from_the_files(tmp_path: Path) -> None:
    (tmp_path / "calibration").mkdir()
    counts = {"count_mismatches": 7, "neurons": 1234, "images": 5}
    record = {
        "accuracy": {"relu": 0.5, "ridge": 0.4321},
        "seconds": {"ridge": 12.4},
        "certificates": {"integer": counts},
        "calibration_images": 9,
        "test_images": 20,
    }
    (tmp_path / "calibration" / "resnet20-l8.json").write_text(json.dumps(record))
    rows = {line.split("|")[1].strip(): line for line in section(tmp_path).splitlines() if line.startswith("|")}
    cells = [cell.strip() for cell in rows["8"].strip("|").split("|")]
    assert cells == ["8", "50.00", "43.21", "12", NONE, NONE, NONE, "7 of 1,234 (5 images)", "9 / 20"]
    assert rows["4"].count(NONE) == 8


def test_recorded_certificates_have_no_mismatch() -> None:
    for path in (REFERENCE / "calibration").glob("*.json"):
        for name, found in json.loads(path.read_text()).get("certificates", {}).items():
            assert found["count_mismatches"] == found["prediction_mismatches"] == 0, (path.name, name)
