"""The same work on several inputs, in new processes of this Python.

`multiprocessing` would run the main module of whoever calls in each of them, and a script would
need a guard for it; here they import what the work is made of, and nothing else.
"""

from __future__ import annotations

import base64
import ctypes
import gc
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from .quoting import Refusal
from .signals import child

if TYPE_CHECKING:
    from subprocess import Popen

T = TypeVar("T")


class WorkerError(Refusal, RuntimeError):
    """A process that was at work ended by itself, or was ended from outside."""


def cores() -> int:
    """How many processes may be at work: one where this one is itself one of several."""
    if "multiprocessing" in sys.modules and sys.modules["multiprocessing"].parent_process():
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_workers(work: Callable[..., T], inputs: Sequence[tuple[Any, ...]], workers: int) -> list[T]:
    """``work(*input)`` of each input, in order; who is done takes the next.

    With one worker, or one input, it runs here. Else ``work`` is what can be pickled, a function of
    a module or a method, and each process has its own copy of it for all of its inputs; inputs and
    results can be pickled too. An error ends all, and is raised; so does an interruption.
    """
    workers = min(workers, len(inputs))
    if workers < 2:
        return [work(*own) for own in inputs]
    import subprocess

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    left = deque(range(len(inputs)))
    found: dict[int, T] = {}
    packed = _packed(work)

    def drive(process: Popen[str]) -> None:
        _put(process, packed)
        while left:
            try:
                k = left.popleft()
            except IndexError:  # another was faster
                return
            _put(process, _packed(inputs[k]))
            well, answer = _answer(process)
            if not well:
                raise answer
            found[k] = answer

    # what is not done ends the processes first, and the threads that wait for them then end too
    with ThreadPoolExecutor(workers) as threads, ExitStack() as stack:
        processes = [stack.enter_context(child(_command(), **pipes)) for _ in range(workers)]
        try:
            for driven in [threads.submit(drive, process) for process in processes]:
                driven.result()
        finally:
            left.clear()
    return [found[k] for k in range(len(inputs))]


def serve() -> None:
    """Be a worker: its work comes first, then its inputs, each in a line; it ends with them."""
    gc.disable()  # it ends soon; work that leaves much behind collects it by itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for the work ends it
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what the work prints is no answer
        work = _unpacked(sys.stdin.readline())
        for line in sys.stdin:
            try:
                answer = True, work(*_unpacked(line))
            except Exception as error:
                answer = False, error
            answers.write(_packed(answer))
            answers.flush()
    os._exit(0)  # nothing is left to clean up, and all would be looked through for it


def _command() -> list[str]:
    start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
    return [sys.executable, "-c", start]


def _put(process: Popen[str], line: str) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except OSError:  # it has ended: what it does not answer says so
        return


def _answer(process: Popen[str]) -> tuple[bool, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.endswith("\n"):
        raise WorkerError(f"a process at work ended with status {process.wait()}")
    found: tuple[bool, Any] = _unpacked(line)
    return found


def _packed(value: object) -> str:
    return base64.b64encode(pickle.dumps(value, pickle.HIGHEST_PROTOCOL)).decode() + "\n"


def _unpacked(line: str) -> Any:
    return pickle.loads(base64.b64decode(line))


def hand_back() -> None:
    """Give the machine what is free between what is in use, before other processes need it.

    glibc keeps it for later: after a search for ranges, gigabytes. Other C libraries have no such
    call, and then nothing happens.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
