"""Write docs/parameters.md from the schema, the shipped params.yaml and the training's own defaults.

Run `python docs/make_parameters.py` after editing one of them.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from pascal.data import Augmentation
from pascal.training import TrainingConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from lib.runs import run_table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "parameters.md"
_RUN = "runs.<name>"

_HEAD = """# Parameters

Every key of `params.yaml`, made from `workflow/schemas/params.schema.yaml` by `python docs/make_parameters.py`.
Unknown keys and wrong values are refused before any job starts, with the key's path and what was expected.

A run is `defaults` with its own entry merged over it, mapping by mapping; an adaptive run also takes over what the run
it starts `from` says. `<name>` is a name of your choice. The last column is what the shipped `params.yaml` says or, in
italics, what holds where nobody says anything.
"""

_INTRODUCTIONS = {
    "defaults": "Every section below may stand in a run too, and holds for that run alone; `seeds` may not.",
    "runs": "A run without `from` is uniform: one number of levels, or a list by hand, trained from the beginning.",
    "adaptive": "A run with `from` is adaptive: its levels come from the AL metric, or from `adapt.levels`.",
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(make_page(), encoding="utf-8")


def make_page() -> str:
    """The page's text."""
    schema = yaml.safe_load((ROOT / "workflow/schemas/params.schema.yaml").read_text(encoding="utf-8"))
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    parts, definitions = schema["properties"], schema["$defs"]
    sections = [
        ("`defaults`", "defaults", "defaults", parts["defaults"]),
        ("`datasets`", "", "datasets.<name>", definitions["dataset"]),
        ("`runs`, uniform", "runs", _RUN, definitions["uniform_run"]),
        ("`runs`, adaptive", "adaptive", _RUN, definitions["adaptive_run"]),
    ]
    text = [_HEAD]
    for title, introduction, path, part in sections:
        text.append(f"## {title}\n")
        text += [_INTRODUCTIONS[introduction] + "\n"] if introduction else []
        text.append(_table(_rows(path, part, definitions), params, _built_in()))
    return "\n".join(text)


def _built_in() -> dict[str, Any]:
    """What holds where params.yaml says nothing."""
    train = asdict(TrainingConfig()) | {"augmentation": asdict(Augmentation()), "workers": 0, "processes": 1}
    bare = {
        "defaults": {"seeds": [], "adapt": {}},
        "runs": {"uniform": {}, "adaptive": {"from": "uniform", "adapt": {}}},
    }
    settings = run_table(bare)["adaptive"].settings
    return {
        "defaults": {"train": train, "hardware": {"weight_density": 1.0}, "adapt": settings.pop("adapt")},
        _RUN: settings,
    }


def _rows(path: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and what is expected there, in the schema's order; sections within a run are told once, under defaults."""
    for key, part in schema["properties"].items():
        name = part.get("$ref", "").rpartition("/")[2]
        part = definitions.get(name, part)
        below = part.get("additionalProperties")
        if path == _RUN and part.get("type") == "object":
            yield f"{path}.{key}", f"a mapping, as under `defaults.{key}`"
        elif "properties" in part:
            yield from _rows(f"{path}.{key}", part, definitions)
        elif isinstance(below, Mapping) and "properties" in below:
            yield from _rows(f"{path}.{key}.<name>", below, definitions)
        else:
            yield f"{path}.{key}" + (".<name>" if isinstance(below, Mapping) else ""), (below or part)["description"]


def _table(rows: Iterator[tuple[str, str]], params: Mapping[str, Any], built_in: Mapping[str, Any]) -> str:
    lines = ["| key | expected | value |", "|---|---|---|"]
    for key, expected in rows:
        shipped, otherwise = _look_up(params, key), _look_up(built_in, key)
        value = shipped if shipped is not None else f"*{otherwise}*" if otherwise else ""
        lines.append(f"| `{key}` | {expected.replace('<', '&lt;').replace('|', '&#124;')} | {value} |")
    return "\n".join(lines) + "\n"


def _look_up(values: Any, key: str) -> str | None:
    """The value under a dotted key as YAML writes it; nothing where a person chooses the name."""
    parts = [_RUN, key.removeprefix(f"{_RUN}.")] if key.startswith(_RUN) else key.split(".")
    for part in parts:
        if not isinstance(values, Mapping) or part not in values:
            return None
        values = values[part]
    return yaml.safe_dump(values, default_flow_style=True, width=200).removesuffix("...\n").strip()


if __name__ == "__main__":
    main()
