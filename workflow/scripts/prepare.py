"""prepare: a data set's files → results/data/{dataset}.json: checksums, counts, classes, mean, std, split indices."""

from lib.stage import stage, write_json
from pascal.data import describe, load_dataset

with stage(snakemake) as params:
    source = params.pop("source", snakemake.wildcards.dataset)
    dataset = load_dataset(source, **params)
    write_json(snakemake.output[0], describe(dataset))
