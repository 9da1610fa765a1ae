"""Names that become folders, wildcards and words of a command: checked before any of these sees them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import AfterValidator

from pascal.pipeline.parameters.base import refuse

LONGEST = 100  # file systems take 255 bytes, and names of files have more in them
RESERVED = (
    "data",
    "figures",
    "metrics",
    "mlartifacts",
    "plots",
    "records",
    "reference",
    "tables",
)  # other folders of results/
_PATTERN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST - 1}}}")
_LETTERS = f"letters, digits, - and _, the first a letter or a digit, at most {LONGEST} in all"


def _name(text: str) -> str:
    if not _PATTERN.fullmatch(text):
        raise refuse(_LETTERS)
    return text


def _run_name(text: str) -> str:
    if not _PATTERN.fullmatch(text) or text.lower() in RESERVED:
        raise refuse(f"{_LETTERS}, and none of the folders {', '.join(RESERVED)}")
    return text


Name = Annotated[str, AfterValidator(_name)]
RunName = Annotated[str, AfterValidator(_run_name)]


def clashes(section: str, names: Iterable[str]) -> Iterator[str]:
    """Names that are one folder where capitals do not count."""
    groups = defaultdict(list)
    for name in names:
        groups[name.lower()].append(name)
    for first, *others in groups.values():
        for other in others:
            yield f"{section}: got the names {first!r} and {other!r}, expected more than capitals to tell them apart"
