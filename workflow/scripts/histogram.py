"""histogram: the `from` run's network on training images → histogram.csv, neurons per level and layer (Algorithm 3)."""

from lib.columns import HISTOGRAM
from lib.models import first_images, open_dataset, trained_network
from lib.stage import stage, write_rows
from pascal.adapt import level_histograms
from pascal.data import evaluation_batches
from pascal.training.distributed import choose_device

with stage(snakemake) as params:
    device = choose_device(params["device"])
    dataset = open_dataset(snakemake.input.data)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann).to(device)
    images = first_images(dataset.train, params["adapt.images"], seed=int(snakemake.wildcards.seed))
    histograms = level_histograms(ann, evaluation_batches(dataset, images, device=device), bar=True)
    rows = [
        {"layer": layer, "level": level, "count": int(count)}
        for layer, counts in histograms.items()
        for level, count in enumerate(counts)
    ]
    write_rows(snakemake.output[0], HISTOGRAM, rows)
