"""Settings of every test: reproducible property tests without deadlines, one thread per worker."""

import pytest
import torch
from hypothesis import settings

settings.register_profile("pascal", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("pascal")
torch.set_num_threads(1)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that run the pipeline share one completed workspace, hence one worker and one mark."""
    for item in items:
        if {"computed", "completed", "untouched"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group("pipeline"))
            item.add_marker(pytest.mark.pipeline)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests on real data and checkpoints ran, so that none is skipped unseen."""
    seen = {outcome: terminalreporter.getreports(outcome) for outcome in ("passed", "failed", "skipped")}
    real = {outcome: sum("real" in report.keywords for report in reports) for outcome, reports in seen.items()}
    ran = real["passed"] + real["failed"]
    terminalreporter.write_line(f"tests on real data and checkpoints: {ran} ran, {real['skipped']} skipped")
