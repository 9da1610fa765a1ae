"""retrain: prepared data → the training state after p of the epochs with uniform levels (Algorithm 4, line 3).

With `reuse` it is taken from the training of the run it starts from, which is the same to the byte.
"""

import shutil

from lib.stage import stage
from lib.training import STATES, newest_state, prepare_training, write_curve
from pascal.training import retraining_epochs, save_state

with stage(snakemake) as params:
    training = prepare_training(params, snakemake, params["levels"])
    until = retraining_epochs(training.config.epochs, params["adapt.p"])
    kept = STATES / training.key / f"{until}.safetensors"
    if params["adapt.reuse"] and snakemake.input.get("reused") and kept.exists():
        shutil.copyfile(kept, snakemake.output.state)
        shutil.copyfile(kept.with_suffix(".csv"), snakemake.output.curve)
    else:
        key = f"{training.key}-until-{until}"
        write_curve(snakemake.output.curve, list(training.records(key, until=until)))
        save_state(snakemake.output.state, newest_state(key))
