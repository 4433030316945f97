"""Which task was in which stage of an accelerator when, from the waves of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..draw.task_timeline import Stay, Task
from ..simulate.toolchain import SimulationError
from ..simulate.vcd import read_vcd
from ..tasks.routes import CODES
from ..tasks.stages import Accelerator

Int64 = NDArray[np.int64]
TASK = ("tags/write", "tags/write_address", "tags/data")  # a task comes: its slot, its tag
RESULT = ("o__valid", "o__ready", "o__payload.tag")
STATION = ("full", "entering.slot", "entering.function", "done", "whose.slot", "whose.function")


def tasks_of(waves: Path, accelerator: Accelerator, name: str) -> list[Task]:
    """The tasks in the order in which they came; ``name``: of the module in the dump.

    Cycles count from the first one after reset, as those of `Model.run`.

    Raises SimulationError for waves that are not of a whole run of this accelerator.
    """
    top = f"TOP/{name}"
    signals = [f"{top}/{signal}" for signal in (*TASK, *RESULT)]
    signals += [f"{top}/{stage}/{signal}" for stage in accelerator.stages for signal in STATION]
    found = read_vcd(waves, f"{top}/clk", [f"{top}/rst", *signals])
    start = int(np.flatnonzero(found[f"{top}/rst"])[-1]) + 1
    value = {key: values[start:] for key, values in found.items()}

    # a task is written down in the cycle after the one in which it was taken
    written, slot, tag = (value[f"{top}/{signal}"] for signal in TASK)
    came = [(int(c), int(slot[c]), int(tag[c])) for c in np.flatnonzero(written)]
    functions: dict[int, int] = {}
    stays: dict[int, list[Stay]] = {k: [] for k in range(len(came))}
    for stage in accelerator.stages:
        own = [value[f"{top}/{stage}/{signal}"] for signal in STATION]
        for taken, done, of, code in _pairs(waves, stage, *own):
            task = max((k for k, c in enumerate(came) if c[1] == of and c[0] <= taken), default=-1)
            if functions.setdefault(task, code) != code or task < 0:
                raise SimulationError(f"{waves}: {stage} takes slot {of} in cycle {taken}: whose?")
            stays[task].append(Stay(stage, taken, done))

    valid, ready, given = (value[f"{top}/{signal}"] for signal in RESULT)
    results: dict[int, list[int]] = {}
    for c in np.flatnonzero(valid & ready):
        results.setdefault(int(given[c]), []).append(int(c))
    if sum(map(len, results.values())) != len(came):
        raise SimulationError(f"{waves}: some of {len(came)} tasks have no result")
    names = {code: function for function, code in CODES.items()}
    return [
        Task(
            tag,
            names[functions[k]],
            cycle - 1,
            results[tag].pop(0),
            tuple(sorted(stays[k], key=lambda stay: (stay.taken, stay.done))),
        )
        for k, (cycle, _, tag) in enumerate(came)
    ]


def _pairs(
    waves: Path,
    stage: str,
    full: Int64,
    whose: Int64,
    of: Int64,
    done: Int64,
    slot: Int64,
    function: Int64,
) -> list[tuple[int, int, int, int]]:
    """(taken, done, slot, function's code) of each stay in a stage, whose results keep the order.

    Operands wait in a register, ``full``, for the core: a task is new there in the cycle after it
    was taken.
    """
    before = np.concatenate([[0], full[:-1]])
    new = np.flatnonzero(full & (~before.astype(bool) | (np.diff(whose, prepend=-1) != 0)))
    ends = np.flatnonzero(done)
    taken = [(int(whose[c]), int(of[c])) for c in new]
    if taken != [(int(slot[c]), int(function[c])) for c in ends]:
        raise SimulationError(f"{waves}: {stage} gives other results than of what it took")
    return [(int(a) - 1, int(b), *own) for a, b, own in zip(new, ends, taken, strict=True)]
