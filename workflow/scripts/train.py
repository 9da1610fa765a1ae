"""train: prepared data → a network with uniform levels (ann.safetensors) and its epochs (train.csv).

Where adaptive runs will branch off, the state is kept under work/states.
"""

from pascal.files import write_tensors
from pascal.pipeline.stage import stage
from pascal.pipeline.training import STATES, prepare_training, write_curve
from pascal.training import TrainingState, retraining_epochs, save_state, weights

with stage(snakemake) as params:
    epochs = params.train.epochs  # 0: weights trained elsewhere enter as they are
    training = prepare_training(params, snakemake, params.levels)
    branches = {retraining_epochs(epochs, p) for p in snakemake.params.keep} if epochs > 1 else set()

    def keep(state: TrainingState) -> None:
        """Save what an adaptive run goes on from."""
        epoch, within = divmod(state.step, state.steps_per_epoch)
        if epoch in branches and within == 0:
            folder = STATES / training.shared
            folder.mkdir(parents=True, exist_ok=True)
            write_curve(folder / f"{epoch}.csv", state.records)
            save_state(folder / f"{epoch}.safetensors", state)

    records = list(training.records(training.key, reached=keep)) if epochs else []
    write_tensors(snakemake.output.ann, weights(training.network))
    write_curve(snakemake.output.curve, records)
