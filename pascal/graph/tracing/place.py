"""Where in a model's own code something went wrong."""

import linecache
from pathlib import Path
from types import TracebackType

from torch import nn


def place_of(error: BaseException, model: nn.Module) -> str:
    """The innermost module of `model` whose code was running, with file, line and the line itself; '' if none was."""
    paths = {id(module): path for path, module in model.named_modules()}
    found, traceback = "", error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        module = frame.f_locals.get(next(iter(frame.f_code.co_varnames), ""))  # what methods call self
        if id(module) in paths and not _is_of_torch(traceback):
            found = _shown(paths[id(module)], module, traceback)
        traceback = traceback.tb_next
    return found


def _is_of_torch(traceback: TracebackType) -> bool:
    return traceback.tb_frame.f_globals.get("__name__", "").split(".")[0] in ("torch", "pascal")


def _shown(path: str, module: object, traceback: TracebackType) -> str:
    file, number = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
    line = linecache.getline(file, number).strip()
    owner = f"{path} ({type(module).__name__})" if path else type(module).__name__
    return f" in {owner}, {Path(file).name}:{number}" + (f": `{line}`" if line else "")
