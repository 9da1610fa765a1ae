"""verify: ann.safetensors, snn.safetensors, test images → verify.json, the equivalence certificate."""

import torch
from lib.models import first_images, open_dataset, spiking_network, trained_network
from lib.stage import stage, write_text
from pascal.data import evaluation_batches
from pascal.graph import verify

with stage(snakemake) as params:
    settings = params["verify"]
    dataset = open_dataset(snakemake.input.data)
    dtype = getattr(torch, settings["dtype"])
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann).to(dtype)
    snn = spiking_network(ann, snakemake.input.snn)
    images = first_images(dataset.test, settings["images"])
    certificate = verify(ann, snn, evaluation_batches(dataset, images, settings["batch_size"]))
    write_text(snakemake.output[0], certificate.to_json())
