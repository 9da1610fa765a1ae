"""verify: ann.safetensors, snn.safetensors, test images → verify.json, the equivalence certificate."""

import torch
from pascal.files import write_text
from pascal.graph import verify
from pascal.pipeline.models import at_most, batches_of, open_dataset
from pascal.pipeline.spiking import spiking_network
from pascal.pipeline.stage import stage
from pascal.pipeline.trained import trained_network

with stage(snakemake) as params:
    settings = params.verify
    dataset = open_dataset(snakemake.input.data)
    dtype = getattr(torch, settings.dtype)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann).to(dtype)
    snn = spiking_network(ann, snakemake.input.snn)
    images = at_most(dataset.test, settings.images)
    certificate = verify(ann, snn, batches_of(params, dataset, images, settings.batch_size))
    write_text(snakemake.output[0], certificate.to_json())
