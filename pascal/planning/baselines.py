"""What else the budget could buy: uniform levels, the paper's metric, and chance."""

from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import fmean

from pascal.adapt import assign_levels, layer_metrics, level_histograms
from pascal.planning.network import Assignment, levels_of
from pascal.planning.record import Contender
from pascal.planning.search import Search
from pascal.planning.sensitivity import Judge

RANDOM_ORDERS = 10
_MOST_CLUSTERS = 4


def al_metrics(search: Search) -> dict[str, float]:
    """The AL metric of each layer of the start network, as the paper has it."""
    network, images = search.judge.network, search.judge.images
    pieces = [(piece, piece) for piece in images.split(network.piece)]
    histograms = level_histograms(network.copy(network.start), pieces)
    terms = layer_metrics({path: histograms[path].tolist() for path in network.layers})
    return {path: term.metric for path, term in terms.items()}


def al_points(search: Search, around: Assignment) -> list[Assignment]:
    """The metric's clusterings into two or more of the values; thresholds as the plan's."""
    metrics, found = al_metrics(search), []
    for size in range(2, min(len(search.values), _MOST_CLUSTERS) + 1):
        for values in combinations(sorted(search.values), size):
            levels = assign_levels(metrics, values)
            if len(set(levels.values())) > 1:
                found.append(search.fitted(levels, around))
    return found


def by_metric(search: Search, budget: float, around: Assignment) -> Assignment | None:
    """Of the metric's clusterings the dearest that fits."""
    return max((one for one in al_points(search, around) if search.cost(one) <= budget), key=search.cost, default=None)


def by_uniform(search: Search, budget: float, around: Assignment, held_out: Judge) -> Assignment | None:
    """The most levels that fit everywhere, thresholds kept or fitted, whichever loses less where it is compared."""
    options = [
        option
        for levels in sorted(search.values, reverse=True)
        for option in (search.uniform(levels), search.fitted(dict.fromkeys(around, levels), around))
        if search.cost(option) <= budget
    ]
    if not options:
        return None
    most = [option for option in options if levels_of(option) == levels_of(options[0])]
    return min(most, key=lambda option: float(held_out.loss(option).mean()))


def at_random(search: Search, plan: Assignment, seed: int) -> list[Assignment]:
    """The plan's own levels, handed out in random orders."""
    paths, values, orders = list(plan), list(levels_of(plan).values()), []
    generator = Random(seed)
    for _ in range(RANDOM_ORDERS):
        generator.shuffle(values)
        orders.append(search.fitted(dict(zip(paths, values, strict=True)), plan))
    return orders


def contender(name: str, assignment: Assignment, search: Search, held_out: Judge) -> Contender:
    """How an assignment does on images that nothing was chosen on."""
    loss = held_out.loss(assignment)
    error = float(loss.std()) / len(loss) ** 0.5
    levels = tuple(levels_of(assignment).values())
    return Contender(name, levels, search.cost(assignment), float(loss.mean()), error, held_out.agreement(assignment))


def mean_of(name: str, some: Sequence[Assignment], search: Search, held_out: Judge) -> Contender:
    """The mean of several, and the standard error of that mean over them."""
    each = [contender(name, assignment, search, held_out) for assignment in some]
    losses = [one.loss for one in each]
    spread = (sum((loss - fmean(losses)) ** 2 for loss in losses) / max(len(losses) - 1, 1) / len(losses)) ** 0.5
    return Contender(name, (), fmean(o.cost for o in each), fmean(losses), spread, fmean(o.agreement for o in each))
