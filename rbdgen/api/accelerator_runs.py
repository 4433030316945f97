"""An accelerator's folder simulated: every bit, and what each function takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..compile.scheduled import Accelerated
from ..design.manifest import HardwareManifest
from ..draw.task_timeline import Task, timeline
from ..simulate.model import Result
from ..simulate.report import AcceleratorRun, FunctionRun, MixedRun
from ..system.files import beside
from ..tasks.routes import ROLLOUTS
from .errors import STALL, Mismatch, keep_promise
from .folder import write_file, writing
from .rtl import load_core
from .stays import tasks_of
from .traffic import Traffic, inputs_of, within_limits

Progress = Callable[[str], None]
BATCH = 256  # tasks, as in Dadu-RBD's evaluation
WAVES, TIMELINE = "simulation.vcd", "timeline.svg"
BURST = 24  # tasks in the waves


def simulate_accelerator(
    made: Accelerated,
    folder: Path,
    entry: HardwareManifest,
    states: int,
    seed: int,
    progress: Progress = lambda _: None,
    waves: bool = False,
) -> AcceleratorRun:
    """Run every function, alone and mixed, through the Verilated accelerator in ``folder``.

    ``made``: what the folder was generated from, ``entry``: its manifest. Returns the report.

    Each function: one task alone, for its latency, then a batch of 256, for its interval; then
    ``states`` tasks of all functions in random order, at full rate and under random stalls on
    both sides. Every bit and tag is compared with the integer model, and the values of the batch
    with the golden model. With ``waves`` also simulation.vcd and timeline.svg, of a few tasks.

    Raises Mismatch where hardware, model or manifest disagree.
    """
    model = load_core(folder, entry, trace=waves, progress=progress)
    state = within_limits(made, BATCH, seed)
    traffic = Traffic(made, inputs_of(made, state))
    functions = {}
    for function in made.accelerator.functions:
        alone = traffic.run(model, [function])
        batch = traffic.run(model, [function] * BATCH)
        latency = int(alone.result_cycle[0] - alone.accept_cycle[0])
        predicted = made.accelerator.latency(function)
        if function not in ROLLOUTS and latency != predicted:
            said = f"{latency} simulated, {predicted} predicted"
            raise Mismatch(f"{folder}: latency of {function} {said}")
        errors = traffic.errors(function, state)
        if function not in ROLLOUTS:
            keep_promise(f"{folder}: {function}", errors, made.design.error)
        later = batch.result_cycle[BATCH // 2 :]
        functions[function] = FunctionRun(
            latency=latency,
            interval=round(float(later[-1] - later[0]) / (len(later) - 1), 2),
            batch_cycles=int(batch.result_cycle[-1] - batch.accept_cycle[0]),
            overflows=int(traffic.expected[function][1].sum()),
            errors={name: error.report() for name, error in errors.items()},
        )
        progress(f"{function}: {BATCH} tasks, every bit equal")
    mixed = traffic.mixed(states, seed)
    run = traffic.run(model, mixed)
    progress(f"{states} tasks of all functions mixed, every bit equal")
    for stall_in, stall_out in ((STALL, STALL), (0.0, 0.9)):
        traffic.run(model, mixed[:1000], stall_in=stall_in, stall_out=stall_out, seed=seed)
    progress("the same under random stalls")
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
