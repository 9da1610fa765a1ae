"""The parameters' page says what the schema says."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_parameters", ROOT / "docs" / "make_parameters.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(generator: ModuleType) -> None:
    assert generator.PAGE.read_text() == generator.make_page(), "run python docs/make_parameters.py"


def test_every_key_of_the_schema_stands_on_the_page(generator: ModuleType) -> None:
    schema = yaml.safe_load((ROOT / "workflow/schemas/params.schema.yaml").read_text())
    page = generator.make_page()
    for key in _keys(schema) - {"defaults", "datasets", "runs"}:
        assert f".{key}`" in page or f".{key}." in page, key


def _keys(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    below = {key for part in schema.values() for key in _keys(part)}
    properties = schema.get("properties", {})
    return below | {key for key in properties if isinstance(properties, dict)}
