"""Rows for tables and files, from shapes written by hand and from networks that were really measured."""

from dataclasses import replace
from math import isclose

import pytest
import torch

from pascal.audit import AUDIT_NETWORKS
from pascal.energy import FP32, INT8, energy_rows, energy_summary, layer_table, ratio_table, sensitivity, total_macs
from pascal.errors import PascalError
from pascal.graph import layer_shapes, measure
from pascal.networks import build_network

COSTS = {"fp32": FP32, "int8": INT8}


def test_layer_table_is_the_appendix(vgg):
    rows = layer_table(vgg)
    assert rows[0] == {  # App. A.5, first row
        "layer": "conv1_1", "kind": "conv", "input_size": "3×32×32", "output_size": "64×32×32", "kernel": "3×3",
        "macs": 1_769_472,
    }  # fmt: skip
    assert (rows[-1]["layer"], rows[-1]["macs"], rows[-1]["kind"]) == ("total", 332_111_872, "")


def test_empty_layer_table_is_refused():
    with pytest.raises(PascalError, match="got none"):
        layer_table([])


def test_ratio_table_has_a_row_for_each_activation(vgg):
    rows = ratio_table(vgg)
    assert len(rows) == 15
    assert isclose(rows[1]["operation_ratio"], 1 / (576 * 0.75))
    assert (rows[0]["timesteps"], rows[1]["timesteps"]) == (None, 4)


def test_energy_rows_name_costs_network_and_layer(measured_vgg):
    rows = energy_rows(measured_vgg, COSTS)
    assert len(rows) == 2 * 6 * 16
    assert len({(row["costs"], row["network"], row["path"]) for row in rows}) == len(rows)
    parts = [name for name in rows[0] if name.endswith("_pj") and name != "total_pj"]
    assert all(isclose(row["total_pj"], sum(row[name] for name in parts)) for row in rows)


def test_summary_of_a_uniform_network_by_hand(measured_vgg):
    summary = energy_summary(measured_vgg, COSTS)
    assert round(summary["t_norm"], 3) == round(summary["t_eff"], 3) == 4.202
    assert (summary["t_total"], summary["sequential_latency_timesteps"]) == (60, 102)
    assert summary["spikes_per_neuron"] == 0.5
    assert round(summary["first_layer_share"], 3) == 0.005
    assert isclose(summary["ann_snn_ratio_paper_int8"], summary["ann_snn_ratio_exact_int8"])


def test_layerwise_network_has_no_normalised_timesteps(measured_vgg):
    layerwise = [replace(measured_vgg[0], levels=2), *measured_vgg[1:]]
    assert "t_norm" not in energy_summary(layerwise, COSTS)


def test_latency_is_left_out_where_a_producer_has_no_record(measured_vgg):
    orphaned = [*measured_vgg[:3], replace(measured_vgg[3], producers=("between",)), *measured_vgg[4:]]
    assert energy_summary(measured_vgg, COSTS).keys() - energy_summary(orphaned, COSTS).keys() == {
        "sequential_latency_timesteps"
    }


@pytest.mark.parametrize("name", ["vgg16", "resnet18", "resnet20"])
def test_measured_network_runs_through_every_figure(name):
    torch.manual_seed(0)
    ann = build_network(name, levels=4, width=0.125)
    workloads = measure(ann.eval(), [torch.rand(4, 3, 32, 32)])
    summary = energy_summary(workloads, COSTS)
    assert all(value > 0 for value in summary.values())
    assert summary["energy_ratio_fp32"] > 1
    # A neuron that fires at all fires at least once, so spikes never reach fewer synapses than non-zero inputs do.
    spiking_layers = [layer for layer in workloads if not layer.is_input]
    assert all(layer.synaptic_operations >= layer.nonzero_macs for layer in spiking_layers)
    assert {row.winner for row in sensitivity(workloads, COSTS)} <= {"ANN", "SNN"}


@pytest.mark.parametrize("name", AUDIT_NETWORKS)
def test_networks_have_the_published_shapes(networks, name):
    size = AUDIT_NETWORKS[name]["image_size"]
    built = layer_shapes(build_network(**AUDIT_NETWORKS[name]), (3, size, size))
    assert sorted(map(_shape, built)) == sorted(map(_shape, networks[name]))
    assert total_macs(built) == total_macs(networks[name])


def _shape(layer):
    return (layer.kind, layer.macs, layer.fan_in, layer.neurons, layer.output_shape, layer.is_input, layer.additions)
