"""prepare: a data set's files → results/data/{dataset}.json: checksums, counts, classes, mean, std, split indices."""

from pascal.data import describe, load_dataset
from pascal.pipeline.stage import stage, write_json

with stage(snakemake) as params:
    dataset = load_dataset(params.source, None, params.seed, params.validation, params.mean, params.std)
    write_json(snakemake.output[0], describe(dataset))
