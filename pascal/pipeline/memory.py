"""What was computed from files, remembered while size, times and inode say that they are the same, as git does it."""

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pascal.files import write_text

_SETTLED = 2_000_000_000  # ns; a file may change twice within one tick of a file system's clock


class Memory:
    """A value for each file, computed again when the file is another or may be."""

    def __init__(self, path: Path | None, compute: Callable[[Path], Any]) -> None:
        self.path, self.compute, self.changed = path, compute, False
        self.version = hashlib.sha256(Path(inspect.getfile(compute)).read_bytes()).hexdigest()
        self.known: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError, AttributeError, KeyError, TypeError):  # it only saves time
            kept = json.loads(path.read_text(encoding="utf-8")) if path else {}
            self.known = {
                name: entry for name, entry in kept[self.version].items() if {"stat", "value"} <= entry.keys()
            }

    def of(self, file: str | os.PathLike[str]) -> Any:
        """The value of a file as it stands."""
        stat = os.stat(file)
        now = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
        known = self.known.pop(name := os.fspath(file), {})
        if known.get("stat") != now:
            known, self.changed = {"stat": now, "value": self.compute(Path(file))}, True
        if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > _SETTLED:
            self.known[name] = known
        return known["value"]

    def save(self) -> None:
        """Keep it for the next command."""
        if not self.changed or self.path is None:
            return
        with suppress(OSError):  # a full disk shall stop the stage that needs room, which says so
            write_text(self.path, json.dumps({self.version: self.known}))
