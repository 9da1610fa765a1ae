"""Which models convert, and how exactly: quantised, given random weights and levels, converted and verified.

`python -m benchmarks.studies.models docs/models.md` writes the table of the documentation.
"""

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import timm
import torch
import torchvision
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from tqdm import tqdm

import pascal

EXACT = {  # source: {model: image size}; these must convert
    "pascal": {"vgg16": 32, "resnet18": 32, "resnet20": 32, "resnet34": 64},
    "torchvision": {
        "resnet18": 64,
        "resnet50": 64,
        "vgg11_bn": 32,
        "vgg16": 32,
        "alexnet": 64,
        "densenet121": 64,
        "googlenet": 64,
        "inception_v3": 96,
        "squeezenet1_1": 64,
        "mobilenet_v2": 64,
        "shufflenet_v2_x1_0": 64,
        "regnet_x_400mf": 64,
        "mnasnet1_0": 64,
        "wide_resnet50_2": 64,
        "resnext50_32x4d": 64,
    },
    "timm": {
        "resnet26": 64,
        "repvgg_a0": 64,
        "resnet26d": 64,
        "dla34": 64,
        "vovnet39a": 64,
        "regnetx_002": 64,
        "selecsls42": 64,
        "hrnet_w18_small": 64,
        "res2net50_26w_4s": 64,
        "mobilenetv2_100": 64,
    },
}
REFUSED = {  # outside the theorems: the reason is the documentation
    "torchvision": {"efficientnet_b0": 64, "convnext_tiny": 64, "vit_b_16": 224, "mobilenet_v3_small": 64},
    "timm": {"legacy_xception": 64, "ese_vovnet19b_dw": 64},
}


@dataclass(frozen=True)
class Row:
    """What became of one model."""

    source: str
    model: str
    layers: int = 0
    neurons: int = 0
    silent: float = 0.0  # share of neurons that never fire: a dead network would prove nothing
    mismatches: int = 0
    logit_error: float = 0.0
    refusal: str = ""


def build(source: str, name: str, size: int) -> nn.Module:
    """The model with random weights and QCFS activations, in evaluation mode."""
    if source == "pascal":
        return pascal.build_network(name, image_size=size, width=0.25).eval()
    extra = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    make: Callable[..., nn.Module] = (
        partial(timm.create_model, name) if source == "timm" else getattr(torchvision.models, name)
    )
    return pascal.quantize(make(**extra).eval())


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


def examine(source: str, name: str, size: int) -> Row:
    """Quantise, convert and verify one model in float64 on two random images."""
    try:
        ann = build(source, name, size).double()
    except pascal.PascalError as error:
        summary, *calls = str(error).splitlines()
        return Row(source, name, refusal=f"{summary} {calls[0].strip()}" if calls else summary)
    images = torch.randn(2, 3, size, size, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    enliven(ann, images)
    snn = pascal.convert(ann)
    verification = pascal.verify(ann, snn, [images])
    _, counts = snn.record(images)
    silent = sum(int((count == 0).sum()) for count in counts.values()) / verification.neurons
    mismatches = verification.count_mismatches
    error = verification.max_logit_error
    return Row(source, name, len(counts), verification.neurons, silent, mismatches, error)


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "# Models that convert",
        "",
        "Random weights, random levels out of 1, 2, 3, 4, 8 per layer, two random images, float64; every neuron's",
        "spike count compared with the ANN's level. Made by `python -m benchmarks.studies.models docs/models.md`.",
        "",
        "| source | model | QCFS layers | neurons compared | never fired | count mismatches | largest logit error |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.source} | {r.model} | {r.layers} | {r.neurons:,} | {r.silent:.0%} "
        f"| {r.mismatches} | {r.logit_error:.1e} |"
        for r in rows
        if not r.refusal
    ]
    lines += [
        "",
        "## Refused, and why",
        "",
        "| source | model | all offending calls are listed in the error; the first |",
        "|---|---|---|",
    ]
    lines += [f"| {r.source} | {r.model} | {r.refusal.strip()} |" for r in rows if r.refusal]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    chosen = [(s, n, size) for group in (EXACT, REFUSED) for s, models in group.items() for n, size in models.items()]
    rows = [examine(*model) for model in tqdm(chosen, desc="models")]
    Path(sys.argv[1]).write_text(table(rows))
