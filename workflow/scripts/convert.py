"""convert: ann.safetensors → the spiking network (snn.safetensors) and its timesteps per edge (snn.json)."""

from pascal.files import write_tensors
from pascal.graph import convert, get_levels
from pascal.pipeline.stage import stage, write_json
from pascal.pipeline.trained import trained_network
from pascal.training import weights

with stage(snakemake) as params:
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann).double()
    snn = convert(ann, engine="steps")
    write_tensors(snakemake.output.snn, weights(snn))
    write_json(
        snakemake.output.about,
        {"engine": "steps", "dtype": "float64", "levels": get_levels(ann), "timesteps": snn.timesteps},
    )
