"""Several processes: started by torchrun, alone otherwise; nothing else in training needs to know."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from pascal.errors import PascalError


@contextmanager
def process_group(device: str = "auto") -> Iterator[torch.device]:
    """Join the processes that torchrun started, if it did; gives the device of this one."""
    chosen = choose_device(device, int(os.environ.get("LOCAL_RANK", "0")))
    if not dist.is_torchelastic_launched():
        yield chosen
        return
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield chosen
    finally:
        dist.destroy_process_group()


def choose_device(device: str = "auto", local_rank: int = 0) -> torch.device:
    """ "auto": this process's GPU where there is one, else the CPU."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise PascalError(f"device: got {device!r} but torch sees no GPU; expected 'cpu' or 'auto'")
    try:
        return torch.device("cuda", local_rank) if device == "cuda" else torch.device(device)
    except RuntimeError as error:
        raise PascalError(f"device: got {device!r}, expected 'auto', 'cpu', 'cuda' or 'cuda:<number>'") from error


def rank() -> int:
    """This process's number; only 0 writes and shows a bar."""
    return dist.get_rank() if dist.is_initialized() else 0


def processes() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


def total(values: list[float], device: torch.device) -> list[float]:
    """Sums over all processes."""
    if not dist.is_initialized():
        return values
    sums = torch.tensor(values, dtype=torch.float64, device=device)
    dist.all_reduce(sums)
    return sums.tolist()


def share_buffers(model: nn.Module) -> None:
    """Give every process the first one's buffers: batch norm's differ on CPUs, and only the first one's are saved."""
    if not dist.is_initialized():
        return
    for buffer in model.buffers():
        first = buffer.detach().contiguous()
        dist.broadcast(first, src=0)
        buffer.copy_(first)  # in the buffer's own order of memory


def synchronise(model: nn.Module, device: torch.device) -> nn.Module:
    """The model with gradients averaged over processes, and on GPUs with batch statistics over the global batch."""
    if not dist.is_initialized():
        return model
    if device.type == "cuda":  # synchronised batch norm exists on GPUs only
        nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)
