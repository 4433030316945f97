"""An accelerator's folder simulated: every bit, and what each function takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..compile.scheduled import Accelerated
from ..design.coordinates import coordinate_errors
from ..design.manifest import HardwareManifest
from ..design.runs import AcceleratorRun, FunctionRun, MixedRun
from ..draw.task_timeline import Task, timeline
from ..simulate.model import Model, Result
from ..system.files import beside
from ..system.workers import cores
from ..tasks.routes import ROLLOUTS
from .errors import STALL, Mismatch, keep_promise
from .folder import write_file, writing
from .reports import TIMELINE
from .stays import tasks_of
from .traffic import Array, Traffic, inputs_of, scaled_states
from .verilated import load_core

Progress = Callable[[str], None]
BATCH = 256  # tasks, as in Dadu-RBD's evaluation
WAVES = "simulation.vcd"
BURST = 24  # tasks in the waves
STALLS = (STALL, STALL), (0.0, 0.9)  # probabilities, per cycle, on the way in and on the way out


def simulate_accelerator(
    made: Accelerated,
    model: Model,
    folder: Path,
    entry: HardwareManifest,
    states: int,
    seed: int,
    progress: Progress = lambda _: None,
    waves: bool = False,
) -> AcceleratorRun:
    """Run every function, alone and mixed, through ``model``, the Verilated accelerator of
    ``folder``.

    ``made``: what the folder was generated from, ``entry``: its manifest. Returns the report.

    Each function: one task alone, for its latency, then a batch of 256, for its interval; then
    ``states`` tasks of all functions in random order, at full rate and under random stalls on
    both sides. Every bit and tag is compared with the integer model, and the values of the batch
    with the golden model. With ``waves`` also simulation.vcd and timeline.svg, of a few tasks.

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
                functions[function] = _function_run(traffic, folder, function, *own, state)
                progress(f"{function}: {BATCH} tasks, every bit equal")
            run = together.result()
            progress(f"{states} tasks of all functions mixed, every bit equal")
            for one in stalled:
                one.result()
            progress("the same under random stalls")
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    report = AcceleratorRun(
        states=states,
        seed=seed,
        bit_exact=True,
        batch=BATCH,
        functions=functions,
        mixed=MixedRun(states, int(run.result_cycle[-1] - run.accept_cycle[0])),
        multipliers=entry.multipliers.hardware,
        calibration=made.front.robot.name if made.held else None,
    )
    if waves:
        traced_run(traffic, folder, entry, seed, progress)
    return report


def _function_run(
    traffic: Traffic,
    folder: Path,
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
    predicted = made.accelerator.latency(function)
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


def traced_run(
    traffic: Traffic, folder: Path, entry: HardwareManifest, seed: int, progress: Progress
) -> tuple[list[Task], Result]:
    """Write the waves of a burst of all functions, and who was where in it as a picture."""
    model = load_core(folder, entry, trace=True, progress=progress)
    accelerator = traffic.made.accelerator
    with writing(folder / WAVES), beside(folder / WAVES) as waves:
        run = traffic.run(model, traffic.mixed(BURST, seed), waves=waves)
        tasks = tasks_of(waves, accelerator, entry.name)
        waves.replace(folder / WAVES)
    title = f"{entry.robot}: {BURST} tasks of {len(accelerator.functions)} functions"
    write_file(folder / TIMELINE, timeline(accelerator, tasks, title))
    progress(f"{WAVES} and {TIMELINE}: {BURST} tasks")
    return tasks, run
