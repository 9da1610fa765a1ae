"""How a network is trained (appendix, Training Configurations)."""

import math
from dataclasses import dataclass

from pascal.errors import PascalError


@dataclass(frozen=True)
class TrainingConfig:
    """SGD with momentum and a decay to zero. The defaults are the paper's for CIFAR-10; docs/training.md has others."""

    epochs: int = 300
    learning_rate: float = 0.1
    decay: str = "cosine"  # or "linear", which short trainings end better with
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 5e-4
    decay_norms: bool = True  # batch norms and biases too
    decay_thresholds: bool = True  # as QCFS does; the penalty is on θ itself
    threshold_limit: float = 1e4  # beyond it a threshold counts as exploded, below its inverse as collapsed
    warmup_epochs: int = 0
    label_smoothing: float = 0.0
    freeze_batch_norm: bool = False  # its statistics stay as they are: of few steps they would be poor ones
    average: float = 0.0  # how much of the weights' moving average a step keeps; 0: the last weights alone
    mixed_precision: bool = False  # bfloat16: as wide as float32, so that no loss needs scaling
    channels_last: bool = True
    compile: bool = False
    selection: str = "last"  # or "best": the epoch of best validation accuracy, never of the test's
    checkpoint_steps: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        for key, rule, expected in _RULES:
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not rule(value):
                raise PascalError(f"{key}: got {value!r}, expected {expected}")
        if self.warmup_epochs >= self.epochs:
            raise PascalError(f"warmup_epochs: got {self.warmup_epochs}, expected fewer than the {self.epochs} epochs")
        if self.selection not in ("last", "best"):
            raise PascalError(f"selection: got {self.selection!r}, expected 'last' or 'best'")
        if self.decay not in ("cosine", "linear"):
            raise PascalError(f"decay: got {self.decay!r}, expected 'cosine' or 'linear'")
        if self.nesterov and not self.momentum:
            raise PascalError("nesterov: got True with momentum 0, expected a momentum to look ahead with")


_COUNT = (lambda value: isinstance(value, int) and value >= 1, "a whole number >= 1")
_WHOLE = (lambda value: isinstance(value, int) and value >= 0, "a whole number >= 0")
_POSITIVE = (lambda value: 0 < value < math.inf, "a finite number > 0")
_FRACTION = (lambda value: 0 <= value < 1, "a number in [0, 1)")
_RULES = (
    ("epochs", *_COUNT),
    ("learning_rate", *_POSITIVE),
    ("momentum", *_FRACTION),
    ("weight_decay", *_FRACTION),
    ("threshold_limit", *_POSITIVE),
    ("warmup_epochs", *_WHOLE),
    ("label_smoothing", *_FRACTION),
    ("average", *_FRACTION),
    ("checkpoint_steps", *_COUNT),
    ("seed", *_WHOLE),
)


def learning_rate(step: int, steps_per_epoch: int, config: TrainingConfig) -> float:
    """η/2 · (1 + cos π·progress), or η · (1 − progress), after a linear warm-up.

    A function of the step alone, so nothing needs saving.
    """
    warmup = config.warmup_epochs * steps_per_epoch
    if step < warmup:
        return config.learning_rate * (step + 1) / warmup
    progress = (step - warmup) / (config.epochs * steps_per_epoch - warmup)
    if config.decay == "linear":
        return config.learning_rate * (1 - progress)
    return config.learning_rate * (1 + math.cos(math.pi * progress)) / 2


def retraining_epochs(epochs: int, fraction: float = 2 / 3) -> int:
    """Algorithm 4, line 3: how many of the epochs keep uniform levels, p ≈ 2/3; at least one on either side.

    None with p = 0: a network trained elsewhere enters at line 2, and its levels change before the first epoch.
    """
    if not 0 <= fraction < 1:
        raise PascalError(f"fraction: got {fraction}, expected p in [0, 1)")
    if fraction == 0:
        return 0
    if epochs < 2:
        raise PascalError(f"epochs: got {epochs}, expected at least 2 to retrain and then to finetune")
    return min(max(round(fraction * epochs), 1), epochs - 1)
