"""evaluate: ANN, SNN and plain IF on the test set → accuracy.json, accuracy_vs_timesteps.csv.

The SNN runs in closed form, at the ANN's speed; that this is what it spikes timestep by timestep, `verify` proves.
"""

from pascal.files import write_rows
from pascal.graph import convert
from pascal.pipeline.models import Doubles, at_most, batches_of, open_dataset
from pascal.pipeline.stage import stage, write_json
from pascal.pipeline.timesteps import plain_accuracies
from pascal.pipeline.trained import trained_network
from pascal.training import evaluate

with stage(snakemake) as params:
    settings = params.evaluate
    dataset = open_dataset(snakemake.input.data)
    test = Doubles(batches_of(params, dataset, dataset.test, settings.batch_size))
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann).double()
    of_ann = evaluate(ann, test, bar=True)
    of_snn = evaluate(convert(ann, engine="counts"), test, bar=True)
    accuracy = {
        "images": of_ann.images,
        "ann_accuracy": of_ann.accuracy,
        "snn_accuracy": of_snn.accuracy,
        "prediction_mismatches": int((of_ann.predictions != of_snn.predictions).sum()),
    }
    write_json(snakemake.output.accuracy, accuracy)

    some = at_most(dataset.test, settings.plain_images)
    batches = batches_of(params, dataset, some, settings.batch_size)
    reached = {"ann_accuracy": evaluate(ann, Doubles(batches), bar=True).accuracy}
    plain = convert(ann.float(), neuron="if", timesteps=max(settings.timesteps))
    rows = [row | reached for row in plain_accuracies(plain, batches, settings.timesteps)]
    write_rows(snakemake.output.over_timesteps, ("timesteps", "accuracy", "images", "ann_accuracy"), rows)
