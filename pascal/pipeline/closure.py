"""Which files a stage runs: the import closure of its script, so that nothing of it can be forgotten."""

from collections.abc import Collection
from functools import cache
from pathlib import Path

from pascal.pipeline.memory import Memory
from pascal.pipeline.sources import EVERY, Imported, Source, read_source


class Imports:
    """Who imports whom; packages that only re-export lead on to the modules behind their names."""

    def __init__(self, root: Path, memory: Path | None = None) -> None:
        self.root, self.memory = root, Memory(memory, read_source)
        self.read, self.file, self.runs = cache(self._read), cache(self._file), cache(self._runs)

    def closure(self, script: str, without: Collection[str] = ()) -> dict[str, str]:
        """Digests of a script and of all files that it runs, by path; `without` some files and what only they run."""
        seen, queue = set(without), [script]
        while queue:
            if (file := queue.pop()) not in seen:
                seen.add(file)
                queue += {run for where in self.read(file)["imports"] for run in self.runs(*where)}
        return {file: self.read(file)["digest"] for file in sorted(seen - set(without))}

    def _runs(self, module: str, member: str) -> set[str]:
        """The files that `from module import member` leads to; all of a package's where no member is named."""
        if not (file := self.file(module)):  # of a library
            return set()
        if member == EVERY:
            modules = sorted((self.root / file).parent.glob("[!_]*.py"))
            return {path.relative_to(self.root).as_posix() for path in modules}
        files, exports = self._packages_above(module), self._exports(file)
        if exports is None:
            files.add(file)
        if exports and exports.get(member, (module, member)) != (module, member):  # not `from . import member`
            return files | self.runs(*exports[member])
        if file.endswith("__init__.py") and member not in ("", "*") and self.file(f"{module}.{member}"):
            return files | self.runs(f"{module}.{member}", "")
        return files.union(*(self.runs(*where) for where in (exports or {}).values() if where != (module, member)))

    def _packages_above(self, module: str) -> set[str]:
        """Their code runs first, unless all they do is to import names."""
        above = module.split(".")[:-1]
        files = {self.file(".".join(above[: depth + 1])) for depth in range(len(above))}
        return {file for file in files if file and self._exports(file) is None}

    def _exports(self, file: str) -> dict[str, Imported] | None:
        """Where the names of a package come from, a lazy one's by its stub; None of a file with code of its own."""
        exports = self.read(file)["exports"]
        stub = f"{file}i"
        return self.read(stub)["exports"] if exports is not None and (self.root / stub).exists() else exports

    def _file(self, module: str) -> str:
        path = "/".join(module.split("."))
        return next((name for name in (f"{path}/__init__.py", f"{path}.py") if (self.root / name).exists()), "")

    def _read(self, file: str) -> Source:
        """A file with its relative imports made absolute."""
        source: Source = self.memory.of(self.root / file)
        package = file.rpartition("/")[0].split("/")
        exports = source["exports"]
        return {
            "digest": source["digest"],
            "imports": [_absolute(package, *where) for where in source["imports"]],
            "exports": exports and {name: _absolute(package, *where) for name, where in exports.items()},
        }


def _absolute(package: list[str], module: str, member: str) -> Imported:
    """One dot is the package itself, each further one leads up."""
    name = module.lstrip(".")
    if (dots := len(module) - len(name)) == 0:
        return module, member
    return ".".join([*package[: len(package) - dots + 1], *([name] if name else [])]), member
