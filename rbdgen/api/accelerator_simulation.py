"""An accelerator's folder simulated: every bit, what each function takes, tasks in its stages."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..design.coordinates import coordinate_errors
from ..design.facts import AcceleratorRun, FunctionRun, MixedRun
from ..design.manifest import HardwareManifest
from ..draw.rows import Stay, Task
from ..system.quoting import Progress
from ..system.workers import cores
from ..tasks.model import Specification
from ..tasks.routes import CODES, ROLLOUTS
from ..tasks.stages import Accelerator
from ..tools.dump import read_vcd
from ..tools.model import Model, Result
from ..tools.toolchain import SimulationError
from .results import STALL, Mismatch, keep_promise
from .stimulus import Array, Traffic, inputs_of, scaled_states

BATCH = 256  # tasks, as in Dadu-RBD's evaluation
STALLS = (STALL, STALL), (0.0, 0.9)  # probabilities, per cycle, on the way in and on the way out
Int64 = NDArray[np.int64]
TASK = ("tags/write", "tags/write_address", "tags/data")  # a task comes: its slot, its tag
RESULT = ("o__valid", "o__ready", "o__payload.tag")
STATION = ("full", "entering.slot", "entering.function", "done", "whose.slot", "whose.function")


def simulate_accelerator(
    made: Specification,
    model: Model,
    folder: Path,
    entry: HardwareManifest,
    states: int,
    seed: int,
    progress: Progress = lambda _: None,
) -> AcceleratorRun:
    """Run every function, alone and mixed, through ``model``, the Verilated accelerator of
    ``folder``.

    ``made``: the design in the folder, ``entry``: its manifest. Returns the report.

    Each function: one task alone, for its latency, then a batch of 256, for its interval; then
    ``states`` tasks of all functions in random order, at full rate and under random stalls on
    both sides. Every bit and tag is compared with the integer model, and the values of the batch
    with the golden model.

    Raises Mismatch where hardware, model or manifest disagree.
    """
    state = scaled_states(made, BATCH, seed)
    traffic = Traffic(made, inputs_of(made, state))
    traffic.expect()
    functions, mixed = {}, traffic.mixed(states, seed)
    with ThreadPoolExecutor(cores()) as threads:
        alone = {f: threads.submit(traffic.run, model, [f]) for f in made.accelerator.functions}
        batch = {f: threads.submit(traffic.run, model, [f] * BATCH) for f in alone}
        together = threads.submit(traffic.run, model, mixed)
        stalled = [
            threads.submit(
                traffic.run, model, mixed[:1000], stall_in=into, stall_out=out, seed=seed
            )
            for into, out in STALLS
        ]
        try:
            for function in alone:
                own = alone[function].result(), batch[function].result()
                functions[function] = _function_run(traffic, folder, entry, function, *own, state)
                progress(f"{function}: {BATCH} tasks, every bit equal")
            run = together.result()
            progress(f"{states} tasks of all functions mixed, every bit equal")
            for one in stalled:
                one.result()
            progress("the same under random stalls")
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    return AcceleratorRun(
        states=states,
        seed=seed,
        bit_exact=True,
        batch=BATCH,
        functions=functions,
        mixed=MixedRun(states, int(run.result_cycle[-1] - run.accept_cycle[0])),
        multipliers=entry.multipliers.hardware,
        calibration=made.front.robot.name if made.held else None,
    )


def _function_run(
    traffic: Traffic,
    folder: Path,
    entry: HardwareManifest,
    function: str,
    alone: Result,
    batch: Result,
    state: Mapping[str, Array],
) -> FunctionRun:
    """Results of a function's simulated runs: a single task and a batch.

    Mismatch where the latency is not the predicted one, or an error exceeds the promised one.
    """
    made = traffic.made
    latency = int(alone.result_cycle[0] - alone.accept_cycle[0])
    predicted = entry.tasks.functions[function].latency
    accuracy = traffic.accuracy(function, state)
    if function not in ROLLOUTS:
        if latency != predicted:
            said = f"{latency} simulated, {predicted} predicted"
            raise Mismatch(f"{folder}: latency of {function} {said}")
        keep_promise(f"{folder}: {function}", accuracy, made.design.error)
    later = batch.result_cycle[BATCH // 2 :]
    return FunctionRun(
        latency=latency,
        interval=round(float(later[-1] - later[0]) / (len(later) - 1), 2),
        batch_cycles=int(batch.result_cycle[-1] - batch.accept_cycle[0]),
        overflows=int(traffic.expected[function][1].sum()),
        coordinates=tuple(coordinate_errors(made.design, made.front.canonical, accuracy, function)),
    )


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
