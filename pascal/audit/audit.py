"""The audit: every printed number beside what the equations give, how it arose, and what was measured here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev

from pascal.audit import claims as data
from pascal.audit import targets
from pascal.audit.claims import TEST_IMAGES, Claim
from pascal.audit.equations import Network, equation, from_authors_list
from pascal.energy.timesteps import effective_timesteps, sequential_latency
from pascal.errors import PascalError

_NO_RUN = {"imagenet": "no run here: ImageNet is for machines with GPUs, workflow/presets/paper.yaml"}


@dataclass(frozen=True)
class Measured:
    """One number of one run here; `quantity` as in the claims, say "SNN accuracy %"."""

    quantity: str
    network: str
    dataset: str
    levels: tuple[int, ...]
    value: float
    conditions: str = ""  # that must stand beside the number
    width: float = 1.0  # times the paper's channels; narrower networks stand beside its numbers, never for them


@dataclass(frozen=True)
class AuditRow:
    """A claim and all that is known about it."""

    claim: Claim
    equation: float | None = None
    counted: float | None = None  # T with PASC's operations counted for each L_{n−1} and L_n
    latency_timesteps: int | None = None
    authors_list: float | None = None
    measured: tuple[float, ...] = ()
    conditions: tuple[str, ...] = ()
    narrower: tuple[Measured, ...] = ()

    @property
    def difference(self) -> float | None:
        """Measured less reported; None without a run of the paper's network."""
        return fmean(self.measured) - float(self.claim.printed) if self.measured else None

    @property
    def agrees(self) -> bool | None:
        """Whether the equation, or else the measurement, gives the printed number; None where there is neither."""
        if self.equation is not None:
            return in_print(self.equation, self.claim.printed) and not self.claim.misattributed
        return _meets(fmean(self.measured), self.claim) if self.measured else None

    @property
    def reason(self) -> str:
        """How a wrong number arose, or what the agreement rests on."""
        if self.claim.reason or self.equation is not None:
            return self.claim.reason or "follows from the equation"
        if not self.measured:
            return "; ".join((_NO_RUN.get(self.claim.dataset, "no run here"), *map(self._beside, self.narrower)))
        runs = "one run here" if len(self.measured) == 1 else f"mean of {len(self.measured)} runs here"
        return ": ".join((runs, *self.conditions))

    def _beside(self, run: Measured) -> str:
        """A narrower network, with its distance."""
        distance = run.value - float(self.claim.printed)
        return f"{run.width:g} of the width: {run.value:.2f} ({distance:+.2f}), {run.conditions}"


def audit(networks: Mapping[str, Network], measured: Iterable[Measured] = ()) -> list[AuditRow]:
    """One row for each number; `networks` has the layers of each of AUDIT_NETWORKS."""
    measured = list(measured)
    computed = (data.SHAPES, data.ENERGY_RATIOS, data.OPERATIONS, data.TIMESTEPS, data.LIST_LENGTHS, data.QUOTATIONS)
    rows = [_computed_row(claim, _find(networks, claim)) for claims in computed for claim in claims]
    return rows + [target_row(claim, measured) for claim in (*targets.ACCURACIES, *targets.HARDWARE)]


def in_print(value: float, printed: str) -> bool:
    """Whether `value`, rounded to as many digits, is what is printed."""
    return f"{value:.{len(printed.partition('.')[2])}f}" == printed


def audit_rows(networks: Mapping[str, Network], measured: Iterable[Measured] = ()) -> list[dict[str, str]]:
    """The audit as flat rows of text, ready for a table."""
    return [
        {
            "quantity": row.claim.quantity,
            "network": row.claim.network,
            "dataset": row.claim.dataset,
            "levels": " ".join(map(str, row.claim.levels)),
            "reported": row.claim.printed,
            "equation": _text(row.equation),
            "counted": _text(row.counted),
            "latency_timesteps": _text(row.latency_timesteps),
            "authors_list": _text(row.authors_list),
            "measured": _mean_text(row.measured),
            "difference": "" if row.difference is None else f"{row.difference:+.3f}",
            "agrees": {True: "yes", False: "no", None: ""}[row.agrees],
            "reason": row.reason,
            "source": row.claim.source,
        }
        for row in audit(networks, measured)
    ]


def _computed_row(claim: Claim, network: Network) -> AuditRow:
    row = AuditRow(claim, equation(claim, network))
    if not claim.fan_ins:
        return row
    return replace(
        row,
        counted=effective_timesteps(network, claim.layer_levels, counted=True),
        latency_timesteps=sequential_latency(network, claim.layer_levels),
        authors_list=from_authors_list(claim),
    )


def target_row(claim: Claim, measured: Sequence[Measured]) -> AuditRow:
    """What the paper measured, beside what was measured here."""
    wanted = (claim.quantity, claim.network, claim.dataset, claim.levels)
    found = [run for run in measured if (run.quantity, run.network, run.dataset, _uniform(run.levels)) == wanted]
    full = [run for run in found if run.width == 1]
    conditions = tuple(dict.fromkeys(run.conditions for run in full if run.conditions))
    narrower = tuple(run for run in found if run.width < 1)
    return AuditRow(claim, measured=tuple(run.value for run in full), conditions=conditions, narrower=narrower)


def _find(networks: Mapping[str, Network], claim: Claim) -> Network:
    name = f"{claim.network}-{claim.dataset}"
    if claim.network and name not in networks:
        raise PascalError(f"audit: network {name!r} is missing, got {sorted(networks)}; build all of AUDIT_NETWORKS")
    return networks.get(name, ())


def _meets(value: float, claim: Claim) -> bool:
    """Accuracies agree within two standard errors of two samples of the test set's size; others as printed."""
    if not claim.quantity.endswith("accuracy %"):
        return in_print(value, claim.printed)
    share = float(claim.printed) / 100
    return abs(value - float(claim.printed)) <= 200 * sqrt(2 * share * (1 - share) / TEST_IMAGES[claim.dataset])


def _uniform(levels: Sequence[int]) -> tuple[int, ...]:
    return (levels[0],) if len(set(levels)) == 1 else tuple(levels)


def _text(value: float | None) -> str:
    if value is None or isinstance(value, int):
        return "" if value is None else str(value)
    return f"{value:.3f}" if abs(value) >= 0.1 else f"{value:.4f}"


def _mean_text(values: Sequence[float]) -> str:
    if len(values) < 2:
        return _text(values[0]) if values else ""
    return f"{fmean(values):.3f} ± {stdev(values):.3f} (n={len(values)})"
