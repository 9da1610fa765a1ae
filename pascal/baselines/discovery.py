"""The methods that there are: every module of this folder is read, and a `Method` with a name is one of them."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from pascal.baselines.method import METHODS

for _module in iter_modules([str(Path(__file__).parent)]):
    if _module.name not in ("compare", "discovery", "claims", "whole"):
        import_module(f"pascal.baselines.{_module.name}")

__all__ = ["METHODS"]
