"""YAML without its traps: duplicate keys, tabs and numbers such as 5e-4 that YAML 1.1 reads as text."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from .errors import ParameterError


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key, line = self.construct_object(key_node, deep=True), key_node.start_mark.line + 1
            if not isinstance(key, Hashable):
                raise ParameterError(f"line {line}: got the key {key!r}, expected text")
            if key in seen:
                raise ParameterError(
                    f"line {line}: key {key!r} stands twice, first on line {seen[key]}; expected it once, remove one"
                )
            seen[key] = line
        return super().construct_mapping(node, deep)


_FLOAT = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


def read_yaml(path: Path) -> Any:
    """The content of a parameter file."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError as error:
        raise ParameterError(
            f"{path}: no such file; expected a parameter file, copy one of workflow/presets/ there"
        ) from error
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from error
    except yaml.YAMLError as error:
        raise ParameterError(f"{path}: {_explain(error)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: {error}; expected a readable UTF-8 file") from error


def _explain(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    problem = str(getattr(error, "problem", error))
    if "\\t" in problem:
        return f"{where}got a tab, expected spaces: YAML is indented with spaces alone"
    return f"{where}{problem}; expected YAML"
