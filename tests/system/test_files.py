"""Files and folders that appear whole or not at all: kills at every event, and many writers."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rbdgen.system import files

OLD = {"a.txt": b"old", "b.txt": b"old too", "manifest.json": b"{}"}
NEW = {"a.txt": b"new", "c.txt": b"new too", "manifest.json": b"[]"}
KILLED, MOST = 9, 200


@pytest.fixture(params=["exchanged", "in two steps"])
def two_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the file system's exchange of folders, and without."""
    if request.param == "in two steps":
        monkeypatch.setattr(files, "exchange", lambda one, other: False)
    return str(request.param)


def killed_at(k: int, act: Callable[[], object]) -> bool:
    """Whether ``act``, in a process of its own, had a k-th file event, before which it ended."""
    child = os.fork()
    if not child:
        events = iter(range(MOST))

        def count(event: str, arguments: tuple[object, ...]) -> None:
            if event.startswith(("open", "os.", "shutil.", "fcntl.")) and next(events) == k:
                os._exit(KILLED)

        real = files.exchange

        def exchange(one: Path, other: Path) -> bool:
            count("os.exchange", ())
            return real(one, other)

        files.exchange = exchange
        sys.addaudithook(count)
        try:
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def kills(act: Callable[[], object]) -> Iterator[int]:
    """At every file event of ``act``, the number of which follows the last."""
    for k in range(MOST):
        if not killed_at(k, act):
            assert k > 4
            return
        yield k
    raise AssertionError("never came to its end")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in place.iterdir()}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_folder_is_whole_after_any_kill(tmp_path: Path, two_ways: str) -> None:
    place = tmp_path / "design"
    seen = []
    for k in kills(lambda: files.write_tree(place, NEW)):
        if k and two_ways == "exchanged":  # whole at once, without being recovered
            assert contents(place) in (OLD, NEW)
        files.recover(place)
        seen.append(contents(place) if place.exists() else {})
        assert seen[-1] in ((OLD, NEW) if k else ({},))
        files.write_tree(place, OLD)  # works, and nothing else stays
        assert contents(place) == OLD
        assert names(tmp_path) == ["design"]
    assert OLD in seen and NEW in seen


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_new_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    place = tmp_path / "new" / "design"
    seen = []
    for _ in kills(lambda: files.write_tree(place, NEW)):
        seen.append(contents(place) if place.exists() else {})
        assert seen[-1] in ({}, NEW)
        shutil.rmtree(place, ignore_errors=True)
        files.write(tmp_path / "new" / "design", b"")  # clears what the killed one left
        assert names(tmp_path / "new") == ["design"]
        place.unlink()
    assert {} in seen and NEW in seen


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_file_is_whole_after_any_kill(tmp_path: Path) -> None:
    place = tmp_path / "report.json"
    for _ in kills(lambda: files.write(place, b"new")):
        assert not place.exists() or place.read_bytes() in (b"old", b"new")
        files.write(place, b"old")
        assert names(tmp_path) == ["report.json"]


def write_often(place: Path, own: int, times: int) -> None:
    for k in range(times):
        files.write_tree(place, {name: f"{own} {k}".encode() for name in ("a", "b", "c")})


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_several_writers_at_once(tmp_path: Path, two_ways: str) -> None:
    """None fails, and whoever was last, the folder is one writer's alone."""
    place = tmp_path / "design"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=write_often, args=(place, own, 40)) for own in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    files.write(tmp_path / "other", b"")  # of another place: clears nothing of this one
    (tmp_path / "other").unlink()
    assert names(tmp_path) == ["design"]
    assert len(set(contents(place).values())) == 1
    assert set(contents(place)) == {"a", "b", "c"}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_a_living_writer_has_stays(tmp_path: Path) -> None:
    place = tmp_path / "design"
    with files.beside(place, folder=True) as new:
        files.write_tree(place, OLD)
        assert new.is_dir()
    assert names(tmp_path) == ["design"]


def test_nobody_elses_hidden_folders_are_touched(tmp_path: Path) -> None:
    others = [".design-notes", ".rbdgen-notes", ".rbdgen-0123456789abcdef", ".rbdgen-"]
    for name in others:
        (tmp_path / name).mkdir()
    files.write_tree(tmp_path / "design", OLD)
    files.write_tree(tmp_path / "design", NEW)
    assert names(tmp_path) == sorted([*others, "design"])


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    files.write_tree(tmp_path / "design", OLD)
    (tmp_path / "link").symlink_to(tmp_path / "design")
    files.write_tree(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "design") == NEW


def test_the_longest_name(tmp_path: Path) -> None:
    files.write_tree(tmp_path / ("d" * 255), OLD)
    files.write(tmp_path / ("ä" * 127), b"")
    with pytest.raises(OSError, match="File name too long"):
        files.write(tmp_path / ("d" * 256), b"")


def test_reading_never_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def late(number: int, frame: object) -> None:
        raise AssertionError("waited")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    try:
        for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/tty")):
            with pytest.raises(OSError, match=r"a pipe or a device|No such device"):
                files.read_regular(path, 100)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(IsADirectoryError):
        files.read_regular(tmp_path, 100)
    (tmp_path / "long").write_bytes(b"x" * 101)
    with pytest.raises(OSError, match="larger than"):
        files.read_regular(tmp_path / "long", 100)
    with pytest.raises(OSError, match="NUL"):
        files.read_regular("a\0b", 100)
