"""`params.yaml`, read and checked before anything runs."""

from pathlib import Path
from typing import Any

from .errors import ParameterError
from .schema import check_schema, read_schema
from .semantics import check_semantics
from .strict_yaml import read_yaml


def load_params(path: Path, schema: Path) -> dict[str, Any]:
    """The parameters, or a ParameterError that lists every fault with the file's name."""
    params = read_yaml(path)
    try:
        check_schema(params, read_schema(schema))
        check_semantics(params)
    except ParameterError as error:
        faults = str(error).splitlines()
        raise ParameterError("\n".join(f"{path}: {fault}" for fault in faults)) from error
    return params
