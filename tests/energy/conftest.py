"""Networks that the tests of energy share."""

import pytest

from tests.energy import shapes


@pytest.fixture(scope="session")
def networks():
    return shapes.audit_networks()


@pytest.fixture(scope="session")
def vgg(networks):
    return networks["vgg16-cifar10"]


@pytest.fixture
def measured_vgg(vgg):
    return shapes.spiking(vgg)
