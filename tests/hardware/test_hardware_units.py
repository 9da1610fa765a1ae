"""Neuron units: cycles of the algorithms."""

import pytest

from pascal.hardware import accelerator_from_params
from pascal.hardware.units import unit_cost
from pascal.workload import LayerWorkload


def _layer(timesteps: int | None, levels: int | None) -> LayerWorkload:
    return LayerWorkload("layer", "linear", (8,), (8,), producer_levels=timesteps, levels=levels, neurons=8)


def _cost(neuron: str, timesteps: int | None, levels: int | None, **block: object) -> tuple[int, int, int, int]:
    cost = unit_cost(accelerator_from_params(block), neuron, _layer(timesteps, levels))
    return cost.cycles, cost.membrane_updates, cost.counter_updates, cost.qcfs


@pytest.mark.parametrize(
    ("timesteps", "levels", "cycles"),
    [(4, 4, 11), (8, 8, 23), (1, 4, 8), (8, 4, 19)],  # L_{n−1} + max − 1 + L_n
)
def test_serial_pasc_takes_the_cycles_of_algorithm_1(timesteps: int, levels: int, cycles: int) -> None:
    assert _cost("pasc", timesteps, levels) == (cycles, cycles, timesteps + max(timesteps, levels) - 1, 0)


def test_pasc_at_equal_levels_does_the_papers_operations() -> None:
    for levels in (1, 2, 4, 8):  # 3L − 1 resets, 2L − 1 counter updates
        assert _cost("pasc", levels, levels)[1:3] == (3 * levels - 1, 2 * levels - 1)


def test_the_first_layer_is_algorithm_2_unless_the_image_is_repeated() -> None:
    assert _cost("pasc", None, 4) == (5, 5, 0, 0)
    assert _cost("pasc", None, 4, image_timesteps="levels") == _cost("pasc", 4, 4)


def test_other_units() -> None:
    assert _cost("if", 4, 4) == (1, 4, 0, 0)
    assert _cost("if", None, 4) == (1, 4, 0, 0)
    assert _cost("if", 4, 4, if_unit="serial") == (6, 4, 0, 0)
    assert _cost("pasc", 4, 4, pasc_unit="flat") == (1, 4, 0, 1)
    assert _cost("qcfs", 4, 4) == (1, 0, 0, 1)
    assert _cost("pasc", 4, None) == (0, 0, 0, 0)


def test_a_projection_owns_no_neurons() -> None:
    projection = LayerWorkload(
        "shortcut", "linear", (8,), (8,), producer_levels=4, activation="act", levels=4, neurons=0
    )
    assert unit_cost(accelerator_from_params("pascal40"), "pasc", projection).cycles == 0
