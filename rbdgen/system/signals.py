"""Ctrl-C, SIGTERM and SIGHUP: one line, no child process left, an exit status that says which.

Signals belong to the whole process, and so do the few lines of state here. Imports little: until
it is there, an interruption is Python's to report.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import subprocess
    from concurrent.futures import Future
    from types import FrameType

T = TypeVar("T")
LINE = "rbdgen: stopped"
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
GRACE = 5.0  # s that are left for cleaning up, and to come back from code that is not Python
_children: set[subprocess.Popen[str]] = set()


class Stopped(KeyboardInterrupt):
    """A signal has asked the program to end; ``status`` is its exit status: 130, 143 or 129."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def stop_at_once() -> None:
    """Let signals end the process at once from now on: it has nothing to clean up."""
    for number in _heeded():
        signal.signal(number, _end)


def _heeded() -> list[int]:
    """The signals that are not ignored: nohup and background jobs have some ignored."""
    if threading.current_thread() is not threading.main_thread():
        return []  # where no handler can be set
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


def _end(number: int, frame: FrameType | None = None) -> None:
    _kill_children()
    if "multiprocessing" in sys.modules:
        for process in sys.modules["multiprocessing"].active_children():
            process.kill()
    os.write(2, f"{LINE}\n".encode())
    os._exit(128 + number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, the first signal ends the children and raises `Stopped`, whatever comes of it.

    Where nothing does within `GRACE`, the process ends. Further signals change nothing: what
    cleans up has its time.
    """
    came: list[int] = []
    over = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if came:
            return
        came.append(number)
        warnings.simplefilter("ignore")  # of what is left half made
        _kill_children()
        raise Stopped(number)

    def unraisable(args: Any) -> None:
        if not isinstance(args.exc_value, Stopped):  # raised where Python can only drop it
            hook(args)

    hook = sys.unraisablehook
    sys.unraisablehook = unraisable
    before = {number: signal.signal(number, interrupt) for number in _heeded()}
    try:
        with _insisting(before, over):
            yield
    except BaseException:
        if came:  # a library may have made another error of it, or a tool's end has
            raise Stopped(came[0]) from None
        raise
    finally:
        over.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


@contextmanager
def _insisting(numbers: Collection[int], over: threading.Event) -> Iterator[None]:
    """Inside, a signal ends the process where it is not ``over`` within `GRACE`.

    A thread sees to it: the handler itself waits for code that is not Python.
    """
    if not numbers:
        yield
        return
    end, start = os.pipe()
    os.set_blocking(start, False)

    def watch() -> None:
        while came := os.read(end, 1):
            if came[0] in numbers and not over.wait(GRACE):
                _end(came[0])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    before = signal.set_wakeup_fd(start, warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(start)  # the thread has read all
        thread.join()
        os.close(end)


def leave(status: int) -> None:
    """Let Python end, undisturbed; where it does not within `GRACE`, end it."""
    for number in _heeded():
        signal.signal(number, signal.SIG_IGN)
    late = threading.Timer(GRACE, os._exit, (status,))
    late.daemon = True
    late.start()


@contextmanager
def deferred() -> Iterator[None]:
    """Inside, signals wait; processes that are started begin with SIGINT held back."""
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: came.append(number))
        for number in _heeded()
    }
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def child(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A tool that runs; it ends with its own children if what waits for it does not go on.

    In a process group of its own, so that a tool's tools end with it. ``options`` are those of
    ``subprocess.Popen``; text goes in and comes out.
    """
    import subprocess

    process: subprocess.Popen[str] | None = None
    try:
        with deferred():
            process = subprocess.Popen(
                command, encoding="utf-8", errors="replace", process_group=0, **options
            )
            _children.add(process)
        yield process
    except BaseException:
        if process is not None:
            _kill(process)
        raise
    finally:
        if process is not None:
            with process:  # closes its pipes and waits
                _children.discard(process)


def run_child(
    command: Sequence[str], stdin: str | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end; what it says is captured."""
    import subprocess

    given = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    pipes = {"stdin": given, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with child(command, **pipes, **options) as process:
        said, complained = process.communicate(stdin)
    return subprocess.CompletedProcess(command, process.returncode, said, complained)


@contextmanager
def meanwhile(work: Callable[[], T]) -> Iterator[Future[T]]:
    """``work``, which waits for tools, goes on in a thread while the block does something else.

    The block's end waits for it; where the block fails, each tool ends that runs or begins.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(work)
        try:
            yield future
        except BaseException:
            while not future.done():
                _kill_children()
                wait([future], timeout=0.05)
            raise


def _kill_children() -> None:
    for process in list(_children):
        _kill(process)


def _kill(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
