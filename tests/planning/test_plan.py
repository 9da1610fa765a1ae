"""Plans of a small network: within the budget, no worse than what they stand beside, the same each time."""

import copy
import json
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pascal
from pascal import QCFS, PascalError
from pascal.energy import INT8
from pascal.planning import LevelPlan, metric_study
from pascal.planning.network import Network, Setting
from pascal.planning.sensitivity import Judge
from pascal.report.figures.front import front_figure
from tests.graph.small import Branches, lively


def blobs(images: int = 160) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    labels = torch.randint(0, 4, (images,), generator=generator)
    return 2.0 * torch.eye(6)[labels] + 0.7 * torch.randn(images, 6, generator=generator), labels


@pytest.fixture(scope="module")
def ann() -> nn.Module:
    """Trained for a moment, so that fewer levels really lose something."""
    torch.manual_seed(0)
    layers = [nn.Linear(6, 16), QCFS(8, 2.0), nn.Linear(16, 16), QCFS(8, 2.0), nn.Linear(16, 12), QCFS(8, 2.0)]
    model = nn.Sequential(*layers, nn.Linear(12, 4))
    optimiser = torch.optim.Adam(model.parameters(), 0.01)
    images, labels = blobs(600)
    for _ in range(120):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimiser.step()
    return model.eval()


@pytest.fixture(scope="module")
def plan(ann: nn.Module) -> LevelPlan:
    return pascal.plan_levels(ann, [blobs()], 10)


def test_the_plan_is_within_its_budget_and_is_what_it_says(ann: nn.Module, plan: LevelPlan) -> None:
    before = copy.deepcopy(ann.state_dict())
    assert plan.cost == sum(plan.levels.values()) <= 10
    assert pascal.get_levels(plan.ann) == plan.levels == {row.layer: row.levels for row in plan.layers}
    assert set(plan.levels.values()) <= {8, 4, 2, 1}
    assert pascal.get_levels(ann) == {"1": 8, "3": 8, "5": 8}
    assert all(torch.equal(before[name], value) for name, value in ann.state_dict().items())
    assert (plan.images, plan.held_out_images, plan.start_cost) == (120, 40, 24)
    for row in plan.layers:
        ratio = plan.ann.get_submodule(row.layer).threshold / ann.get_submodule(row.layer).threshold
        assert ratio.item() == pytest.approx(row.threshold_scale, rel=1e-5)


def test_losses_are_those_of_the_planned_network(ann: nn.Module, plan: LevelPlan) -> None:
    images = Network(ann).gather([blobs()], 0.25, 32, 0).held_out
    with torch.no_grad():
        ours, start = plan.ann(images).double().log_softmax(1), ann(images).double().log_softmax(1)
    loss = (start.exp() * (start - ours)).sum(1)
    assert plan.measured_loss == pytest.approx(float(loss.mean()), rel=1e-4)
    assert plan.loss_error == pytest.approx(float(loss.std()) / 40**0.5, rel=1e-4)
    assert plan.agreement == float((ours.argmax(1) == start.argmax(1)).double().mean())


def test_never_worse_than_uniform_or_the_metric_on_held_out_images(plan: LevelPlan) -> None:
    beside = {row.name: row for row in plan.baselines}
    assert set(beside) | {plan.kept} >= {"plan", "uniform", "random orders"}
    others = [row for name, row in beside.items() if name != "random orders"]
    assert all(row.cost <= 10 for row in others)
    assert all(plan.measured_loss <= row.loss for row in others if row.cost >= 0.98 * 10)
    cheaper = [row for row in others if row.cost < 0.98 * 10]  # preferred where they are clearly better alone
    assert all(plan.measured_loss <= row.loss + plan.loss_error + row.loss_error for row in cheaper)


def test_it_prints_and_becomes_json(plan: LevelPlan) -> None:
    text = str(plan)
    assert "of 24 timesteps (budget 10)" in text
    assert "random orders" in text
    assert "fewer than 500 images" in text
    assert json.loads(json.dumps(plan.to_json()))["levels"] == plan.levels


def test_the_same_seed_gives_the_same_plan(ann: nn.Module, plan: LevelPlan) -> None:
    again = pascal.plan_levels(ann, iter([blobs()]), 10)
    assert again.to_json() == plan.to_json()


def test_scores_are_single_changes_around_the_point(ann: nn.Module) -> None:
    network, (images, _) = Network(ann), blobs(70)
    network.piece = 32
    judge, point = Judge(network, images), {"1": Setting(4), "3": Setting(2, 0.8), "5": Setting(8)}
    found = judge.sensitivity(point, [("3", Setting(1, 0.5)), ("5", Setting(4))])
    changed = network.copy({**point, "3": Setting(1, 0.5)})
    with torch.no_grad():
        start, ours = ann(images).double().log_softmax(1), changed(images).double().log_softmax(1)
    expected = (start.exp() * (start - ours)).sum(1)
    assert torch.allclose(found.changed["3", Setting(1, 0.5)], expected, atol=1e-6)
    assert found.score(("3", point["3"])).mean == 0
    assert found.score(("3", Setting(1, 0.5))).mean == pytest.approx(float((expected - found.loss).mean()), abs=1e-6)


def test_a_budget_of_the_start_changes_nothing(ann: nn.Module) -> None:
    plan = pascal.plan_levels(ann, [blobs()], "100%")
    assert plan.levels == pascal.get_levels(ann)
    assert (plan.measured_loss, plan.agreement) == (0, 1)


def test_points_of_agreement(ann: nn.Module) -> None:
    plan = pascal.plan_levels(ann, [blobs()], "5 points")
    assert plan.agreement >= 0.95
    assert plan.cost < plan.start_cost
    with pytest.raises(PascalError, match=r"'0.5 points' needs 200 held-out images"):
        pascal.plan_levels(ann, [blobs()], "0.5 points")


def weighted(levels: dict[str, int]) -> float:
    return 3 * levels["1"] + levels["3"] + 2.5 * levels["5"]


@pytest.mark.parametrize("cost", ["synops", "energy", INT8, weighted], ids=["synops", "energy", "int8", "function"])
def test_other_costs_stay_within_their_budget(ann: nn.Module, cost: Any) -> None:
    plan = pascal.plan_levels(ann, [blobs()], 0.6, cost, rounds=1)
    assert 0 < plan.cost <= 0.6 * plan.start_cost
    assert all(row.cost <= 0.6 * plan.start_cost for row in plan.baselines if row.name != "random orders")
    if cost is weighted:
        assert plan.cost == weighted(plan.levels)


def test_cycles_of_an_accelerator_on_branches() -> None:
    torch.manual_seed(0)
    images = torch.randn(40, 3, 8, 8)
    ann = lively(Branches(), images, [4] * 6)
    plan = pascal.plan_levels(ann, [images], 0.9, "latency", values=(4, 2), rounds=0)
    assert plan.cost <= 0.9 * plan.start_cost
    assert plan.unit == "cycles"


def test_the_cheaper_score_says_how_well_it_ranks(ann: nn.Module) -> None:
    plan = pascal.plan_levels(ann, [blobs()], 10, score="fisher", rounds=1)
    assert plan.rank_correlation is not None
    assert -1 <= plan.rank_correlation <= 1
    assert plan.cost <= 10


def test_the_study_ranks_the_metric(ann: nn.Module) -> None:
    study = metric_study(ann, [blobs()])
    assert study.point == 4
    assert set(study.correlation) == {2, 1}
    assert len(study.rows) == 6


def test_the_front_has_plans_and_baselines(ann: nn.Module) -> None:
    front = pascal.level_front(ann, [blobs()], [18, "50%", 4], labelled=[blobs(100)])
    rows = front.table()
    assert rows["cost"].is_monotonic_increasing
    assert set(rows["name"]) >= {"start", "plan", "uniform"}
    assert rows[rows["name"] == "plan"]["cost"].max() <= 18
    assert rows["accuracy"].between(0, 1).all()
    assert "agreement" in str(front)
    for planned in (point for point in front.points if point.name == "plan"):
        cheaper = [point.loss for point in front.points if point.name == "uniform" and point.cost <= planned.cost]
        assert planned.loss <= min(cheaper)
    assert len(front_figure(rows).axes) == 2  # agreement and accuracy
    with pytest.raises(PascalError, match="budgets: got 2"):
        pascal.level_front(ann, [blobs()], [2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 2}, r"budget: got 2 \(2 timesteps\), but the cheapest plan .* costs 3"),
        ({"cost": "joules"}, "cost: got 'joules', expected one of timesteps"),
        ({"cost": lambda levels: float("nan")}, "gave nan, expected a finite number"),
        ({"values": (4, 0)}, "values: got 0, expected a whole number >= 1"),
        ({"values": (4, 2.5)}, r"values: got 2.5"),
        ({"values": ()}, "values: got"),
        ({"values": (4, 4)}, "values: got"),
        ({"score": "taylor"}, "score: got 'taylor'"),
        ({"rounds": -1}, "rounds: got -1"),
        ({"held_out": 1.5}, r"held_out: got 1.5"),
        ({"batches": []}, "batches: got none"),
        ({"batches": [torch.randn(8, 6)]}, "got 8 images, expected at least 32"),
        ({"batches": [torch.randn(40, 7)]}, r"images of shape \(7,\)"),
        ({"batches": [torch.randn(40, 6), torch.randn(40, 7)]}, "expected one shape"),
        ({"batches": [torch.full((40, 6), float("nan"))]}, "NaN"),
        ({"batches": [torch.zeros(40, 6, dtype=torch.uint8)]}, "scale and normalise"),
    ],
)
def test_bad_input_is_named(ann: nn.Module, change: dict[str, Any], message: str) -> None:
    given = {"batches": [blobs()], "budget": 10} | change
    with pytest.raises(PascalError, match=message):
        pascal.plan_levels(ann, **given)


def test_networks_that_cannot_be_planned() -> None:
    images = torch.randn(40, 6)
    with pytest.raises(PascalError, match=r"no QCFS layer; call pascal.quantize"):
        pascal.plan_levels(nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)), [images], 10)
    with pytest.raises(PascalError, match="two classes or more"):
        pascal.plan_levels(nn.Sequential(nn.Linear(6, 4), QCFS(), nn.Linear(4, 1)), [images], 10)
    broken = nn.Sequential(nn.Linear(6, 4), QCFS(), nn.Linear(4, 3))
    broken[2].weight.data.fill_(float("nan"))
    with pytest.raises(PascalError, match="outputs are infinite or NaN"):
        pascal.plan_levels(broken, [images], 4)
