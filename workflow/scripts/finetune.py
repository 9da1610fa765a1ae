"""finetune: a retrained state and levels.json → the adaptive network, trained to the end (Algorithm 4, line 4)."""

from pascal.adapt import read_levels
from pascal.files import write_tensors
from pascal.pipeline.stage import read_rows, stage
from pascal.pipeline.training import load_kept_state, prepare_training, write_curve
from pascal.training import weights

with stage(snakemake) as params:
    training = prepare_training(params, snakemake, params.levels)
    training.set_levels(read_levels(snakemake.input.levels, training.layers))
    records = list(training.records(training.key, load_kept_state(snakemake.input.state)))
    write_tensors(snakemake.output.ann, weights(training.network))
    write_curve(snakemake.output.curve, records, before=read_rows(snakemake.input.curve))
