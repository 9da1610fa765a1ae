"""Every rival method on one trained network and all test images of CIFAR-10, in one accounting.

`python -m benchmarks.studies.rivals resnet20_l8 results/reference/rivals` takes the QCFS ResNet-20 of
PASCAL_CHECKPOINTS; with `--weights W.safetensors --network vgg16 --width 0.25 --pool avg` a network trained here under
the given name. Runs are kept in `--store`, so that the same command goes on where it stopped. Images to choose by and
to train on come from the training set.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

import pascal
from benchmarks.checkpoints import QCFS_MEAN, QCFS_RESNET20, QCFS_STD, checkpoint_path, data_root, load_qcfs_resnet20
from benchmarks.publishing.provenance import provenance, write_record
from pascal.baselines import whole_comparison
from pascal.data import load_dataset, sample
from pascal.data.augment import normalise
from pascal.energy.costs import FP32, INT8
from pascal.files import read_tensors, write_rows

LONG, SHORT, CALIBRATED = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8), (4, 8)
METHODS = {
    "pasc": (1,), "group": (1,), "parallel": SHORT, "plain": LONG, "seenn": LONG, "confidence": LONG, "st-bif": LONG,
    "ftbc": CALIBRATED, "cos": SHORT, "srp": SHORT, "tet": (4,), "radix": (1,),
}  # fmt: skip
COSTS = {"fp32": FP32, "int8": INT8}
SEED = 0


def main() -> None:
    """Compare, write, print."""
    options = _options()
    ann, mean, std = _network(options)
    data = load_dataset("cifar10", data_root(), mean=mean, std=std, download=False)
    images, labels = normalise(data.test.pixels[: options.images], data.mean, data.std), data.test.labels
    batches = list(zip(images.split(200), labels[: options.images].split(200), strict=True))
    shown = sample(data.train, options.calibration, SEED)
    calibration = normalise(shown.pixels, data.mean, data.std).split(64)
    learned = sample(data.train, options.training, SEED + 1)
    training = list(
        zip(normalise(learned.pixels, data.mean, data.std).split(100), learned.labels.split(100), strict=True)
    )
    settings = {"costs": COSTS, "store": options.store, "bar": True, "training": training, "epochs": options.epochs}
    began = time.perf_counter()
    with timed(options.store / f"{options.name}.json") as spent:
        methods = {name: METHODS[name] for name in options.methods}
        rows = whole_comparison(ann, batches, methods, calibration, **settings)
    found = [{"network": options.name} | row for row in rows]
    options.out.mkdir(parents=True, exist_ok=True)
    write_rows(options.out / f"{options.name}.csv", found[0], found)
    about = {
        **provenance(), "seed": SEED, "images": len(images), "calibration_images": options.calibration,
        "training_images": options.training, "epochs": options.epochs, "threads": torch.get_num_threads(),
        "cpu_seconds": round(sum(spent), 1), "wall_seconds_of_last_start": round(time.perf_counter() - began, 1),
        "starts": len(spent),
    }  # fmt: skip
    write_record(options.out / f"{options.name}.json", about)
    print(*_told(rows), sep="\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the network, as files are called")
    parser.add_argument("out", type=Path)
    parser.add_argument("--weights", type=Path, help="a network trained here in the place of the public one")
    parser.add_argument("--network", default="vgg16")
    parser.add_argument("--width", type=float, default=1.0)
    parser.add_argument("--pool", default="avg")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--calibration", type=int, default=256, help="training images to choose by")
    parser.add_argument("--training", type=int, default=2_000, help="training images of tet")
    parser.add_argument("--epochs", type=int, default=2, help="of tet")
    parser.add_argument("--store", type=Path, default=Path("work/rivals"), help="where runs are kept")
    return parser.parse_args()


def _network(options: argparse.Namespace) -> tuple[nn.Module, tuple[float, ...] | None, tuple[float, ...] | None]:
    if options.weights is None:
        return load_qcfs_resnet20(checkpoint_path(QCFS_RESNET20)), QCFS_MEAN, QCFS_STD
    ann = pascal.build_network(options.network, width=options.width, pool=options.pool)
    ann.load_state_dict(read_tensors(options.weights))
    return ann.eval(), None, None


@contextmanager
def timed(path: Path) -> Iterator[list[float]]:
    """CPU seconds of every start of the same comparison, this one last."""
    spent: list[float] = json.loads(path.read_text()) if path.exists() else []
    began = time.process_time()
    try:
        yield spent
    finally:
        spent.append(time.process_time() - began)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(spent))


def _told(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row["problem"]:
            yield row["problem"]
        elif row["chosen"]:
            told = f"{row['label']:40} {row['answer']:18} {100 * row['accuracy']:6.2f} %"
            yield f"{told} T_tot {row['total_timesteps']:.2f}"


if __name__ == "__main__":
    main()
