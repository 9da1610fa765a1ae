"""One run of a method on all images, kept batch by batch in files: every curve is read from them, and memory does not
grow with the images. What a folder holds already is not run again."""

import hashlib
import io
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor, nn

from pascal.baselines.fan_out import FanOut
from pascal.baselines.method import Method, Seen
from pascal.files import write_bytes
from pascal.graph.digests import DataDigest, model_digest
from pascal.graph.observe import call_path
from pascal.inference import image_batches, in_arithmetic_of, labelled_batches, run, undisturbed
from pascal.neurons import QCFS
from pascal.neurons.watching import watched

_MERGED_IMAGES = 256  # timesteps times images that go through the network at once
Arrays = dict[str, Any]


class Recording:
    """What a method did on each batch of images."""

    def __init__(self, method: Method, ann: nn.Module, folder: Path) -> None:
        self.method, self.ann = method, ann
        self.layers = list(method.network.neurons)
        about = f"{model_digest(ann)} {model_digest(method.network.graph)} {method.name} {method.settings}"
        self.folder = folder / f"{method.name}-{hashlib.sha256(about.encode()).hexdigest()[:16]}"
        self.counted = sorted({answer.timesteps for answer in method.answers if answer.timesteps})

    def batches(self, batches: Iterable[Any], bar: Callable[[int], Any]) -> Iterator[Arrays]:
        """Run, or read, batch after batch; `bar` hears how many images are done."""
        fan_out = FanOut(self.method.network)
        for number, batch in enumerate([batches] if isinstance(batches, Tensor) else batches):
            (images,) = image_batches([batch])
            images = in_arithmetic_of(self.ann, images)
            path, digest = self.folder / f"{number}.npz", _digest(images)
            arrays = _read(path, digest)
            if arrays is None:
                labels = None if isinstance(batch, Tensor) else next(labelled_batches([batch]))[1]
                arrays = self._run(images, labels, fan_out) | {"digest": np.array(digest)}
                _write(path, arrays)
            bar(len(images))
            yield arrays

    def _run(self, images: Tensor, labels: Tensor | None, fan_out: FanOut) -> Arrays:
        size = max(1, _MERGED_IMAGES // self.method.longest)
        parts = [self._portion(portion, fan_out) for portion in images.split(size)]
        timesteps = max(len(part["logits"]) for part in parts)
        arrays = {name: np.concatenate([_last_to(part[name], timesteps) for part in parts], 1) for name in _OVER_TIME}
        arrays |= {name: np.concatenate([part[name] for part in parts]) for name in ("lasts", "expected")}
        arrays |= {name: sum(part[name] for part in parts) for name in ("wrong", "neurons", "seconds")}
        arrays["memory"] = max(part["memory"] for part in parts)
        return arrays if labels is None else arrays | {"labels": labels.cpu().numpy()}

    def _portion(self, images: Tensor, fan_out: FanOut) -> Arrays:
        expected, levels = _levels(self.ann, images)
        before, start = _memory(reset=True), time.perf_counter()
        outcome = self.method.run(images)
        seconds, memory = time.perf_counter() - start, _memory() - before
        lasts = outcome.lasts
        network = self.method.network
        wrong = network.mismatches(levels, outcome.trains, self.counted)
        return {
            "logits": outcome.logits.cpu().numpy(),
            "synapses": fan_out.synapses(outcome, images).cpu().numpy(),
            "lasts": np.full(len(images), len(outcome.logits)) if lasts is None else lasts.cpu().numpy(),
            "expected": expected.argmax(-1).cpu().numpy(),
            "wrong": np.array([[each[layer] for layer in self.layers] for each in wrong], np.int64),
            "neurons": np.array(sum(level.numel() for level in levels.values())),
            "seconds": np.array(seconds),
            "memory": np.array(max(memory, 0)),
        }


def _levels(ann: nn.Module, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The ANN's logits, and its levels by layer."""
    levels: dict[str, Tensor] = {}

    def look(path: str, qcfs: QCFS, preactivation: Tensor) -> None:
        levels[call_path(path, levels)] = qcfs.count(preactivation)

    with undisturbed(ann), watched(ann, look):
        return run(ann, images), levels


_OVER_TIME = ("logits", "synapses")


def seen_of(arrays: Arrays) -> Seen:
    """What the answers are read from."""
    labels = torch.from_numpy(arrays["labels"]) if "labels" in arrays else None
    logits, lasts, expected = (torch.from_numpy(arrays[name]) for name in ("logits", "lasts", "expected"))
    return Seen(logits, lasts, labels, expected)


def _last_to(array: Any, timesteps: int) -> Any:
    """The same, its last timestep repeated; nothing is added to what was spent."""
    missing = timesteps - len(array)
    if not missing:
        return array
    rest = np.repeat(array[-1:], missing, 0) if array.ndim > 2 else np.zeros((missing, *array.shape[1:]))
    return np.concatenate([array, rest])


def _digest(images: Tensor) -> str:
    digest = DataDigest()
    digest.add(images)
    return digest.hexdigest()


def _read(path: Path, digest: str) -> Arrays | None:
    """What was kept of these very images."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            return dict(kept) if str(kept["digest"]) == digest else None
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())


def _memory(reset: bool = False) -> int:
    """Bytes of this process now, its peak forgotten, or the peak since then; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return 1024 * int(lines["VmRSS" if reset else "VmHWM"].split()[0])
    except (OSError, KeyError):
        return 0
