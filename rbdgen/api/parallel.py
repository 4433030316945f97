"""The same work on several inputs, in several processes, or as jobs of an executor."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context
from types import FrameType
from typing import Any, TypeVar

from ..system.signals import deferred
from .cluster import Executor, in_jobs

T = TypeVar("T")
STOPPED = 143  # exit status of a process that SIGTERM ended


def in_parallel(
    work: Callable[..., T],
    inputs: Sequence[tuple[Any, ...]],
    jobs: int,
    done: Callable[[int, T], None],
    executor: Executor | None = None,
    known: Callable[..., T | None] = lambda *own: None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[T]:
    """``work(*input)`` of each input, in order; ``done`` is told each result when it is there.

    With one job it runs here. Else in ``jobs`` new processes: ``work`` must be a function of a
    module, inputs and results what can be pickled. An error ends what has not begun, and is raised;
    an interruption ends all. An ``executor`` runs them as its jobs; of what is ``known`` before it
    is not asked.
    """
    if executor is not None:
        before: dict[int, T] = {}
        for k, own in enumerate(inputs):
            if (result := known(*own)) is not None:
                before[k] = result
                done(k, result)
        left = [k for k in range(len(inputs)) if k not in before]
        if left:
            asked = [inputs[k] for k in left]
            made = in_jobs(work, asked, jobs, lambda i, r: done(left[i], r), executor, progress)
            before |= dict(zip(left, made, strict=True))
        return [before[k] for k in range(len(inputs))]
    if jobs == 1 or len(inputs) < 2:
        found = []
        for k, own in enumerate(inputs):
            found.append(work(*own))
            done(k, found[-1])
        return found
    at_once = min(jobs, len(inputs))
    with deferred():  # what is half made complains
        idle = ProcessPoolExecutor(at_once, get_context("spawn"), initializer=_begin)
    with idle as pool:
        with deferred():  # so does a process that is half started
            number: dict[Future[T], int] = {
                pool.submit(_worked, work, *own): k for k, own in enumerate(inputs)
            }
        try:
            for future in as_completed(number):
                done(number[future], future.result())
        except Exception:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        except BaseException:
            for future in number:
                future.cancel()
            for process in active_children():
                process.terminate()
            # Its thread ends before Python does: Python 3.11 would wake it through a closed pipe.
            pool.shutdown(wait=True)
            raise
        return [future.result() for future in number]


_working: list[bool] = []  # in a process of the pool: whether it is at work


def _begin() -> None:
    """A process that is stopped says nothing: the one that asked for it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    warnings.simplefilter("ignore")  # of what is left half made
    if not _working:
        os._exit(STOPPED)
    raise SystemExit(STOPPED)  # ends the tools that it runs, and removes their files


def _worked(work: Callable[..., T], *own: Any) -> T:
    """``work(*own)``; the pool would take the end of a process for an error of the work."""
    _working.append(True)
    try:
        return work(*own)
    except SystemExit:
        os._exit(STOPPED)
    finally:
        _working.clear()
