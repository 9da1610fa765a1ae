"""The parameters' page and the editors' schema are those of the models."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from pascal.pipeline.parameters.pages import PAGE, SCHEMA, pages

ROOT = Path(__file__).parents[1]
COMMAND = "python -m pascal.pipeline.parameters.pages"


@pytest.mark.parametrize("path", [PAGE, SCHEMA], ids=str)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert (ROOT / path).read_text() == pages()[path], f"run {COMMAND}"


def test_every_key_stands_on_the_page() -> None:
    made = pages()
    for key in set(_keys(json.loads(made[SCHEMA]))) - {"defaults", "datasets", "runs"}:
        assert f".{key}`" in made[PAGE] or f".{key}." in made[PAGE], key


def _keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from _keys(part)


@pytest.mark.parametrize("file", ["params.yaml", *sorted(map(str, Path("workflow/presets").glob("*.yaml")))])
def test_editors_accept_what_is_shipped(file: str) -> None:
    validator = Draft202012Validator(json.loads(pages()[SCHEMA]))
    assert not list(validator.iter_errors(yaml.safe_load((ROOT / file).read_text())))


@pytest.mark.parametrize(
    ("path", "value"),
    [(("defaults", "train", "epochs"), "ten"), (("defaults", "trian"), {}), (("runs", "digits-vgg-l4", "levels"), 0)],
    ids=str,
)
def test_editors_mark_what_is_wrong(path: tuple[str, ...], value: Any) -> None:
    params = place = yaml.safe_load((ROOT / "params.yaml").read_text())
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert list(Draft202012Validator(json.loads(pages()[SCHEMA])).iter_errors(params))
