"""`pascal verify` and `pascal audit`: the one module of the package that knows paths, and the only one that prints."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from pascal.audit import audit_rows
from pascal.audit.networks import audit_networks
from pascal.data import DATASETS, evaluation_batches, load_dataset, sample
from pascal.energy import layer_table
from pascal.errors import PascalError
from pascal.files import read_tensors
from pascal.graph import Verification, convert, verify
from pascal.graph.certificate_text import verdict
from pascal.networks import build_network


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if a certificate failed, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except (PascalError, OSError) as error:
        print(f"pascal: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pascal", description="Exact conversion of QCFS networks into spiking ones.")
    commands = parser.add_subparsers(required=True)
    _add_verify(commands.add_parser("verify", help="compare a network with its SNN, neuron by neuron"))
    _add_audit(commands.add_parser("audit", help="the paper's numbers beside what its equations give"))
    return parser


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("weights", type=Path, help="the trained network's safetensors file")
    parser.add_argument("--network", required=True, help="vgg16, resnet18, resnet20, resnet34, timm:… or torchvision:…")
    parser.add_argument("--width", type=float, default=1.0, help="width multiplier (default 1)")
    parser.add_argument("--pool", default="max", help="max or avg (default max)")
    parser.add_argument("--dataset", default="cifar10", choices=sorted(DATASETS), help="whose test images (cifar10)")
    parser.add_argument("--data", type=Path, help="the data folder; PASCAL_DATA or data/")
    parser.add_argument("--mean", type=float, nargs=3, help="of the pixels, where the network was trained with another")
    parser.add_argument("--std", type=float, nargs=3, help="of the pixels, likewise")
    parser.add_argument("--images", type=int, help="how many test images, chosen at random (default all)")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--dtype", choices=("float32", "float64"), help="of both networks (default float64)")
    parser.add_argument("--engine", help="the SNN's engine (default steps, the reference)")
    parser.add_argument("--date", help="to stand in the certificate, as it is given")
    parser.add_argument("--table", action="store_true", help="print every layer, not the outcome alone")
    parser.add_argument("--json", type=Path, help="where to write the certificate")
    parser.add_argument("--check", type=Path, help="a certificate to confirm: its images, dtype and engine are taken")
    parser.set_defaults(command=_verify)


def _verify(options: argparse.Namespace) -> int:
    """Convert, compare, write the certificate, and say the outcome on one line."""
    claimed = _claimed(options)
    dataset = load_dataset(options.dataset, options.data, mean=options.mean, std=options.std)
    ann = _load(options, len(dataset.classes), dataset.image_size).to(getattr(torch, options.dtype or "float64"))
    snn = convert(ann, engine=options.engine or "steps")
    images = sample(dataset.test, options.images) if options.images is not None else dataset.test
    batches = list(evaluation_batches(dataset, images, options.batch_size))
    certificate = verify(ann, snn, tqdm(batches, desc="verify", unit="batch"), date=options.date)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(certificate.to_json())
    print(certificate if options.table else verdict(certificate))
    confirmed = claimed is None or _confirms(options.check, claimed, certificate)
    return 0 if certificate.passed and confirmed else 1


def _claimed(options: argparse.Namespace) -> Verification | None:
    """The certificate to confirm; what it was made with, unless the command says the same."""
    if options.check is None:
        return None
    claimed = Verification.from_json(options.check.read_text())
    for name in ("images", "dtype", "engine"):
        asked, certified = getattr(options, name), getattr(claimed, name)
        if certified and asked not in (None, certified):
            raise PascalError(f"--{name}: got {asked}, {options.check} certifies {certified}; leave it out")
        setattr(options, name, certified or asked)
    return claimed


def _confirms(path: Path, claimed: Verification, found: Verification) -> bool:
    """Say where this run does not confirm a certificate, or that it does."""
    differences = claimed.differences(found)
    for difference in differences:
        print(f"{path}: {difference}")
    unnamed = [name for name in ("model_digest", "data_digest") if not getattr(claimed, name)]
    if unnamed:
        print(f"{path}: has no {' and no '.join(unnamed)}, so that only its numbers are compared", file=sys.stderr)
    print(f"{path}: {'NOT CONFIRMED' if differences else 'confirmed'}")
    return not differences


def _load(options: argparse.Namespace, classes: int, image_size: int) -> nn.Module:
    ann = build_network(options.network, classes, image_size, width=options.width, pool=options.pool)
    try:
        ann.load_state_dict(read_tensors(options.weights))
    except RuntimeError as error:
        raise PascalError(
            f"{options.weights} does not fit {options.network} of width {options.width}: {error}"
        ) from error
    return ann.eval()


def _add_audit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--csv", type=Path, help="also write the table to this file")
    parser.add_argument("--layers", type=Path, help="write the appendix's layer tables into this folder, as CSV")
    parser.set_defaults(command=_audit)


def _audit(options: argparse.Namespace) -> int:
    """Every number of the paper beside its equation, from the layer shapes of the networks themselves."""
    networks = audit_networks()
    rows = pd.DataFrame(audit_rows(networks))
    if options.layers:
        options.layers.mkdir(parents=True, exist_ok=True)
        for name, layers in networks.items():
            pd.DataFrame(layer_table(layers)).to_csv(options.layers / f"{name}.csv", index=False)
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        rows.to_csv(options.csv, index=False)
    with pd.option_context("display.max_rows", None, "display.max_colwidth", 40, "display.width", 240):
        print(rows.fillna("").to_string(index=False))
    return 0
