"""`python -m pascal.pipeline.check params.yaml`: every fault of a file, before a name in it reaches a shell."""

import sys
from pathlib import Path

from pascal.pipeline.errors import ParameterError
from pascal.pipeline.parameters.file import load_params
from pascal.pipeline.parameters.weights import plannable


def main(arguments: list[str]) -> int:
    """Check each file; 0 if all are good."""
    faults = []
    for file in map(Path, arguments or ["params.yaml"]):
        try:
            plannable(load_params(file), file)
        except ParameterError as error:
            faults.append(str(error))
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
