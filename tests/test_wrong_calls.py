"""Every public door called wrongly, argument by argument: all refused by name, none fails inside, none passes."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pascal
from pascal import QCFS, PascalError
from pascal.graph.integer import Pixels

NAN, INF = float("nan"), float("inf")
NOT_A_NUMBER = (None, "1", [1.0], {}, nn.Linear)
NOT_LEVELS = (0, -1, 1.5, "4", None, True, 2**30, NAN, {}, nn.Linear)
NOT_A_MODEL = (None, "resnet18", 3, nn.Linear, {"fc": nn.Linear(2, 2)}, [nn.Linear(2, 2)], torch.zeros(2), np.zeros(2))
NOT_BATCHES = (None, "images", 3, {"x": torch.zeros(2, 3, 8, 8)}, np.zeros((2, 3, 8, 8)), [], [None], ["x"], [{}],
               [np.zeros((2, 3, 8, 8))], torch.zeros(8), torch.zeros(0, 3, 8, 8), [torch.zeros(2, 5, 8, 8)],
               [torch.full((2, 3, 8, 8), NAN)], [torch.full((2, 3, 8, 8), INF)], [torch.zeros(2, 3, 8, 8).long()],
               nn.Linear, object())  # fmt: skip
NOT_A_CHOICE = (None, "", "fast", 3, [], QCFS)
NOT_A_SEED = (None, "0", 1.5, [1])


def network() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        QCFS(4, 1.0),
        nn.Conv2d(4, 4, 3),
        QCFS(2, 1.0),
        nn.Flatten(),
        nn.Linear(64, 3),
    )
    return layers.eval()


def relu_network() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3), nn.ReLU()).eval()


def changed(change: Callable[[Any], Any]) -> nn.Module:
    """The network with something broken in it."""
    model = network()
    with torch.no_grad():
        change(model)
    return model


def broken() -> tuple[Any, ...]:
    """Networks that no engine can run exactly."""
    return (
        *NOT_A_MODEL,
        changed(lambda m: m[0].weight.fill_(NAN)),
        changed(lambda m: m[1].running_var.fill_(-1.0)),
        changed(lambda m: m[1].running_mean.fill_(INF)),
        changed(lambda m: m.train()),
        changed(lambda m: m[3].double()),
        nn.Sequential(nn.LazyConv2d(4, 3), QCFS(4)).eval(),
        nn.Sequential(nn.Conv2d(3, 4, 3)).eval(),
        nn.Sequential(nn.Conv2d(3, 4, 3), QCFS(4), nn.Sigmoid()).eval(),
        nn.Identity(),
    )


def workloads() -> list[Any]:
    return pascal.measure(network(), images())


def images(number: int = 4) -> Tensor:
    return torch.randn(number, 3, 8, 8, generator=torch.Generator().manual_seed(0))


Door = tuple[Callable[..., Any], Callable[[], dict[str, Any]], Callable[[], dict[str, tuple[Any, ...]]]]


def doors() -> dict[str, Door]:
    """name → (function, arguments that are right, for each argument some that are wrong)."""
    z = torch.linspace(-1, 3, 12).view(3, 4)
    not_z = (None, "z", 1.0, [1.0], np.zeros(3), torch.tensor([NAN]), torch.zeros(2, dtype=torch.complex64), nn.Linear)
    not_step = (0, -1.0, NAN, INF, "1", None, torch.tensor([1.0, 0.0]), torch.ones(7), 1e39, [1.0], nn.Linear)
    not_currents = (None, 3, [], ["x"], torch.zeros(0, 3), torch.full((2, 3), NAN), np.zeros((2, 3)), [1.0, 2.0],
                    [torch.zeros(2), torch.zeros(3)], torch.zeros(2, 3, dtype=torch.complex64), nn.Linear)  # fmt: skip
    not_threshold = (
        0,
        -1.0,
        NAN,
        INF,
        1e39,
        "8",
        None,
        torch.tensor([[1.0]] * 2),
        torch.tensor([1.0, -1.0]),
        [1.0],
        {},
    )
    layer_levels = (*NOT_LEVELS[:4], [4], [4, 4, 4], [4, 0], {"nowhere": 4}, {"2": 1.5}, "44", nn.Linear)
    return {
        "qcfs_count": (
            pascal.qcfs_count,
            lambda: {"preactivation": z, "step": 0.5, "levels": 4},
            lambda: {"preactivation": not_z, "step": not_step, "levels": NOT_LEVELS},
        ),
        "pasc_spikes": (
            pascal.pasc_spikes,
            lambda: {"currents": z, "step": 0.5, "levels": 4},
            lambda: {"currents": not_currents, "step": not_step, "levels": NOT_LEVELS},
        ),
        "if_spikes": (
            pascal.if_spikes,
            lambda: {"currents": z, "threshold": 0.5},
            lambda: {"currents": not_currents, "threshold": not_step, "start": ("x", [1.0], torch.zeros(9), NAN)},
        ),
        "QCFS": (
            pascal.QCFS,
            lambda: {"levels": 4, "threshold": 1.0},
            lambda: {"levels": NOT_LEVELS, "threshold": not_threshold},
        ),
        "quantize": (
            pascal.quantize,
            lambda: {"model": relu_network()},
            lambda: {
                "model": (*NOT_A_MODEL, nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 2), nn.Tanh())),
                "levels": (*layer_levels,),
                "threshold": not_threshold,
                "example": ("x", 3, np.zeros((2, 3, 8, 8)), torch.zeros(2, 5, 8, 8), torch.zeros(3), nn.Linear),
            },
        ),
        "convert": (
            pascal.convert,
            lambda: {"ann": network()},
            lambda: {
                "ann": broken(),
                "engine": NOT_A_CHOICE,
                "neuron": NOT_A_CHOICE,
                "timesteps": (4, 0, "4", 1.5),
                "compiled": (True, "yes", 2),
                "pixels": (Pixels(), 3, "x"),
                "example": ("x", 3, torch.zeros(2, 5, 8, 8)),
            },
        ),
        "convert_if": (
            pascal.convert,
            lambda: {"ann": network(), "neuron": "if", "timesteps": 4},
            lambda: {"timesteps": NOT_LEVELS, "engine": ("counts", "integer")},
        ),
        "verify": (
            pascal.verify,
            lambda: {"ann": network(), "snn": pascal.convert(network()), "batches": images()},
            lambda: {
                "ann": (*NOT_A_MODEL, relu_network(), nn.Sequential(nn.Conv2d(3, 2, 3))),
                "snn": (*NOT_A_MODEL, nn.Sequential(nn.Conv2d(3, 2, 3))),
                "batches": NOT_BATCHES,
                "class_axis": (0, 9, "1", None, True, 1.0),
                "date": (3, ["x"], QCFS),
            },
        ),
        "measure": (
            pascal.measure,
            lambda: {"model": network(), "batches": images()},
            lambda: {"model": (*NOT_A_MODEL, nn.Sequential(nn.Conv2d(3, 2, 3))), "batches": NOT_BATCHES},
        ),
        "record": (
            pascal.record,
            lambda: {"snn": pascal.convert(network()), "batches": images()},
            lambda: {"snn": (*NOT_A_MODEL, network()), "batches": NOT_BATCHES},
        ),
        "get_levels": (pascal.get_levels, lambda: {"ann": network()}, lambda: {"ann": NOT_A_MODEL}),
        "set_levels": (
            pascal.set_levels,
            lambda: {"ann": network(), "levels": 4},
            lambda: {"ann": NOT_A_MODEL, "levels": layer_levels},
        ),
        "build_network": (
            pascal.build_network,
            lambda: {"name": "resnet20", "width": 0.25},
            lambda: {
                "name": (None, "", "resnet19", 18, "timm:nothing", nn.Linear),
                "classes": (0, -1, "10", None, 1.5),
                "image_size": (0, -32, "32", None, 31.5),
                "levels": NOT_LEVELS[:-2],
                "width": (0, -1.0, NAN, INF, "1", None),
                "pool": NOT_A_CHOICE,
            },
        ),
        "al_metric": (
            pascal.al_metric,
            lambda: {"histogram": [10, 5, 3, 2], "empty_below": 0.01},
            lambda: {
                "histogram": (None, "1234", [], [0, 0], [-1, 2], [NAN, 1], 3, {}, [["x"]], [1.5, "x"]),
                "empty_below": (None, "0", NAN, -1.0, INF),
                "moments": NOT_A_CHOICE,
            },
        ),
        "assign_levels": (
            pascal.assign_levels,
            lambda: {"metrics": {"a": 1.0, "b": 2.0}, "values": [4, 2]},
            lambda: {
                "metrics": (None, "a", [1.0], {"a": "x"}, {"a": INF}, {"a": None}),
                "values": (None, [], "42", 4, {}, [0], [1.5], [4, "2"], [-1, 2], [True]),
            },
        ),
        "effective_timesteps": (pascal.effective_timesteps, lambda: {"workloads": workloads()}, _not_for_timesteps),
        "normalised_timesteps": (
            pascal.normalised_timesteps,
            lambda: {"workloads": workloads(), "levels": 4},
            _not_for_timesteps,
        ),
        "simulate": (
            pascal.simulate,
            lambda: {"workloads_or_trace": workloads()},
            lambda: {
                "workloads_or_trace": (None, "x", 3, [], [None], ["x"], torch.zeros(2), network(), *impossible()),
                "accelerator": NOT_A_CHOICE,
                "neuron": NOT_A_CHOICE[1:],
                "preset": (None, "", "pascal41", 3, [], {"nothing": 1}),
                "weight_density": (-0.1, 1.5, NAN, "1", None),
                "images": (0, -1, "2", 1.5),
            },
        ),
        "calibrate": (
            pascal.calibrate,
            lambda: {"ann": network(), "batches": images(40), "method": "mse"},
            lambda: {
                "ann": (*NOT_A_MODEL, nn.Sequential(nn.Conv2d(3, 2, 3))),
                "batches": NOT_BATCHES,
                "method": NOT_A_CHOICE,
                "percentile": (0.0, -1.0, 101.0, NAN, "99", None),
                "seed": NOT_A_SEED,
            },
        ),
        "plan_levels": (
            pascal.plan_levels,
            lambda: {"ann": network(), "batches": images(40), "budget": 0.9},
            lambda: {
                "ann": (*NOT_A_MODEL, nn.Sequential(nn.Conv2d(3, 2, 3))),
                "batches": NOT_BATCHES,
                "budget": (None, "x", -1.0, 0.0, NAN, [], {}),
                "cost": (None, "", "watts", 3, []),
                "values": (None, [], "42", [0], [1.5], [True], 4),
                "score": NOT_A_CHOICE,
                "rounds": (-1, "1", None, 1.5),
                "held_out": (-0.1, 1.0, NAN, "x", None),
                "seed": NOT_A_SEED,
            },
        ),
        "compare": (
            pascal.compare,
            lambda: {"ann": network(), "batches": [(images(), torch.zeros(4, dtype=torch.long))], "methods": ["plain"]},
            lambda: {
                "ann": (*NOT_A_MODEL, nn.Sequential(nn.Conv2d(3, 2, 3))),
                "methods": ("plain", [], ["nothing"], [None], 3),
                "timesteps": (None, [], [0], ["4"], 4, [1.5]),
            },
        ),
    }  # fmt: skip


def _not_for_timesteps() -> dict[str, tuple[Any, ...]]:
    return {
        "workloads": (None, "x", 3, [], [None], ["x"], network()),
        "levels": (0, -1, 1.5, "4", [4], {"nowhere": 4}),
        "spikes_per_neuron": (-0.1, NAN, INF, "often", [], {}),
    }


def impossible() -> Iterator[Any]:
    """Workloads of layers that cannot be."""
    first, *rest = workloads()
    for change in ({"output_shape": (4, 99, 99)}, {"stride": (0, 0)}, {"groups": 0}, {"input_shape": ()}, {"macs": -1},
                   {"kernel": (0, 3)}, {"producer_levels": 0}, {"levels": -1}, {"dilation": (-1, 1)}):  # fmt: skip
        try:
            yield [dataclasses.replace(first, **change), *rest]
        except PascalError:  # refused already when it is made
            continue


def wrong_calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, (function, right, wrong) in doors().items():
        for argument, values in wrong().items():
            for value in values:
                arguments = {**right(), argument: value}
                yield f"{name}({argument}={str(value)[:40]!r})", lambda f=function, a=arguments: f(**a)  # type: ignore[misc]


def judge(call: Callable[[], Any]) -> str:
    """ "" of a call that is refused by name; else how it fails."""
    try:
        result = call()
    except PascalError as error:
        return "" if str(error).strip() else "an empty message"
    except Exception as error:
        return f"confusing: {type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return f"silent: returns {str(result)[:60]!r}"


def test_right_calls_pass() -> None:
    """What the wrong calls differ from."""
    for function, right, _ in doors().values():
        function(**right())


@pytest.mark.filterwarnings("ignore")
def test_wrong_calls_are_refused() -> None:
    faults, calls = [], 0
    for name, call in wrong_calls():
        calls += 1
        fault = judge(call)
        faults += [f"{name}: {fault}"] if fault else []
    assert calls >= 300
    assert not faults, f"{len(faults)} of {calls}:\n" + "\n".join(faults)
