"""Simulate a generated design cycle by cycle and hold every bit against the integer model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..compile.samples import accuracy_of
from ..design.coordinates import coordinate_errors
from ..design.facts import AcceleratorRun, CoreRun
from ..design.manifest import HardwareManifest
from ..draw.tables import simulation_text
from ..graph.accuracy import REPORTED
from ..system.quoting import Progress
from ..system.signals import meanwhile
from ..tasks.model import Specification
from ..tools.model import Model, Result
from .accelerator_simulation import simulate_accelerator
from .calibration import calibrated, in_words, read_calibration
from .design_file import DESIGN, ROBOT
from .evaluation import as_numbers, to_words
from .filed_design import filed_design
from .folder import checked_manifest, write_file
from .integer_model import IntegerModel, load_core
from .output_paths import check_place
from .reference import golden_model
from .results import JUDGED, STALL, Mismatch, Report, entries_of, keep_promise, portions
from .stimulus import within_limits

BATCH, FEWEST = 50_000, 1000
NUMBERS = 10_000_000  # of inputs and outputs in a batch
REPORT = "simulation.json"


class Simulation(Report[CoreRun | AcceleratorRun]):
    """The result of `simulate`."""

    def headline(self) -> str:
        return f"simulation: {self.facts.headline}"

    def as_text(self) -> str:
        return simulation_text(self.facts)


def simulate(
    folder: str | Path,
    states: int = 1000,
    seed: int = 0,
    progress: Progress = lambda _: None,
    trust: bool = False,
    calibration: str | Path | None = None,
) -> Simulation:
    """Run ``states`` random states through the Verilated design in ``folder``.

    A first run at full rate measures latency and initiation interval. A second run, with a tenth of
    the states and at most 1000, has random stalls on both sides. Every bit is compared with the
    integer model, and every value with the golden model. Half of the states are at the limits, the
    others at a tenth of them and at rest. `simulate_accelerator` describes the runs of an
    accelerator. ``calibration`` is the file of another robot's words, which are written into the
    registers first.

    Returns the report, which is also written to simulation.json; its ``coordinates`` have the error
    of each. Raises Mismatch where hardware, model or manifest disagree, or where a coordinate
    exceeds the error that the design promises. Raises OutputError for a folder that is no design or
    has changed, unless ``trust``.
    """
    place = Path(folder)
    said = None if calibration is None else in_words(read_calibration(calibration), place)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT, "{name}.v"))
    check_place(place / REPORT)
    with meanwhile(partial(load_core, place, entry, progress=progress)) as loading:
        made = filed_design(place, entry, progress)
        if said is not None:
            made = calibrated(made, place, said)
    model = loading.result()
    if made.is_core:
        run: CoreRun | AcceleratorRun = simulate_core(
            made, model, place, entry, states, seed, progress
        )
    else:
        run = simulate_accelerator(made, model, place, entry, states, seed, progress)
    write_file(place / REPORT, json.dumps(run.to_json(), indent=2) + "\n")
    return Simulation(run)


def simulate_core(
    core: Specification,
    model: Model,
    place: Path,
    entry: HardwareManifest,
    states: int,
    seed: int,
    progress: Progress = lambda _: None,
) -> CoreRun:
    """The same of a core in the folder ``place``, whose manifest is ``entry`` and whose Verilated
    design is ``model``."""
    integers, held = IntegerModel(core, progress), [int(word) for word in core.held.values()]
    accuracy = accuracy_of(core.design, core.front.canonical)
    overflows = 0
    latencies: set[int] = set()
    intervals: set[int] = set()  # the longest of each run that shows one
    done = 0
    for scale, state in scaled_batches(core, states, seed):
        words = to_words(core, state)
        expected, flags = integers(words)
        tokens = np.stack([words[n] for n in core.fixed.inputs], axis=1)
        run = model.run(tokens, seed=seed, held=held)
        compare(run, expected, flags, "at full rate")
        latencies |= {*(run.result_cycle - run.accept_cycle).tolist()}
        if len(flags) > 1:
            intervals.add(int(np.diff(run.accept_cycle).max()))
        accuracy.add(scale, *entries_beside_golden(core, state, expected))
        overflows += int(flags.any(axis=1).sum())
        done += len(flags)
        progress(f"simulated {done} of {states} states, every bit equal")
    stalled = stalled_run(integers, model, min(max(states // 10, 1), FEWEST), seed)

    notes = []
    judged = keep_promise(place, accuracy, core.design.error)
    if not judged:
        notes.append(too_few(states, f"the promised error of {core.design.error:g}", 4 * JUDGED))
    if not intervals:
        notes.append(too_few(states, "the initiation interval", 3))
    about = entry.tasks.functions[entry.functions[0]]  # all functions are one task
    latency, interval = sorted(latencies), sorted(intervals)[-1:]
    for key, found, predicted in (
        ("latency", latency, entry.latency),
        ("latency", latency, about.latency),
        ("initiation_interval", interval, entry.initiation_interval),
        ("initiation_interval", interval, about.interval),
    ):
        if found and found != [predicted]:
            said = found[0] if len(found) == 1 else found
            raise Mismatch(f"{place}: {key} {said} simulated, {predicted} predicted")
    return CoreRun(
        states=states,
        seed=seed,
        bit_exact=True,
        stalled_states=stalled,
        latency=about.latency,
        initiation_interval=about.interval if interval else None,
        overflows=overflows,
        promised=core.design.error,
        coordinates=tuple(coordinate_errors(core.design, core.front.canonical, accuracy)),
        calibration=core.front.robot.name if core.held else None,
        judged=judged,
        notes=tuple(notes),
    )


def too_few(states: int, what: str, enough: int) -> str:
    """The note on what so few states do not show."""
    few = "1 state is" if states == 1 else f"{states} states are"
    return f"{few} too few to judge {what}; {enough} are enough"


def batches(
    core: Specification, states: int, seed: int, share: float = 1.0
) -> Iterator[dict[str, NDArray]]:
    """Random states within a share of the design's limits, at most BATCH at a time."""
    fields = len(core.fixed.inputs) + len(core.fixed.graph.outputs)
    size = max(FEWEST, min(BATCH, NUMBERS // fields))
    for k, start in enumerate(range(0, states, size)):
        yield within_limits(core, min(size, states - start), seed, k, share)


def scaled_batches(
    core: Specification, states: int, seed: int
) -> Iterator[tuple[int, dict[str, NDArray]]]:
    """States at all `REPORTED` scales, and which: half of them at the limits, and small ones."""
    for scale, count in enumerate(portions(states)):
        for state in batches(core, count, seed, REPORTED[scale].share):
            yield scale, state


def compare(
    run: Result, expected: Mapping[str, NDArray[np.int64]], flags: NDArray[np.bool_], when: str
) -> None:
    """Mismatch for the first bit that differs from the integer model."""
    for k, (name, words) in enumerate(expected.items()):
        bad = np.flatnonzero(run.outputs[:, k] != words)
        if bad.size:
            raise Mismatch(
                f"{name} of state {bad[0]} {when}: hardware {run.outputs[bad[0], k]}, "
                f"integer model {words[bad[0]]} ({bad.size} states differ)"
            )
    bad = np.flatnonzero((run.outputs[:, len(expected) :] != flags).any(axis=1))
    if bad.size:
        raise Mismatch(f"overflow flags of state {bad[0]} {when} differ from the integer model")


def outputs_and_golden(
    core: Specification, state: Mapping[str, NDArray], expected: Mapping[str, NDArray[np.int64]]
) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Each array that the hardware gives: name, integer model's values, golden model's."""
    reference = golden_model(core.front.design, core.front.robot, state)
    for name, values in as_numbers(core, expected, len(state["q"])).items():
        yield name, values, reference[name]


def entries_beside_golden(
    core: Specification, state: Mapping[str, NDArray], expected: Mapping[str, NDArray[np.int64]]
) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """Output → the integer model's values (N,), and the golden model's."""
    arrays = outputs_and_golden(core, state, expected)
    return entries_of(arrays, core.fixed.graph.outputs, core.design, core.front.robot)


def stalled_run(integers: IntegerModel, model: Model, states: int, seed: int) -> int:
    """The same under random stalls on both sides: nothing lost, doubled or out of order."""
    core = integers.made
    (state,) = batches(core, states, seed + 1)
    words = to_words(core, state)
    expected, flags = integers(words)
    tasks = np.stack([words[n] for n in core.fixed.inputs], axis=1)
    held = [int(word) for word in core.held.values()]
    run = model.run(tasks, stall_in=STALL, stall_out=STALL, seed=seed, held=held)
    compare(run, expected, flags, "under stalls")
    return states
