"""histogram: the `from` run's network on training images → histogram.csv, neurons per level and layer (Algorithm 3)."""

from lib.columns import HISTOGRAM
from lib.models import at_most, batches_of, open_dataset, trained_network
from lib.stage import stage, write_rows
from pascal.adapt import level_histograms

with stage(snakemake) as params:
    dataset = open_dataset(snakemake.input.data)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann)
    images = at_most(dataset.train, params["adapt.images"], seed=int(snakemake.wildcards.seed))
    histograms = level_histograms(ann, batches_of(params, dataset, images), bar=True)
    rows = [
        {"layer": layer, "level": level, "count": int(count)}
        for layer, counts in histograms.items()
        for level, count in enumerate(counts)
    ]
    write_rows(snakemake.output[0], HISTOGRAM, rows)
