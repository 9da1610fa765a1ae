"""given: levels of the parameters → levels.json by layer; without a metric, histogram and metrics stay empty."""

from lib.columns import HISTOGRAM, METRIC, METRIC_BY_K
from lib.models import new_network
from lib.stage import stage, write_rows
from pascal.adapt import write_levels
from pascal.neurons import QCFS

with stage(snakemake) as params:
    network = new_network(params, snakemake.input.data, params.get("adapt.levels", params["levels"]))
    levels = {path: module.levels for path, module in network.named_modules() if isinstance(module, QCFS)}
    write_levels(snakemake.output.levels, levels)
    write_rows(snakemake.output.histogram, HISTOGRAM, [])
    write_rows(snakemake.output.metric, METRIC, [])
    write_rows(snakemake.output.by_k, METRIC_BY_K, [])
