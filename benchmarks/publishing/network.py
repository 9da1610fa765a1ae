"""A trained network of the pipeline as a file to hand on: weights, and beside them all that is needed to use them.

`python -m benchmarks.publishing.network RESULTS PRESET RUN OUT.safetensors` reads RESULTS/RUN/0/ann.safetensors, which
`snakemake --cores 2 RESULTS/RUN/0/ann.safetensors --configfile PRESET` made, and writes OUT.safetensors, the state of
`pascal.build_network(**build)`, and OUT.json with `build`, colours, schedule, accuracies, seeds.
`--dtype float16` rounds the weights, and the accuracies are those of the rounded ones; `--indices` lists the images.
"""

import argparse
import hashlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.publishing.provenance import write_record
from benchmarks.publishing.reference import ROOT
from pascal.data import Dataset, evaluation_batches
from pascal.files import read_tensors, write_tensors
from pascal.networks import build_network
from pascal.pipeline.commit import git_commit
from pascal.pipeline.models import open_dataset
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.runs import Settings
from pascal.pipeline.stage import read_rows
from pascal.training import evaluate

COMMAND = "snakemake --cores 2 results/{run}/{seed}/ann.safetensors --configfile {preset}"


def main() -> None:
    """Round, build, evaluate, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("preset")
    parser.add_argument("run")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=("float32", "float16", "bfloat16"), default="float32")
    parser.add_argument("--indices", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    settings = load_params(ROOT / arguments.preset).runs[arguments.run].settings
    home = arguments.results / arguments.run / str(arguments.seed)
    dataset = open_dataset(arguments.results / "data" / f"{settings.dataset}.json")
    tensors = rounded(read_tensors(home / "ann.safetensors"), getattr(torch, arguments.dtype))
    write_tensors(arguments.out, tensors)
    source = {"run": arguments.run, "seed": arguments.seed, "preset": arguments.preset}
    record = {
        "kind": "network", **source, **description(settings, dataset, tensors), "dtype": arguments.dtype,
        "sha256": hashlib.sha256(arguments.out.read_bytes()).hexdigest(),
        "train": settings.train.model_dump(mode="json"),
        "seconds": sum(float(row["seconds"]) for row in read_rows(home / "train.csv")),
        "command": COMMAND.format(**source), "commit": git_commit(arguments.results),
    }  # fmt: skip
    if arguments.indices:
        record["validation_indices"] = dataset.validation_indices.tolist()
    write_record(arguments.out.with_suffix(".json"), record)
    print({name: record[name] for name in ("run", "dtype", "validation_accuracy", "test_accuracy")})


def rounded(tensors: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """Floating-point tensors in another type; levels and counters as they are."""
    return {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def description(settings: Settings, dataset: Dataset, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """How to build the network, what it was shown, and what it answers."""
    build = {
        "name": settings.network, "classes": len(dataset.classes), "image_size": dataset.image_size,
        "levels": settings.levels, "width": settings.width, "pool": settings.pool,
    }  # fmt: skip
    network = build_network(**build).eval()
    network.load_state_dict(tensors)
    answers = {
        split: evaluate(network, evaluation_batches(dataset, getattr(dataset, split)))
        for split in ("validation", "test")
    }
    return {
        "dataset": settings.dataset, "build": build, "mean": dataset.mean, "std": dataset.std,
        "epochs": settings.train.epochs, "training_images": len(dataset.train),
        **{f"{split}_accuracy": answer.accuracy for split, answer in answers.items()},
        **{f"{split}_images": answer.images for split, answer in answers.items()},
        "validation_seed": dataset.seed,
    }  # fmt: skip


if __name__ == "__main__":
    main()
