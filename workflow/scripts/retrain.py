"""retrain: prepared data → the training state after p of the epochs with uniform levels (Algorithm 4, line 3).

With `reuse` it is taken from the training of the run it starts from, which is the same to the byte.
"""

import shutil
import sys

from pascal.pipeline.stage import read_rows, stage
from pascal.pipeline.training import STATES, load_kept_state, newest_state, prepare_training, write_curve
from pascal.training import retraining_epochs, save_state

with stage(snakemake) as params:
    training = prepare_training(params, snakemake, params.levels)
    until = retraining_epochs(training.config.epochs, params.adapt.p)
    kept = STATES / training.shared / f"{until}.safetensors"
    wanted = params.adapt.reuse and snakemake.input.get("reused")
    if wanted and kept.exists():
        load_kept_state(str(kept))  # whole, or set aside and made anew
        read_rows(kept.with_suffix(".csv"), ("epoch",))
        shutil.copyfile(kept, snakemake.output.state)
        shutil.copyfile(kept.with_suffix(".csv"), snakemake.output.curve)
    else:
        if wanted:
            print(f"no state was kept after {until} epochs: training them again", file=sys.stderr)
        key = f"{training.key}-until-{until}"
        write_curve(snakemake.output.curve, list(training.records(key, until=until)))
        save_state(snakemake.output.state, newest_state(key))
