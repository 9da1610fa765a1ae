"""The paper's networks, their shapes typed by hand."""

import pytest

from pascal.workload import LayerWorkload
from tests.energy import shapes


@pytest.fixture(scope="session")
def networks() -> dict[str, list[LayerWorkload]]:
    return shapes.audit_networks()
