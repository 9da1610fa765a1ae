"""Workloads: shapes and operations of each layer, and the spikes that really arrive."""

import pytest
import torch
from torch import Tensor, nn

import pascal
from benchmarks.networks import lively
from pascal import QCFS, LayerWorkload, PascalError
from pascal.graph import layer_shapes
from pascal.workload import workload_row, workloads_from_rows
from tests.graph.small import Branches


def images(size: int = 8) -> Tensor:
    return torch.randn(5, 3, size, size, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_synaptic_operations_by_brute_force() -> None:
    """Every spike of every timestep, times the synapses it reaches, borders and stride included."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3), QCFS(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), QCFS(),
        nn.Flatten(), nn.Linear(24, 3),
    )  # fmt: skip
    ann = lively(model, images(), [5, 3])
    layers = {layer.path: layer for layer in pascal.measure(ann, [images()[:2], images()[2:]])}
    _, trains = pascal.convert(ann).trains(images())
    pooled = nn.functional.max_pool2d(trains["1"].flatten(0, 1).double(), 2).unflatten(0, (5, 5))
    ones = torch.ones_like(ann[3].weight)
    reached = sum(float(nn.functional.conv2d(step, ones, None, 2, 1, 1, 2).sum()) for step in pooled)
    assert layers["3"].synaptic_operations == pytest.approx(reached / 5)
    assert layers["3"].producer_spikes_per_neuron == pytest.approx(float(pooled.sum(0).mean()))
    assert layers["3"].pool_operations == 4 * 36
    assert layers["6"].synaptic_operations == pytest.approx(float(trains["4"].sum()) * 3 / 5)
    assert layers["6"].nonzero_macs == pytest.approx(float((trains["4"].sum(0) > 0).sum()) * 3 / 5)
    assert layers["0"].synaptic_operations is None
    assert layers["0"].is_input
    assert layers["6"].is_readout


def test_ann_and_snn_ask_the_same() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    assert pascal.measure(ann, [images()]) == pascal.measure(pascal.convert(ann), [images()])


def test_residual_blocks() -> None:
    ann = lively(pascal.build_network("resnet18", width=0.125), images(32), [4] * 8 + [2] * 9)
    layers = {layer.path: layer for layer in pascal.measure(ann, [images(32)])}
    main, shortcut = layers["layer2.0.conv2"], layers["layer2.0.shortcut.0"]
    assert main.activation == shortcut.activation == "layer2.0.act2"
    assert (main.neurons, shortcut.neurons) == (16 * 16 * 16, 0)
    assert main.additions == 16 * 16 * 16
    assert main.producers == ("layer2.0.act1",)
    assert shortcut.producers == ("layer1.1.act2",)
    assert layers["fc"].pool_operations == 64 * 16
    # The sum of both branches goes on: a later block reads one train, whichever branch was longer.
    assert layers["layer3.0.conv1"].producer_levels == 2


def test_a_layer_behind_a_linear_bottleneck_reads_graded_currents() -> None:
    model = nn.Sequential(nn.Linear(4, 4), QCFS(), nn.Linear(4, 4), nn.Linear(4, 4), QCFS(), nn.Linear(4, 2))
    layers = layer_shapes(model, (4,))
    assert [layer.graded_input for layer in layers] == [False, False, True, False]
    assert [layer.activation for layer in layers] == ["1", None, "4", None]


def test_average_pooling_hands_its_spikes_on() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), QCFS(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(36, 2))
    ann = lively(model, images(), [4])
    layer = pascal.measure(ann, [images()])[1]
    _, counts = pascal.convert(ann).record(images())
    assert layer.synaptic_operations == pytest.approx(float(counts["1"].sum()) * 2 / 5)


def test_rows_round_trip() -> None:
    ann = lively(Branches(), images(), [4, 2, 3, 1, 8, 5])
    workloads = pascal.measure(ann, [images()]) + layer_shapes(ann, (3, 8, 8))
    assert workloads_from_rows([workload_row(workload) for workload in workloads]) == workloads


def test_bad_rows() -> None:
    row = workload_row(LayerWorkload("a", "conv", (3,), (4,)))
    with pytest.raises(PascalError, match="column 'macs' is missing"):
        workloads_from_rows([{key: value for key, value in row.items() if key != "macs"}])
    with pytest.raises(PascalError, match="row 0, column 'macs': cannot read 'many'"):
        workloads_from_rows([{**row, "macs": "many"}])


def test_bad_input() -> None:
    ann = lively(Branches(), images(), [4] * 6)
    with pytest.raises(PascalError, match="got no images"):
        pascal.measure(ann, [])


def test_deep_graphs_with_many_paths_are_measured() -> None:
    """ShuffleNet's splits and joins double the number of paths in every unit."""
    layers = layer_shapes(pascal.build_network("torchvision:shufflenet_v2_x1_0"), (3, 64, 64))
    assert len(layers) == 57
    assert not any(layer.graded_input for layer in layers if layer.path.endswith("branch2.0"))


def test_a_projection_does_not_own_the_neurons_of_a_bottleneck() -> None:
    layers = {layer.path: layer for layer in layer_shapes(pascal.build_network("timm:resnet26"), (3, 64, 64))}
    main, projection = layers["layer2.0.conv3"], layers["layer2.0.downsample.0"]
    assert projection.fan_in > main.fan_in
    assert main.is_main_path
    assert not projection.is_main_path
