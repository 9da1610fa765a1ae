"""`pascal verify`."""

import argparse
import sys
from pathlib import Path
from typing import Any

from pascal.baselines import METHODS, rival
from pascal.cli.models import batches, open_ann
from pascal.cli.options import add_dataset, add_engine, add_json, add_model
from pascal.cli.output import tell
from pascal.errors import PascalError
from pascal.graph import SpikingNetwork, Verification, convert, load, verify
from pascal.graph.certificate_text import verdict

CALIBRATION_IMAGES = 256  # of a rival that must choose something


def add_options(parser: argparse.ArgumentParser) -> None:
    """The ANN, and its SNN if that was saved."""
    add_model(parser, "the trained network")
    add_engine(parser)
    add_dataset(parser)
    parser.add_argument("--snn", type=Path, metavar="FILE", help="a saved SNN to compare with, instead of converting")
    parser.add_argument("--rival", choices=sorted(METHODS), help="a rival method at T = L, instead of converting")
    parser.add_argument("--date", help="to stand in the certificate, as it is given")
    parser.add_argument("--table", action="store_true", help="print every layer, not the outcome alone")
    parser.add_argument("--check", type=Path, metavar="FILE", help="a certificate to confirm: its conditions are taken")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Convert, compare, write the certificate: 0 if equal (and confirmed), 1 if not."""
    claimed = _claimed(options)
    options.dtype = options.dtype or (None if options.snn else "float64")
    ann = open_ann(options)
    snn = _spiking(options, ann)
    certificate = verify(ann, snn, batches(options, bar="verify"), date=options.date)
    tell(options, certificate.to_json(), certificate if options.table else verdict(certificate))
    confirmed = claimed is None or _confirms(options.check, claimed, certificate)
    return 0 if certificate.passed and confirmed else 1


def _spiking(options: argparse.Namespace, ann: Any) -> SpikingNetwork:
    if options.rival is not None:
        return _rival(options, ann)
    if options.snn is None:
        return convert(ann, options.engine or "steps", options.neuron, options.timesteps)
    snn = load(options.snn, options.device)
    if not isinstance(snn, SpikingNetwork):
        raise PascalError(f"--snn: {options.snn} is no spiking network; pascal convert makes one")
    return snn


def _rival(options: argparse.Namespace, ann: Any) -> SpikingNetwork:
    """A rival's network; what it must choose, it chooses on training images."""
    if options.snn or options.engine or options.check:
        raise PascalError("--rival: got --snn, --engine or --check beside it, expected none: it has its own network")
    training = argparse.Namespace(**vars(options) | {"images": CALIBRATION_IMAGES})
    chosen_by = batches(training, "train") if METHODS[options.rival].needs else None
    return rival(ann, options.rival, chosen_by)


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
