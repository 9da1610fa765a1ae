"""compare: rival methods on the test set → compare.csv, one row for each answer, and compare.json, one number for each.

What they choose, they choose on training images. A method that cannot do the network says so in its row.
"""

import shutil
from pathlib import Path

from pascal.baselines import whole_comparison
from pascal.energy.costs import FP32, INT8
from pascal.files import write_rows
from pascal.pipeline.canonical import digest
from pascal.pipeline.models import at_most, batches_of, open_dataset
from pascal.pipeline.stage import stage, write_json
from pascal.pipeline.trained import trained_network

with stage(snakemake) as params:
    settings = params.compare
    dataset = open_dataset(snakemake.input.data)
    ann = trained_network(params, snakemake.input.data, snakemake.input.ann)
    test = list(batches_of(params, dataset, at_most(dataset.test, settings.images), settings.batch_size))
    shown = batches_of(params, dataset, at_most(dataset.train, settings.calibration_images), 64)
    labelled = batches_of(params, dataset, at_most(dataset.train, settings.training_images or 1, seed=1), 100)
    code = digest([Path(path).read_text() for path in (snakemake.input.code, snakemake.input.params)])
    work = Path("work/compare", snakemake.wildcards.run, snakemake.wildcards.seed)  # goes on where it was stopped
    rows = whole_comparison(
        ann,
        test,
        {method: settings.grids.get(method, settings.timesteps) for method in settings.methods},
        [images for images, _ in shown],
        presimulation=settings.presimulation,
        training=list(labelled) if settings.training_images else None,
        epochs=settings.epochs,
        scratch=settings.scratch,
        costs={"fp32": FP32, "int8": INT8},  # the appendix' table: other prices must not run all methods again
        store=work / code,
        bar=True,
    )
    write_rows(snakemake.output.rows, rows[0], rows)
    chosen = {row["method"]: row for row in reversed(rows) if row["chosen"] and row["accuracy"] != ""}
    numbers = ("accuracy", "agreement", "total_timesteps", "sequential_timesteps", "synaptic_operations")
    summary = {f"{method}.{name}": row[name] for method, row in chosen.items() for name in numbers}
    write_json(snakemake.output.summary, summary | {"ann_accuracy": rows[0]["ann_accuracy"]})
    shutil.rmtree(work)
