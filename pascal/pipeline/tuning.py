"""What follows a change of levels: nothing, a gentle training, or the rest of Algorithm 4; the better one is kept."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from pascal.data import evaluation_batches
from pascal.pipeline.models import tensors_of
from pascal.pipeline.stage import read_json
from pascal.pipeline.training import Training, load_kept_state
from pascal.training import EpochRecord, evaluate
from pascal.training.distributed import choose_device
from pascal.training.state import model_weights, with_weights

if TYPE_CHECKING:
    from pascal.pipeline.parameters.stages import FinetuneStage


class Tuning:
    """A network whose levels have just changed, and the training that may follow."""

    def __init__(self, params: "FinetuneStage", training: Training, levels: Mapping[str, int], inputs: Any) -> None:
        self.params, self.training = params, training
        self._state = load_kept_state(inputs.state) if inputs.get("state") else None
        network = training.network
        network.load_state_dict(model_weights(self._state) if self._state else tensors_of(inputs.ann))
        training.set_levels(levels)
        self._scaled = _scale_thresholds(training, inputs.get("plan"))
        self._before = copy.deepcopy(network)

    def records(self, epochs_before: int) -> Iterator[EpochRecord]:
        """Train in place; epochs count on from those before."""
        if self.params.adapt.finetune == "gentle":
            for record in self._gentle().records(self.training.key):
                yield replace(record, epoch=epochs_before + record.epoch)
        elif self._state is not None:
            yield from self.training.records(self.training.key, with_weights(self._state, self._scaled))

    def _gentle(self) -> Training:
        """A short cosine of its own; batch norms keep the statistics of the whole training."""
        gentle = self.params.adapt.gentle
        config = replace(
            self.training.config,
            epochs=1,
            warmup_epochs=0,
            learning_rate=gentle.learning_rate,
            selection="last",
            freeze_batch_norm=True,
        )
        return replace(self.training, config=config, steps=gentle.steps)

    def better(self) -> tuple[nn.Module, dict[str, Any]]:
        """The network before or after training, whichever gets more validation images right; without any the latter."""
        trained = self.params.adapt.finetune != "none"
        candidates = {"before": self._before} | ({"after": self.training.network} if trained else {})
        accuracy = {name: self._accuracy(network) for name, network in candidates.items()}
        kept = max(reversed(candidates), key=lambda name: accuracy[name] or 0.0)  # of equals the trained one
        return candidates[kept], {
            "method": self.params.adapt.method,
            "finetune": self.params.adapt.finetune,
            "validation_images": len(self.training.dataset.validation),
            "before_accuracy": accuracy["before"],
            "after_accuracy": accuracy.get("after"),
            "kept": kept,
        }

    def _accuracy(self, network: nn.Module) -> float | None:
        data, device = self.training.dataset, choose_device(self.params.device)
        if not len(data.validation):
            return None
        batches = evaluation_batches(data, data.validation, device=device, workers=self.params.train.workers)
        return evaluate(network.to(device), batches).accuracy


def _scale_thresholds(training: Training, plan: Any) -> dict[str, Tensor]:
    """The plan's thresholds, as multiples of the network's own; the weights that this changed."""
    scales = {row["layer"]: row["threshold_scale"] for row in read_json(plan)["layers"]} if plan else {}
    for path, scale in scales.items():
        layer = training.layers[path]
        layer.threshold = layer.threshold.detach() * scale
    return {f"{path}.raw_threshold": training.layers[path].raw_threshold.detach().clone() for path in scales}
