"""workload: SNN and test images → workload.csv, activity.csv and the traces of PASC and of plain IF neurons.

Spikes are counted in closed form, at the ANN's speed; `counts` compares the neurons of every timestep with the ANN.
"""

from dataclasses import asdict, fields

from pascal.data import evaluation_batches
from pascal.energy import Activity, timestep_activity
from pascal.files import write_rows
from pascal.graph import convert, measure
from pascal.hardware import save_trace
from pascal.pipeline.activity import count_histograms, counts_beside
from pascal.pipeline.models import at_most, open_dataset
from pascal.pipeline.spiking import spiking_network
from pascal.pipeline.stage import stage
from pascal.pipeline.trained import trained_network
from pascal.recording import record
from pascal.workload import LayerWorkload, workload_row

with stage(snakemake) as params:
    settings = params.workload
    dataset = open_dataset(snakemake.input.data)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann).double()
    snn = spiking_network(ann, snakemake.input.snn)
    batches = list(evaluation_batches(dataset, at_most(dataset.test, settings.images), settings.batch_size))
    counts = convert(ann, engine="counts")
    workloads = measure(counts, batches)
    write_rows(snakemake.output.workload, [field.name for field in fields(LayerWorkload)], map(workload_row, workloads))
    activity = timestep_activity(count_histograms(counts, batches))
    write_rows(snakemake.output.activity, [field.name for field in fields(Activity)], map(asdict, activity))
    plain = convert(ann, neuron="if", timesteps=settings.timesteps)
    pairs = counts_beside(ann, {"PASC": snn, "plain IF": plain}, batches)
    write_rows(snakemake.output.counts, pairs[0], pairs)
    for path, network in ((snakemake.output.pasc, counts), (snakemake.output.plain, plain)):
        save_trace(path, record(network, batches))
