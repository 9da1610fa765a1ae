"""given: levels of the parameters → levels.json by layer."""

from pascal.adapt import write_levels
from pascal.pipeline.models import levels_of, new_network
from pascal.pipeline.stage import stage

with stage(snakemake) as params:
    given = params.adapt and params.adapt.levels
    network = new_network(params, snakemake.input.data, given or params.levels)
    write_levels(snakemake.output.levels, levels_of(network))
