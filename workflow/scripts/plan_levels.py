"""plan_levels: the `from` run's network on training images → levels.json, plan.json, and what stood beside the plan."""

from pascal.adapt import assign_levels, layer_metrics, write_levels
from pascal.files import write_rows
from pascal.pipeline.histograms import read_histograms
from pascal.pipeline.models import at_most, batches_of, open_dataset
from pascal.pipeline.stage import stage, write_json
from pascal.pipeline.trained import trained_network
from pascal.planning import plan_levels

with stage(snakemake) as params:
    adapt, seed = params.adapt, int(snakemake.wildcards.seed)
    budget = adapt.budget
    if budget == "metric":
        terms = layer_metrics(read_histograms(snakemake.input.histogram), adapt.k, adapt.threshold_over, adapt.moments)
        budget = sum(assign_levels({layer: term.metric for layer, term in terms.items()}, adapt.values).values())
    dataset = open_dataset(snakemake.input.data)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann)
    batches = batches_of(params, dataset, at_most(dataset.train, adapt.images, seed))
    plan = plan_levels(ann, batches, budget, adapt.cost, adapt.values, seed=seed, bar=True)
    write_levels(snakemake.output.levels, plan.levels)
    write_json(snakemake.output.plan, plan.to_json())
    for output, rows in ((snakemake.output.layers, plan.layers), (snakemake.output.beside, plan.contenders)):
        write_rows(output, vars(rows[0]), map(vars, rows))
