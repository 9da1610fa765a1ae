"""Training and evaluation of any model on any batches. Here a step is one update of the weights."""

from pascal.training.checkpoint import Checkpoint, load_state, save_state
from pascal.training.config import TrainingConfig, learning_rate, retraining_epochs
from pascal.training.copies import weights
from pascal.training.distributed import process_group, processes, rank
from pascal.training.evaluate import Evaluation, evaluate
from pascal.training.loop import train
from pascal.training.records import EpochRecord, TrainingState

__all__ = [
    "Checkpoint",
    "EpochRecord",
    "Evaluation",
    "TrainingConfig",
    "TrainingState",
    "evaluate",
    "learning_rate",
    "load_state",
    "process_group",
    "processes",
    "rank",
    "retraining_epochs",
    "save_state",
    "train",
    "weights",
]
