"""calibrate: weights trained elsewhere, training images without labels → ann.safetensors, calibration.csv."""

import sys
from dataclasses import asdict, fields

from pascal.calibration import LayerCalibration, calibrate, load_weights
from pascal.errors import PascalError
from pascal.files import write_rows, write_tensors
from pascal.pipeline.models import at_most, batches_of, new_network, open_dataset
from pascal.pipeline.stage import stage
from pascal.training import weights
from pascal.training.distributed import choose_device

with stage(snakemake) as params:
    settings, seed = params.calibrate, int(snakemake.wildcards.seed)
    dataset = open_dataset(snakemake.input.data)
    network = new_network(params, snakemake.input.data, params.levels)
    try:
        print(load_weights(network, snakemake.input.weights), file=sys.stderr)
    except PascalError as error:
        raise PascalError(f"runs.{snakemake.wildcards.run}.weights: {error}") from error
    images = batches_of(params, dataset, at_most(dataset.train, settings.images, seed), 100)
    network = network.eval().to(choose_device(params.device))
    calibration = calibrate(network, images, settings.method, seed=seed, bar=True)
    print(calibration, file=sys.stderr)
    write_tensors(snakemake.output.ann, weights(calibration.ann))
    names = [field.name for field in fields(LayerCalibration)]
    write_rows(snakemake.output.layers, names, map(asdict, calibration.layers))
