"""`python -m pascal.pipeline.check params.yaml`: every fault of a file, before a name in it reaches a shell.

DVC asks with `--every-run`: it cannot leave out a run whose weights are not there, and reads no sweep.
"""

import sys
from pathlib import Path

from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.strict_yaml import read_yaml
from pascal.pipeline.parameters.weights import plannable

_EVERY = "--every-run"
_WRITE = "DVC reads no sweep: write its runs out with python -m pascal.pipeline.parameters.sweep"
_REMEDY = "DVC keeps the files of every run: bring the weights, or take the run out"


def main(arguments: list[str]) -> int:
    """Check each file; 0 if all are good."""
    faults: list[str] = []
    for file in [Path(name) for name in arguments if name != _EVERY] or [Path("params.yaml")]:
        try:
            _, left_out = plannable(load_params(file), file)
            if _EVERY in arguments:
                faults += [f"{note}; {_REMEDY}" for note in left_out] + _sweeps(file)
        except ParameterError as error:
            faults.append(str(error))
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return int(bool(faults))


def _sweeps(file: Path) -> list[str]:
    """DVC reads the names of runs from the file, as they stand there."""
    swept = [name for name, entry in read_yaml(file)["runs"].items() if entry.get("sweep") is not None]
    return [f"{file}: runs.{name}.sweep: got a sweep, expected its runs one by one; {_WRITE} {file}" for name in swept]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
