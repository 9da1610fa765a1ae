"""Where the AL metric is right: its rank correlation with what fewer levels are measured to do to the output.

`python -m benchmarks.studies.levels_metric OUT.csv` measures the public QCFS ResNet-20, or with `--weights` another
network, and adds its rows to the file in the place of older ones of the same network.
"""

import argparse
from pathlib import Path
from time import process_time

import pandas as pd

from benchmarks.studies.subjects import add_arguments, open_subject
from pascal.planning import metric_study


def main() -> None:
    """Measure, add, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    add_arguments(parser)
    parser.add_argument("--values", type=int, nargs="+", default=[8, 4, 2, 1])
    arguments = parser.parse_args()
    subject, began = open_subject(arguments), process_time()
    study = metric_study(
        subject.ann, subject.calibration(arguments.images, arguments.seed), arguments.values, arguments.seed
    )
    rows = pd.DataFrame(study.rows).assign(
        network=subject.name,
        around=study.point,
        images=study.images,
        seed=arguments.seed,
        cpu_seconds=round(process_time() - began, 1),
    )
    for name, found in (("metric", study.correlation), ("fisher", study.fisher_correlation)):
        rows[f"{name}_spearman"] = rows.levels.map(found)
    if arguments.out.exists():
        others = pd.read_csv(arguments.out)
        rows = pd.concat([others[others.network != subject.name], rows])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(arguments.out, index=False)
    print(rows.groupby(["network", "levels"])[["metric_spearman", "fisher_spearman"]].first())


if __name__ == "__main__":
    main()
