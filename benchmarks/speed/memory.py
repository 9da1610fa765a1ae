"""Peak memory of one inference, each network in a process of its own (Linux).

`python -m benchmarks.speed.memory NETWORK ENGINE LEVELS BATCH` prints bytes: the peak while it runs, above what the
process held before the network was made. Weights count; the ANN that was converted does not.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.speed.variants import alive_network, make


def peak_bytes(network: str, engine: str, levels: int, batch: int) -> int:
    """Measured in a fresh process."""
    # Freed memory must go back to the system at once: what malloc keeps for later depends on its moods.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "0"}
    arguments = [sys.executable, "-m", "benchmarks.speed.memory", network, engine, str(levels), str(batch)]
    return int(subprocess.run(arguments, check=True, capture_output=True, text=True, env=environment).stdout)


def _measure(network: str, engine: str, levels: int, batch: int) -> int:
    before = _resident("VmRSS")
    images = torch.randn(batch, 3, 32, 32)
    model = make(engine, alive_network(network, levels), levels)
    gc.collect()
    with torch.inference_mode():
        model(images)
        Path("/proc/self/clear_refs").write_text("5")  # forget earlier peaks
        model(images)
    return _resident("VmHWM") - before


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])


if __name__ == "__main__":
    print(_measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
