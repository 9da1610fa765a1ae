"""Small files that change only when their content does, so that they can be the inputs of rules."""

from collections.abc import Mapping
from pathlib import Path

from pascal.files import write_text
from pascal.pipeline.closure import Imports

PARAMETERS = "pascal/pipeline/parameters"
# What only networks of timm and torchvision, or calibrated ones, go through.
LIBRARY = ["pascal/networks/library.py", "pascal/pipeline/calibrated.py"]


def write_if_changed(path: Path, text: str) -> None:
    """Leave an equal file alone: its time stamp is what Snakemake looks at first."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def code_stamps(root: Path, memory: Path) -> dict[str, str]:
    """What each stage runs, by its name; `<stage>-library` where networks of others run more."""
    imports, stamps, planning = Imports(root, memory), {}, _parameters(root)
    for script in sorted((root / "workflow" / "scripts").glob("*.py")):
        name = script.relative_to(root).as_posix()
        ours, whole = imports.closure(name, without=[*LIBRARY, *planning]), imports.closure(name, planning)
        stamps[script.stem] = _stamp(ours)
        if whole != ours:
            stamps[f"{script.stem}-library"] = _stamp(whole)
    imports.memory.save()
    return stamps


def code_stamp(root: Path, script: Path) -> str:
    """What a script runs."""
    return _stamp(Imports(root).closure(script.relative_to(root).as_posix(), _parameters(root)))


def _parameters(root: Path) -> list[str]:
    """The models of parameters: a stage depends on the values, which are an input of their own, not on their types."""
    return [file.relative_to(root).as_posix() for file in (root / PARAMETERS).glob("*.py")]


def _stamp(closure: Mapping[str, str]) -> str:
    """One line for each file: the digest of its code, and its path."""
    return "".join(f"{digest}  {file}\n" for file, digest in closure.items())
