"""`pascal.cost` says what its parts say, in one record that prints."""

import json

import pytest
import torch
from torch import nn

import pascal
from pascal.energy import INT8, total_pj
from pascal.energy.tables import networks_compared


@pytest.fixture(scope="module")
def ann() -> nn.Module:
    torch.manual_seed(0)
    network = pascal.build_network("resnet20", width=0.25).eval()
    for module in network.modules():
        if isinstance(module, pascal.QCFS):
            module.threshold = 1.0
    return network


IMAGES = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def test_the_record_is_the_sum_of_its_parts(ann: nn.Module) -> None:
    found, workloads = pascal.cost(ann, [(IMAGES, torch.zeros(4))]), pascal.measure(ann, IMAGES)
    assert list(found.workloads) == workloads
    assert found.images == 4
    assert found.macs == sum(layer.macs for layer in workloads)
    assert found.timesteps["t_eff"] == pascal.effective_timesteps(workloads)
    assert found.timesteps["t_total"] == 76
    assert found.energy_pj["int8"]["SNN PASC"] == total_pj(networks_compared(workloads, INT8)["SNN PASC"])
    assert set(found.energy_pj) == {"fp32", "int8"}
    assert found.simulation is None


@pytest.mark.parametrize("engine", ["steps", "counts"])
def test_an_snn_costs_what_its_ann_does(ann: nn.Module, engine: str) -> None:
    double = pascal.cost(ann.double(), IMAGES)
    assert pascal.cost(pascal.convert(ann, engine=engine), IMAGES).energy_pj == double.energy_pj
    ann.float()


def test_an_accelerator_reads_the_recorded_spikes(ann: nn.Module) -> None:
    snn = pascal.convert(ann, engine="counts")
    found = pascal.cost(snn, iter([IMAGES]), accelerator="loas").simulation
    direct = pascal.simulate(pascal.record(snn, IMAGES), "loas").summary()
    assert found == direct
    assert found["masks"] == "recorded images"
    assert pascal.cost(ann, IMAGES[:1], accelerator="sparten").simulation["neuron"] == "qcfs"


def test_plain_neurons_speak_for_themselves(ann: nn.Module) -> None:
    found = pascal.cost(pascal.convert(ann, neuron="if", timesteps=3), IMAGES, accelerator="loas")
    assert found.timesteps == {"timesteps": 3}
    assert set(found.energy_pj["fp32"]) == {"SNN IF", "ANN"}
    assert found.simulation is not None
    assert found.simulation["neuron"] == "if"


def test_it_prints(ann: nn.Module) -> None:
    found = pascal.cost(ann, IMAGES, accelerator="loas")
    for word in ("MACs of the ANN", "T_eff", "cycles on loas", "ANN zero-skipping low-bit", "no DRAM"):
        assert word in str(found)
    assert found._repr_html_().count("<table>") == 2
    assert json.loads(found.to_json())["macs"] == found.macs


def test_bad_input(ann: nn.Module) -> None:
    with pytest.raises(pascal.PascalError, match="accelerator"):
        pascal.cost(ann, IMAGES, accelerator="tpu")
    with pytest.raises(pascal.PascalError, match="no images"):
        pascal.cost(ann, [])
    with pytest.raises(pascal.PascalError, match="expected an iterable"):
        pascal.cost(ann, 3)
