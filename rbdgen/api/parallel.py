"""Work on several inputs: in processes of this machine, or as jobs of a cluster, by submitit.

Results of jobs come back through a folder that all machines see. Whatever takes long keeps its
results in files of its own (`kept`), so a run that was interrupted asks only for what is missing.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from ..design.choices import EXECUTORS
from ..draw.tables import table
from ..system.quoting import Progress, Refusal
from ..system.records import Record
from ..system.signals import deferred
from .folder import InputError, write_file

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


ATTEMPTS = 3  # after which a job that is lost again is given up
MINUTES = 24 * 60  # that a job may take, unless the user says otherwise
ALL = 1 << 20
POLLED = 0.2, 5.0  # s between two looks at the jobs, at first and at most
RAN = "jobs.json"
HEAD = ("job", "what", "attempt", "where", "s", "ended")


class JobError(Refusal, RuntimeError):
    """A job that was lost again and again; or a queue that takes none."""


@dataclass(frozen=True)
class Ran(Record):
    """A job that has ended. ``attempt``: from 1; ``s``: from when it was asked for."""

    job: str
    what: str
    attempt: int
    where: str
    s: float
    ended: str


@dataclass(frozen=True, eq=False)
class Executor:
    """Where jobs run, and what has.

    ``name``: "slurm", a cluster's queue, or "local", processes of this machine. ``folder``: for
    what jobs write, and for jobs.json, which says what ran where; all machines must see it.
    ``options`` of submitit's, such as slurm_partition, mem_gb, cpus_per_task, timeout_min.
    """

    name: str
    folder: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    ran: list[Ran] = field(default_factory=list)


def executor_of(
    name: str | None, folder: Path, options: Mapping[str, Any] | None = None
) -> Executor | None:
    """The executor of a name, or none; InputError for options without one."""
    if name is not None:
        return Executor(name, folder.absolute(), options or {})
    if options:
        raise InputError(f"executor: {', '.join(options)} is given, but no executor")
    return None


def at_a_time(jobs: int | None, executor: Executor | None, here: int) -> int:
    """How many run at a time: as asked; else all on a cluster, or so many ``here``."""
    return jobs or (ALL if executor and executor.name == "slurm" else here)


@dataclass
class _Job:
    """A job that has not ended, of input ``number``."""

    of: Any
    number: int
    attempt: int
    since: float


def in_jobs(
    work: Callable[..., T],
    inputs: Sequence[tuple[Any, ...]],
    jobs: int,
    done: Callable[[int, T], None],
    executor: Executor,
    progress: Progress = lambda _: None,
) -> list[T]:
    """``work(*input)`` of each input, in order, at most ``jobs`` at a time; ``done`` is told each.

    ``work`` is a function of a module; inputs and results can be pickled. A job that ends without
    an answer, as one whose machine is taken away, is asked for again. An error of the work ends all
    jobs, and is raised; so does an interruption. Raises JobError, InputError.
    """
    queue = _queue(executor, progress)
    left = deque((k, 1) for k in range(len(inputs)))
    running: list[_Job] = []
    found: dict[int, T] = {}
    ran: list[Ran] = []
    pause, longest = POLLED
    try:
        while left or running:
            while left and len(running) < jobs:
                k, attempt = left.popleft()
                running.append(_Job(_asked(queue, work, inputs[k]), k, attempt, time.monotonic()))
            ended = [own for own in running if own.of.done()]
            if not ended:
                time.sleep(pause)
                pause = min(1.5 * pause, longest)
            for own in ended:
                pause = POLLED[0]
                running.remove(own)
                answer = _answer(own, executor)
                where = "lost" if answer is None else answer[0]
                ended_as = "lost" if answer is None else "well" if answer[1] else "in error"
                seconds = round(time.monotonic() - own.since, 1)
                name = _spoken(work, inputs[own.number])
                ran.append(Ran(own.of.job_id, name, own.attempt, where, seconds, ended_as))
                if answer is None:
                    _refuse_lost(own, name, executor)
                    progress(f"job {own.of.job_id} is lost; asked for again: {name}")
                    left.append((own.number, own.attempt + 1))
                elif not answer[1]:
                    raise answer[2]
                else:
                    found[own.number] = answer[2]
                    done(own.number, answer[2])
    finally:
        for own in running:
            own.of.cancel(check=False)
        executor.ran.extend(ran)
        listed = json.dumps([own.to_json() for own in executor.ran], indent=2) + "\n"
        write_file(executor.folder / RAN, listed)
        progress(f"jobs, which {executor.folder / RAN} lists:\n{_as_text(ran)}")
    return [found[k] for k in range(len(inputs))]


def _queue(executor: Executor, progress: Progress) -> Any:
    """A submitit executor; InputError for an unknown one, JobError if it cannot be set up."""
    if executor.name not in EXECUTORS:
        raise InputError(f"executor: {' or '.join(EXECUTORS)}, not {executor.name}")
    try:
        import submitit
    except ImportError:
        raise InputError('executor: no submitit: pip install "rbdgen[cluster]"') from None
    logs = executor.folder / "logs"
    try:
        queue = submitit.AutoExecutor(logs, cluster=executor.name)
        queue.update_parameters(name="rbdgen", **{"timeout_min": MINUTES, **executor.options})
    except (RuntimeError, NameError, TypeError, ValueError) as error:
        raise JobError(f"executor {executor.name}: {str(error).splitlines()[0]}") from error
    progress(f"jobs run by {executor.name}; what they print is in {logs}")
    return queue


def _asked(queue: Any, work: Callable[..., T], own: tuple[Any, ...]) -> Any:
    try:
        return queue.submit(_job_worked, work, own)
    except Exception as error:  # submitit's own kinds, and those of what it calls
        said = str(error).strip() or type(error).__name__
        raise JobError(f"the queue takes no job: {said.splitlines()[0]}") from error


def _job_worked(work: Callable[..., T], own: tuple[Any, ...]) -> tuple[str, bool, Any]:
    """Where it ran; whether well; the result, or the error, which submitit would make text of."""
    try:
        return platform.node(), True, work(*own)
    except Exception as error:
        return platform.node(), False, error


def _answer(own: _Job, executor: Executor) -> tuple[str, bool, Any] | None:
    """The result of a job; None if it is lost, JobError if it failed outside the work itself."""
    if executor.name == "local" and not own.of.paths.result_pickle.exists():
        return None  # on a cluster it may still be on its way, for which submitit waits
    from submitit.core.utils import FailedJobError, UncompletedJobError

    try:
        found: tuple[str, bool, Any] = own.of.result()
    except UncompletedJobError:
        return None
    except FailedJobError as error:  # of submitit, or of what cannot be pickled
        raise JobError(f"job {own.of.job_id}: {str(error).strip().splitlines()[-1]}") from error
    return found


def _refuse_lost(own: _Job, name: str, executor: Executor) -> None:
    if own.attempt >= ATTEMPTS:
        raise JobError(
            f"job {own.of.job_id} ({name}) was lost {ATTEMPTS} times; "
            f"what it said is in {executor.folder / 'logs'}"
        )


def _spoken(work: Callable[..., Any], own: tuple[Any, ...]) -> str:
    """``synthesised iiwa14 composite 18 4``: the work, and the plain values of its input."""
    values = [v for x in own for v in (x.values() if isinstance(x, Mapping) else [x])]
    plain = [str(v) for v in values if isinstance(v, str | int | float) and not isinstance(v, bool)]
    return " ".join([work.__name__.lstrip("_"), *plain])


def _as_text(ran: Sequence[Ran]) -> str:
    return table(HEAD, [[r.job, r.what, r.attempt, r.where, r.s, r.ended] for r in ran])
