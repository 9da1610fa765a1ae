"""Writing whole files: what a reader, a crash and a second writer may see."""

import multiprocessing
import multiprocessing.synchronize
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from pascal.errors import PascalError
from pascal.files import read_tensors, replacing, write_bytes, write_rows, write_tensors, write_text


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert write_bytes(tmp_path / "a", b"\r\n\0").read_bytes() == b"\r\n\0"
    assert write_text(tmp_path / "deep/b", "θ\r\n").read_bytes() == "θ\r\n".encode()
    assert write_rows(tmp_path / "c", ["x", "y"], [{"y": 1, "x": "a,b"}]).read_text() == 'x,y\n"a,b",1\n'
    tensors = {"w": torch.tensor([1.5]), "b": torch.tensor([2])}
    write_tensors(tmp_path / "d", tensors)
    assert read_tensors(tmp_path / "d") == tensors
    assert sorted(os.listdir(tmp_path)) == ["a", "c", "d", "deep"]


def test_the_longest_name_a_folder_takes(tmp_path: Path) -> None:
    assert write_text(tmp_path / ("n" * 255), "long").read_text() == "long"


def _half(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise OSError("disk full")


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_text(tmp_path / "result.csv", "old")

    def rows() -> Iterator[dict[str, int]]:
        yield {"x": 1}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(path, ["x"], rows())
    with pytest.raises(OSError, match="disk full"):
        _half(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_text(tmp_path / "folder", "x")
    assert path.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["folder", "result.csv"]


def test_what_the_dead_left_is_removed_and_what_the_living_write_is_not(tmp_path: Path) -> None:
    path, other = tmp_path / "result.csv", tmp_path / "other.csv"
    for killed in (path, other):
        process = multiprocessing.get_context("fork").Process(target=_killed_while_writing, args=(killed,))
        process.start()
        process.join()
    assert len(os.listdir(tmp_path)) == 2
    with replacing(path) as file:
        file.write(b"first")
        write_text(path, "second")
    assert path.read_text() == "first"
    assert len(os.listdir(tmp_path)) == 2, "the other file's own writer removes that one's"
    write_text(other, "x")
    assert sorted(os.listdir(tmp_path)) == ["other.csv", "result.csv"]


def _killed_while_writing(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = write_text(tmp_path / "a", "1")
    finally:
        os.umask(before)
    assert mode(path) == 0o640
    path.chmod(0o600)
    assert mode(write_text(path, "2")) == 0o600


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path: Path) -> None:
    cached = write_text(tmp_path / "cached", "of another version")
    (tmp_path / "result").symlink_to(cached)
    assert write_text(tmp_path / "result", "new").read_text() == "new"
    assert cached.read_text() == "of another version"


def test_file_and_folder_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)))
    write_text(tmp_path / "a", "1")
    assert synced == [False, True]


def _write_for_ever(path: Path, letter: str, started: multiprocessing.synchronize.Event) -> None:
    while True:
        write_text(path, letter * 100_000)
        started.set()


def test_killed_and_concurrent_writers_leave_whole_files(tmp_path: Path) -> None:
    path, context = tmp_path / "shared", multiprocessing.get_context("spawn")
    events = [context.Event() for _ in "ab"]
    writers = [
        context.Process(target=_write_for_ever, args=(path, letter, event))
        for letter, event in zip("ab", events, strict=True)
    ]
    for writer in writers:
        writer.start()
    try:
        assert all(event.wait(60) for event in events)
        for _ in range(200):
            assert path.read_text() in ("a" * 100_000, "b" * 100_000)
    finally:
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)  # type: ignore[arg-type]
            writer.join()
    assert path.read_text() in ("a" * 100_000, "b" * 100_000)


def test_unreadable_tensors_are_named(tmp_path: Path) -> None:
    with pytest.raises(PascalError, match="no such file"):
        read_tensors(tmp_path / "none")
    with pytest.raises(PascalError, match="run the stage that writes it again"):
        read_tensors(write_bytes(tmp_path / "half", b"{"))
