"""Tests of torch.compile run alone: what it installs in a process outlives them, and has crashed other tests there."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import torch

Result = TypeVar("Result")


def in_own_process(function: Callable[..., Result], *arguments: object) -> Result:
    """What a module's function returns or raises, called in a process that nobody else has."""
    with ProcessPoolExecutor(1, get_context("spawn"), torch.set_num_threads, (1,)) as process:
        return process.submit(function, *arguments).result()
