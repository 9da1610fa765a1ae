"""One completed tiny workspace, made once and copied for each test that changes it."""

from pathlib import Path

import pytest

from tests.workflow.workspace import Workspace, make_workspace, tiny_params


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which nothing has run."""
    return make_workspace(tmp_path_factory.mktemp("untouched") / "workspace", tiny_params())


@pytest.fixture(scope="session")
def computed(untouched: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace after `snakemake all`, one job after another."""
    workspace = untouched.copy(tmp_path_factory.mktemp("computed") / "workspace")
    workspace.snakemake("all", cores=1).check()
    return workspace


@pytest.fixture(scope="session")
def completed(computed: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace after `snakemake all`, `dvc repro` and a commit; what DVC ran stands in `first_repro`."""
    workspace = computed.copy(tmp_path_factory.mktemp("completed") / "workspace")
    workspace.first_repro = workspace.dvc("repro").check()
    workspace.commit("results")
    return workspace


@pytest.fixture
def workspace(completed: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the completed workspace, free to change."""
    return completed.copy(tmp_path / "workspace")
