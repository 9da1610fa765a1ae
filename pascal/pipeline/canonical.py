"""Equal content, equal bytes: JSON with sorted keys, and short names for it."""

import hashlib
import json
from typing import Any


def dump(content: Any) -> str:
    """JSON with sorted keys: equal content gives equal bytes."""
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def digest(content: Any) -> str:
    """A short name for what a result depends on."""
    return hashlib.sha256(dump(content).encode()).hexdigest()[:16]
