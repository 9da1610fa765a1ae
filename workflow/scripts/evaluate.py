"""evaluate: ANN, SNN and plain IF on the test set → accuracy.json, accuracy_vs_timesteps.csv.

The SNN runs in closed form, at the ANN's speed; that this is what it spikes timestep by timestep, `verify` proves.
"""

from lib.models import Doubles, first_images, open_dataset, trained_network
from lib.stage import stage, write_json, write_rows
from lib.timesteps import plain_accuracies
from pascal.data import evaluation_batches
from pascal.graph import convert
from pascal.training import evaluate

with stage(snakemake) as params:
    settings = params["evaluate"]
    dataset = open_dataset(snakemake.input.data)
    test = Doubles(evaluation_batches(dataset, dataset.test, settings["batch_size"]))
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

    some = first_images(dataset.test, settings.get("plain_images"))
    batches = evaluation_batches(dataset, some, settings["batch_size"])
    plain = convert(ann.float(), neuron="if", timesteps=max(settings["timesteps"]))
    rows = plain_accuracies(plain, batches, settings["timesteps"])
    write_rows(snakemake.output.over_timesteps, ("timesteps", "accuracy", "images"), rows)
