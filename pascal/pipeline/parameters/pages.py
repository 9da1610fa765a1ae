"""`python -m pascal.pipeline.parameters.pages` makes docs/parameters.md and a JSON schema for editors."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from pascal.files import write_text
from pascal.pipeline.parameters.faults import Schema, expected, resolve
from pascal.pipeline.parameters.file import File

ROOT = Path(__file__).parents[3]
SCHEMA, PAGE = Path("workflow/schemas/params.schema.json"), Path("docs/parameters.md")
_RUN = "runs.<name>"

_HEAD = """# Parameters

Every key of `params.yaml`. This page and `workflow/schemas/params.schema.json`, with which an editor completes and
checks parameters while you type, are made from the classes of `pascal/pipeline/parameters` by
`python -m pascal.pipeline.parameters.pages`. Unknown keys and wrong values are refused before any job starts, with the
key's path and what was expected.

A run is `defaults` with its own entry merged over it, mapping by mapping; an adaptive run also takes over what the run
it starts `from` says. `<name>` is a name of your choice. The last column is what the shipped `params.yaml` says or, in
italics, what holds where nobody says anything.
"""
_SECTIONS = (
    (
        "`defaults`",
        "Defaults",
        "defaults",
        "Each but `seeds` may stand in a run too, for that run alone.",
    ),
    ("`datasets`", "Dataset", "datasets.<name>", "The images that runs name."),
    ("`runs`, uniform", "UniformRun", _RUN, "A run without `from`: one number of levels, or a list by hand."),
    ("`runs`, adaptive", "AdaptiveRun", _RUN, "A run with `from`: levels by the AL metric, by a plan, or by hand."),
)


def pages() -> dict[Path, str]:
    """Path and text of every file that is made from the models."""
    schema = _without_null_defaults(File.model_json_schema())
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "params.yaml"}
    return {SCHEMA: json.dumps({**schema, **head}, indent=1, ensure_ascii=False) + "\n", PAGE: _page(schema)}


def _without_null_defaults(node: Any) -> Any:
    """That a key may be left out is no default; aliases of one value are the same to an editor."""
    if isinstance(node, list):
        return [_without_null_defaults(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not (key == "default" and value is None)}
    return {key: _without_null_defaults(value) for key, value in kept.items() if key != "title"}


def _page(schema: Schema) -> str:
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    text = [_HEAD]
    for title, model, path, introduction in _SECTIONS:
        text += [f"## {title}\n\n{introduction}\n\n| key | expected | value |\n|---|---|---|"]
        text += [*_rows(path, schema["$defs"][model], schema, params), ""]
    return "\n".join(text)


def _rows(path: str, model: Schema, root: Schema, params: Any) -> Iterator[str]:
    """A line for each key; sections within a run are told once, under defaults."""
    for key, part in model["properties"].items():
        node, where = resolve(part, root), f"{path}.{key}"
        below = resolve(node.get("additionalProperties") or {}, root)
        if path == _RUN and key in root["$defs"]["Defaults"]["properties"] and node.get("type") == "object":
            yield f"| `{where}` | a mapping, as under `defaults.{key}` |  |"
        elif "properties" in node and not path.endswith("accelerators.<name>"):
            yield from _rows(where, node, root, params)
        elif "properties" in below:
            yield from _rows(f"{where}.<name>", below, root, params)
        else:
            told = expected(node, root).replace("<", "&lt;").replace("|", "&#124;")
            yield f"| `{where}` | {told} | {_value(params, where, node)} |"


def _value(params: Any, path: str, node: Schema) -> str:
    """What is shipped, else the default."""
    for part in path.split("."):
        params = params.get(part) if isinstance(params, Mapping) else None
    if params is not None:
        return _text(params)
    return f"*{_text(node['default'])}*" if "default" in node else ""


def _text(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=True, width=200)).removesuffix("...\n").strip()


if __name__ == "__main__":
    for path, text in pages().items():
        write_text(ROOT / path, text)
