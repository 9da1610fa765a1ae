"""Settings of every test: reproducible property tests without deadlines, one thread per worker."""

import pytest
import torch
from hypothesis import settings

settings.register_profile("pascal", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("pascal")
torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the pipeline share one completed workspace, hence one worker."""
    for item in items:
        if "workflow" in item.path.parts:
            item.add_marker(pytest.mark.xdist_group("workflow"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests on real data and checkpoints ran, so that none is skipped unseen."""
    seen = {outcome: terminalreporter.getreports(outcome) for outcome in ("passed", "failed", "skipped")}
    real = {outcome: sum("real" in report.keywords for report in reports) for outcome, reports in seen.items()}
    ran = real["passed"] + real["failed"]
    terminalreporter.write_line(f"tests on real data and checkpoints: {ran} ran, {real['skipped']} skipped")
