"""histogram: the `from` run's network, a uniform run's own, on training images → histogram.csv (Algorithm 3)."""

from pascal.adapt import level_histograms
from pascal.files import write_rows
from pascal.pipeline.models import at_most, batches_of, open_dataset
from pascal.pipeline.stage import stage
from pascal.pipeline.trained import trained_network

with stage(snakemake) as params:
    dataset = open_dataset(snakemake.input.data)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann)
    images = at_most(dataset.train, params.adapt.images, seed=int(snakemake.wildcards.seed))
    histograms = level_histograms(ann, batches_of(params, dataset, images), bar=True)
    rows = [
        {"layer": layer, "level": level, "count": int(count)}
        for layer, counts in histograms.items()
        for level, count in enumerate(counts)
    ]
    write_rows(snakemake.output[0], rows[0], rows)
