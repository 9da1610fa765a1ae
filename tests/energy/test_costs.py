"""Costs come from a plain mapping, and nothing wrong in it passes."""

import math

import pytest

from pascal.energy import FP32, INT8, EnergyCosts
from pascal.errors import PascalError

PARAMS = {"bits": 8, "add_pj": 0.03, "multiply_pj": 0.2, "read_pj_per_byte": 2.5, "write_pj_per_byte": 2.5}


def test_parameters_make_the_preset():
    assert EnergyCosts.from_params(PARAMS) == INT8


def test_mac_is_a_multiplication_and_an_addition():
    assert math.isclose(FP32.mac_pj(), 4.6)
    assert math.isclose(INT8.mac_pj(), 0.23)


def test_multiplier_shrinks_with_the_bits_of_the_activation():
    assert math.isclose(INT8.mac_pj(3), 0.03 + 0.2 * 3 / 8)
    assert INT8.mac_pj(16) == INT8.mac_pj(8) == INT8.mac_pj()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"add_pj": -0.9}, "'add_pj': got -0.9"),
        ({"multiply_pj": math.nan}, "'multiply_pj': got nan"),
        ({"read_pj_per_byte": "2.5"}, "'read_pj_per_byte': got '2.5'"),
        ({"write_pj_per_byte": None}, "'write_pj_per_byte': got None"),
        ({"add_pj": True}, "'add_pj': got True"),
        ({"add_pj": 0}, "'add_pj': got 0"),
        ({"bits": 7.5}, "'bits': got 7.5"),
        ({"bits": 0}, "'bits': got 0"),
        ({"divide_pj": 1.0}, r"\['divide_pj'\] are unknown"),
    ],
)
def test_bad_cost_is_refused_by_name(change, message):
    with pytest.raises(PascalError, match=message):
        EnergyCosts.from_params(PARAMS | change)


def test_missing_cost_is_refused_by_name():
    with pytest.raises(PascalError, match=r"\['add_pj', 'bits'\] are missing"):
        EnergyCosts.from_params({name: PARAMS[name] for name in PARAMS if name not in ("bits", "add_pj")})


def test_costs_must_be_a_mapping():
    with pytest.raises(PascalError, match="expected a mapping"):
        EnergyCosts.from_params(4.6)
