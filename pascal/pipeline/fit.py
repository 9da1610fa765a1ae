"""Which results are those that their jobs made from these parameters, this code and these inputs; no other counts.

A record fits if every input has the digest it was made from: a stamp of this plan, what a fitting record vouches for,
or a file of the user's. A result fits if a fitting record holds the digest of its bytes.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from pascal.pipeline.memory import Memory
from pascal.pipeline.records import Record, file_digest, read_records, result_files

BUILD = "build/"
_MEMORY = Path("build/memory/results.json")


class Fit:
    """The results beside their records, for the stamps of one plan (path → digest)."""

    def __init__(self, stamps: Mapping[str, str], digest: Callable[[str], str | None]) -> None:
        self.stamps, self.digest = stamps, digest
        self.claims: defaultdict[str, list[Record]] = defaultdict(list)
        self.verdicts: dict[int, str] = {}
        for record in read_records():
            for path in record.outputs:
                self.claims[path].append(record)

    def fault(self, path: str) -> str:
        """Why a result that is there does not fit, or nothing."""
        faults = []
        for record in self.claims.get(path, ()):
            ours = self.digest(path) == record.outputs[path]
            fault = self._fault_of(record) if ours else f"other bytes than stage {record.rule} wrote"
            if not fault:
                return ""
            faults.append(fault)
        return faults[-1] if faults else "no record says how it was made"

    def _fault_of(self, record: Record) -> str:
        """Why a record does not fit; a circle of records, which no job can have made, does not."""
        if id(record) not in self.verdicts:
            self.verdicts[id(record)] = "a record that depends on itself"
            wrong = (path for path, digest in record.inputs.items() if not self._is(path, digest))
            self.verdicts[id(record)] = f"made from another {path}" if (path := next(wrong, "")) else ""
        return self.verdicts[id(record)]

    def _is(self, path: str, digest: str) -> bool:
        """Whether an input is the one of this digest."""
        if path.startswith(BUILD):
            return self.stamps.get(path) == digest
        if path in self.claims:
            return any(record.outputs[path] == digest and self._holds(record, path) for record in self.claims[path])
        return self.digest(path) == digest

    def _holds(self, record: Record, path: str) -> bool:
        """Whether a record fits, and the file too if it is there: one that is not would be made again the same."""
        return self.digest(path) in (None, record.outputs[path]) and not self._fault_of(record)

    def faults(self) -> dict[str, str]:
        """Every file among the results that does not fit, with the reason."""
        return {path: fault for path in result_files() if (fault := self.fault(path))}

    def refresh(self, faults: Mapping[str, str]) -> None:
        """Give fitting results one time stamp where theirs are in another order, as after `dvc pull`."""
        fitting = {path for path in result_files() if path not in faults}
        if any(self._looks_old(record) for path in fitting for record in self.claims[path]):
            now = time.time_ns()
            for path in fitting:
                with suppress(OSError):
                    os.utime(path, ns=(now, now))

    def _looks_old(self, record: Record) -> bool:
        times = [[_time(path) for path in paths if os.path.exists(path)] for paths in (record.inputs, record.outputs)]
        return all(times) and max(times[0]) > min(times[1])


def check_results(stamps: Mapping[str, str]) -> Fit:
    """The results as they stand, their digests remembered in a file."""
    remembered = Memory(_MEMORY, file_digest)
    known: dict[str, str | None] = {}

    def digest(path: str) -> str | None:
        if path not in known:
            known[path] = None
            with suppress(OSError):
                known[path] = remembered.of(path)
        return known[path]

    fit = Fit(stamps, digest)
    fit.refresh(fit.faults())
    remembered.save()
    return fit


def _time(path: str) -> int:
    return os.stat(path).st_mtime_ns
