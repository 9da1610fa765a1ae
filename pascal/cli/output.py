"""What a command says: text for people, JSON for programs."""

import argparse
import json
from pathlib import Path
from typing import Any

from pascal.errors import PascalError
from pascal.files import write_text
from pascal.graph import save


def tell(options: argparse.Namespace, record: dict[str, Any] | str, text: Any) -> None:
    """Print `text`; with --json the record instead, or into a file beside the text."""
    as_json = record if isinstance(record, str) else json.dumps(record, indent=1, default=_plain)
    if options.json == "-":
        print(as_json)
        return
    if options.json:
        write_text(options.json, as_json + "\n")
    print(text)


def save_network(network: Any, path: Path) -> dict[str, Any]:
    """Save a network, and what to say of it."""
    if path.suffix != ".safetensors":
        raise PascalError(f"--out: got {path}, expected a name that ends in .safetensors")
    save(network, path)
    return {"file": str(path), "bytes": path.stat().st_size}


def check_out(path: Path | None) -> None:
    """Before hours are spent."""
    if path is not None and path.suffix != ".safetensors":
        raise PascalError(f"--out: got {path}, expected a name that ends in .safetensors")


def _plain(value: Any) -> Any:
    """Numbers of NumPy, and whatever else has no JSON of its own, as text."""
    return value.item() if hasattr(value, "item") else list(value) if isinstance(value, tuple | set) else str(value)
