"""Watch the QCFS layers of a network while images pass through it; nothing of the network changes."""

from typing import Any

from torch import nn

from pascal.errors import PascalError
from pascal.inference import check_model, image_batches, run, undisturbed
from pascal.neurons.levels import registered_layers
from pascal.neurons.watching import Watch, watched

Batches = Any  # as `pascal.inference.image_batches` reads them


def observe(model: nn.Module, batches: Batches, watch: Watch, bar: bool = False) -> int:
    """Call `watch` on each QCFS layer as it runs, in evaluation mode; how many images passed."""
    if not registered_layers(check_model(model)):
        raise PascalError("model: has no QCFS layer; quantize it first")
    images_seen = 0
    with undisturbed(model), watched(model, watch):
        for images in image_batches(batches, "observe" if bar else ""):
            run(model, images)
            images_seen += len(images)
    if not images_seen:
        raise PascalError("batches: got none, expected at least one image (an iterator is spent after one pass)")
    return images_seen
