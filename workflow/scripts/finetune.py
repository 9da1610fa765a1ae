"""finetune: a retrained state or the start's network, and levels.json → the adaptive network (Algorithm 4, line 4).

finetune.json has the accuracy before and after on validation images; the better one of the two is the network.
"""

from pascal.adapt import read_levels
from pascal.files import write_tensors
from pascal.pipeline.stage import read_rows, reading, stage, write_json
from pascal.pipeline.training import prepare_training, write_curve
from pascal.pipeline.tuning import Tuning
from pascal.training import weights

with stage(snakemake) as params:
    training = prepare_training(params, snakemake, params.levels)
    with reading(snakemake.input.levels):
        levels = read_levels(snakemake.input.levels, training.layers)
    tuning, epochs = Tuning(params, training, levels, snakemake.input), read_rows(snakemake.input.curve)
    records = list(tuning.records(len(epochs)))
    kept, compared = tuning.better()
    write_tensors(snakemake.output.ann, weights(kept))
    write_curve(snakemake.output.curve, records, before=epochs)
    write_json(snakemake.output.compared, compared)
