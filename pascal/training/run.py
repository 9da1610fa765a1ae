"""One training under way: what changes from step to step, and how one step is made."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pascal.training.average import WeightAverage
from pascal.training.config import TrainingConfig, learning_rate
from pascal.training.copies import weights
from pascal.training.distributed import rank, share_buffers, synchronise, total
from pascal.training.evaluate import evaluate
from pascal.training.guard import check_loss
from pascal.training.records import EpochRecord, Tally
from pascal.training.thresholds import check_thresholds, decay_thresholds, threshold_layers, threshold_range

Batches = Iterable[tuple[Tensor, Tensor]]


class Run:
    """A model with its optimiser, somewhere on its schedule."""

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        self.model, self.config, self.steps_per_epoch = model, config, steps_per_epoch
        self.device = next(model.parameters()).device
        self.format = torch.channels_last if config.channels_last else torch.contiguous_format
        model.to(memory_format=self.format)
        self.layers = threshold_layers(model)
        self.optimiser = _sgd(model, config, {id(layer.raw_threshold) for layer in self.layers.values()})
        self.average = WeightAverage(model, config.average)
        parallel = synchronise(model, self.device)
        self.forward = torch.compile(parallel) if config.compile else parallel
        self.step, self.tally, self._since = 0, Tally(), monotonic()
        self.records: list[EpochRecord] = []
        self.best_accuracy, self.best_weights = -math.inf, dict[str, Tensor]()

    @property
    def epoch(self) -> int:
        """Epochs finished."""
        return self.step // self.steps_per_epoch

    def where(self) -> str:
        """For messages, counted from one."""
        return f"epoch {self.epoch + 1}, step {self.step % self.steps_per_epoch + 1}"

    def learning_rate(self, step: int) -> float:
        """The schedule's rate at a step."""
        return learning_rate(step, self.steps_per_epoch, self.config)

    def begin_steps(self) -> None:
        """The network as it is trained: batch norms keep their statistics where they are frozen."""
        self.model.train()
        if self.config.freeze_batch_norm:
            for module in self.model.modules():
                if isinstance(module, nn.modules.batchnorm._BatchNorm):
                    module.eval()

    def advance(self, images: Tensor, labels: Tensor) -> None:
        """One step of stochastic gradient descent."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.learning_rate(self.step)
        images = images.to(memory_format=self.format) if images.dim() == 4 else images
        loss, correct = self._gradients(images, labels)
        if self.config.decay_thresholds:
            decay_thresholds(self.layers, self.config.weight_decay)
        self.optimiser.step()
        self.average.update(self.step)
        check_thresholds(self.layers, self.config.threshold_limit)
        self.tally.add(loss, correct, len(labels))
        self.step += 1
        self._tick()

    def _gradients(self, images: Tensor, labels: Tensor) -> tuple[float, int]:
        self.optimiser.zero_grad()
        with _seeded(self.device, self.config.seed, self.step, rank()):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.mixed_precision):
                logits = self.forward(images)
                loss = F.cross_entropy(logits, labels, label_smoothing=self.config.label_smoothing)
            check_loss(loss.item(), self.model, images)
            loss.backward()
        return loss.item(), int((logits.argmax(1) == labels).sum())

    def finish_epoch(self, validation: Batches | None) -> EpochRecord:
        """Close the epoch's sums, validate, remember the best weights if they are asked for."""
        with self.average.applied():
            accuracy = self._validation_accuracy(validation)
            if self.config.selection == "best" and accuracy > self.best_accuracy:
                self.best_accuracy, self.best_weights = accuracy, weights(self.model)
        self._tick()
        tally = self.global_tally()
        smallest, largest = threshold_range(self.layers)
        record = EpochRecord(
            epoch=self.epoch,
            loss=tally.mean_loss,
            train_accuracy=tally.accuracy,
            validation_accuracy=accuracy,
            learning_rate=self.learning_rate(self.step - 1),
            threshold_min=smallest,
            threshold_max=largest,
            seconds=tally.seconds,
        )
        self.records.append(record)
        self.tally = Tally()
        return record

    def finish(self) -> None:
        """Give the model the weights that the training ends with: the best, the averaged or the last."""
        self.average.apply()
        if self.best_weights:
            self.model.load_state_dict(self.best_weights)

    def global_tally(self) -> Tally:
        """The sums over all processes."""
        sums = total([self.tally.loss, self.tally.correct, self.tally.images], self.device)
        return replace(self.tally, loss=sums[0], correct=sums[1], images=sums[2])

    def _tick(self) -> None:
        now = monotonic()
        self.tally.seconds += now - self._since
        self._since = now

    def _validation_accuracy(self, validation: Batches | None) -> float:
        if validation is None:
            return math.nan
        share_buffers(self.model)  # each process answers for its share of the images, all of them with one network
        answers = evaluate(self.model, validation)
        correct, images = total([answers.correct, answers.images], self.device)
        return correct / images


def _sgd(model: nn.Module, config: TrainingConfig, undecayed: set[int]) -> torch.optim.SGD:
    """Thresholds stay out of the optimiser's own decay, which would act on the parameter behind θ."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not config.decay_norms:  # a scale or a bias has one number per channel
        undecayed = undecayed | {id(p) for p in parameters if p.ndim < 2}
    groups = [
        {"params": [p for p in parameters if id(p) not in undecayed], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if id(p) in undecayed], "weight_decay": 0.0},
    ]
    used = [group for group in groups if group["params"]]
    return torch.optim.SGD(used, config.learning_rate, config.momentum, nesterov=config.nesterov)


@contextmanager
def _seeded(device: torch.device, *key: int) -> Iterator[None]:
    """Dropout draws from (seed, step, rank): no random state to save, and the caller's generator stays as it was."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        seed = int(np.random.SeedSequence(key).generate_state(1)[0])
        # torch.manual_seed notes a traceback for every device that is not in use: a millisecond per step.
        torch.default_generator.manual_seed(seed) if device.type == "cpu" else torch.manual_seed(seed)
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
            yield
