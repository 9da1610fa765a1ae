"""Locks of the dead and of the living, and stages that end with the Snakemake that asked for them."""

import subprocess
import sys
import time
from pathlib import Path

from pascal.pipeline.locks import forget_dead_locks

HOLDER = """
import sys
from pathlib import Path
from pascal.pipeline.locks import forget_dead_locks
forget_dead_locks(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def _holder(folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLDER, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


def test_a_live_lock_outlives_the_process_that_started_before_it(tmp_path: Path) -> None:
    """A holds, B starts beside it and locks, A ends, C starts: B's lock must stay. It goes when B is dead."""
    (tmp_path / "locks").mkdir()
    lock = tmp_path / "locks/0.input.lock"
    first = _holder(tmp_path)
    second = _holder(tmp_path)
    lock.touch()
    _end(first)
    third = _holder(tmp_path)
    assert lock.exists()
    _end(second)
    _end(third)
    forget_dead_locks(tmp_path)
    assert not lock.exists()


ORPHAN = """
import subprocess, sys
from pascal.pipeline.processes import announce_planner
announce_planner()
stage = "from pascal.pipeline.processes import end_with_planner; import time; end_with_planner(); time.sleep(600)"
print(subprocess.Popen(["bash", "-c", f"true; {sys.executable} -c '{stage}' & echo $!; wait"]).pid, flush=True)
sys.stdin.read()
"""


def test_a_stage_ends_with_its_snakemake_although_a_shell_stands_between(tmp_path: Path) -> None:
    planner = subprocess.Popen([sys.executable, "-c", ORPHAN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert planner.stdout is not None
    number = max(int(planner.stdout.readline()), int(planner.stdout.readline()))
    assert Path(f"/proc/{number}").exists()
    time.sleep(1)
    planner.kill()
    deadline = time.time() + 60
    while Path(f"/proc/{number}").exists() and time.time() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{number}").exists()
    planner.communicate()
