"""Which models convert, and how exactly: quantised, given random weights and levels, converted and verified.

`python -m benchmarks.studies.models docs/models.md` examines one model of each family of ReLU networks and writes the
table of the documentation; `--rows FILE` keeps what is done already, one line each, so that a second run goes on.
"""

import argparse
import json
import multiprocessing
import random
import re
import warnings
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from tqdm import tqdm

import pascal
from benchmarks.studies.families import make, relu_families, shapes

EXACT, REFUSED, WRONG, CRASHED, NO_RELU = "exact", "refused", "wrong", "crashed", "no ReLU"
TOO_LARGE = "too large"
_MOST_WEIGHTS = 1_000_000_000  # in float64, with copies: what 24 GB hold
ENGINES = ("steps", "counts", "integer")
_SECONDS = 1800  # for one model, before it counts as crashed


@dataclass(frozen=True)
class Row:
    """What became of one model."""

    source: str
    model: str
    outcome: str
    reason: str = ""
    image: tuple[int, ...] = ()
    layers: int = 0
    neurons: int = 0
    silent: float = 0.0  # share of neurons that never fire: a dead network would prove nothing
    logit_error: float = 0.0
    engines: dict[str, str] = field(default_factory=dict)


def examine(source: str, name: str) -> Row:
    """Convert and verify one model in float64 on one random image."""
    torch.manual_seed(0)
    model = make(source, name)
    if (weights := sum(parameter.numel() for parameter in model.parameters())) > _MOST_WEIGHTS:
        return Row(source, name, TOO_LARGE, f"{weights:,} weights: not examined")
    found = _fitting(source, name, model)
    if isinstance(found, str):
        return Row(source, name, REFUSED, found)
    try:
        ann = found[1] if source == "pascal" else pascal.quantize(found[1], example=found[0])
    except pascal.PascalError as error:
        reason = _first_reason(str(error))
        return Row(source, name, NO_RELU if "has no ReLU" in reason else REFUSED, reason, tuple(found[0].shape[1:]))
    del model, found[1]
    enliven(ann, found[0])
    return _verified(Row(source, name, EXACT, image=tuple(found[0].shape[1:])), ann, found[0][:1])


def _fitting(source: str, name: str, model: nn.Module) -> list[Any] | str:
    """[images, the model in float64], for the first shape that the model takes; or why it takes none."""
    reason = ""
    for shape in shapes(source, name):
        images = torch.randn(2, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        try:
            with torch.no_grad():
                model.float()(images[:1].float())
            return [images, model.double()]
        except Exception as error:  # whatever a network of another shape raises
            reason = f"takes no single batch of images: {_first_reason(str(error))}"
    return reason


def _verified(row: Row, ann: nn.Module, images: Tensor) -> Row:
    engines: dict[str, str] = {}
    certificates = []
    counts: dict[str, Tensor] = {}
    for engine in ENGINES:
        try:
            snn: Any = pascal.convert(ann, engine=engine)
            certificates.append(pascal.verify(snn.stepwise() if engine == "integer" else ann, snn, images))
            engines[engine] = EXACT if certificates[-1].passed else f"{WRONG}: {certificates[-1].first_divergence}"
            counts = snn.record(images)[1] if engine == "counts" else counts
        except pascal.PascalError as error:
            engines[engine] = f"{REFUSED}: {_first_reason(str(error))}"
    exact = all(engines[engine] == EXACT for engine in ("steps", "counts"))
    return replace(
        row,
        outcome=EXACT if exact and not engines["integer"].startswith(WRONG) else WRONG,
        layers=len(counts),
        neurons=certificates[0].neurons,
        silent=sum(int((count == 0).sum()) for count in counts.values()) / certificates[0].neurons,
        logit_error=certificates[0].max_logit_error,
        engines=engines,
    )


def enliven(ann: nn.Module, images: Tensor, seed: int = 0) -> None:
    """Random statistics, random levels, and thresholds fitted to the preactivations, so that every layer fires."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    for module in ann.modules():
        if isinstance(module, _BatchNorm) and module.running_mean is not None and module.running_var is not None:
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 2)
    pascal.set_levels(ann, [rng.choice((1, 2, 3, 4, 8)) for _ in pascal.get_levels(ann)])

    def fit(qcfs: pascal.QCFS, inputs: tuple[Tensor, ...]) -> None:
        qcfs.threshold = float(inputs[0].std() * 2) + 1e-6

    hooks = [m.register_forward_pre_hook(fit) for m in ann.modules() if isinstance(m, pascal.QCFS)]  # type: ignore[arg-type]
    with torch.no_grad():
        ann(images)
    for hook in hooks:
        hook.remove()


def _first_reason(text: str) -> str:
    """The first of the calls that an error lists, on one line that a table can hold."""
    summary, *calls = text.strip().splitlines() or [""]
    line = (
        f"{summary.rstrip(':')}; the first: {calls[0].strip()}"
        if calls and "cannot be converted" in summary
        else summary
    )
    return re.sub(r"\s+", " ", line).replace("|", "/")[:220]


def _examined(source: str, name: str) -> Row:
    """`examine` in a process of its own, whose memory goes with it."""
    answer, given = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_answer, args=(given, source, name))
    process.start()
    given.close()
    try:
        return answer.recv() if answer.poll(_SECONDS) else Row(source, name, CRASHED, f"not done in {_SECONDS} s")
    except EOFError:
        return Row(source, name, CRASHED, "the process died")
    finally:
        process.kill()
        process.join()


def _answer(given: Any, source: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            row = examine(source, name)
        except Exception as error:
            row = Row(source, name, CRASHED, _first_reason(f"{type(error).__name__}: {error}"))
    given.send(row)


def sweep(kept: Path | None) -> list[Row]:
    """One row per family; those of an earlier run are taken as they are."""
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    rows = {
        (row["source"], row["model"]): Row(**{**row, "image": tuple(row["image"])}) for row in map(json.loads, lines)
    }
    for source, name in (bar := tqdm(relu_families(), desc="models")):
        bar.set_postfix_str(name)
        if (source, name) not in rows:
            rows[source, name] = _examined(source, name)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(rows[source, name])) + "\n")
    return list(rows.values())


def table(rows: list[Row], families: int) -> str:
    """The rows as Markdown: how many of each outcome, then each model."""
    of = {
        kind: [row for row in rows if row.outcome == kind]
        for kind in (EXACT, REFUSED, WRONG, CRASHED, NO_RELU, TOO_LARGE)
    }
    neurons = sum(row.neurons for row in of[EXACT])
    whole = sum(row.engines.get("integer") == EXACT for row in of[EXACT])
    lines = [
        "# Models that convert",
        "",
        "The ReLU networks of timm and torchvision, one per family: of the models whose names differ in numbers only",
        "and that consist of the same kinds of modules, the one with the fewest parameters. Random weights, random",
        "levels out of 1, 2, 3, 4, 8 per layer, thresholds that fit, one random image, float64. Made by",
        "`python -m benchmarks.studies.models docs/models.md --rows results/reference/models.jsonl`, which goes on",
        "where it stopped.",
        "",
        f"{len(rows) - len(of[TOO_LARGE])} of the {families} families are examined here:",
        f"**{len(of[EXACT])} exact**, **{len(of[WRONG])} wrong**, **{len(of[CRASHED])} crashed**,",
        f"**{len(of[REFUSED])} refused**. Exact: of {neurons:,} neurons no spike of `steps` in any timestep and no",
        "count of `counts` differs from the ANN's, and no output by more than rounding allows. On integers,",
        f"closed form and simulation agree in all of the {whole} networks that `integer` takes.",
        "",
        "| source | model | image | QCFS layers | neurons | never fired | largest output error | `integer` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.source} | {r.model} | {'×'.join(map(str, r.image))} | {r.layers} | {r.neurons:,} | {r.silent:.0%} "
        f"| {r.logit_error:.1e} | {r.engines.get('integer', '')} |"
        for r in of[EXACT]
    ]
    for kind, title in (
        (WRONG, "Wrong"),
        (CRASHED, "Crashed"),
        (REFUSED, "Refused, and why"),
        (TOO_LARGE, "Too large for this machine"),
    ):
        if of[kind]:
            lines += ["", f"## {title}", "", "| source | model | reason |", "|---|---|---|"]
            lines += [f"| {r.source} | {r.model} | {r.reason or r.engines} |" for r in of[kind]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    found = sweep(options.rows)
    options.page.write_text(table(found, len(found)))
