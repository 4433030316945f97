"""A controller's hardware in the loop with a simulated robot, beside the same law in float64."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..design.arrays import needs
from ..design.bounds import bounds
from ..design.design import Design
from ..design.functions import FOLLOWING
from ..design.gains import gains_of
from ..design.manifest import HardwareManifest
from ..design.wishes import hertz
from ..design.wishes import seconds as in_seconds
from ..draw.loop_chart import loop_chart
from ..golden.kinematics import frame_poses
from ..robot.model import Array, Robot
from ..robot.xml_lines import read_bytes
from ..system.quoting import Progress
from ..system.signals import meanwhile
from ..tasks.model import Specification
from ..tools.cycles import CycleSession
from ..tools.model import Session
from .arrays import completed
from .compilation import quantity
from .design_file import DESIGN, ROBOT
from .evaluation import as_numbers, to_words
from .filed_design import filed_design
from .folder import InputError, UsageError, checked_manifest, write_file
from .integer_model import IntegerModel, load_core
from .loop_facts import JointLoop, Loop, LoopFacts
from .native_programs import compiled
from .output_paths import check_place
from .plant import Disturbance, Plant
from .results import Mismatch
from .ticked_loop import TickedHardware, tick_session
from .ticks import designed_ticks

REPORT, CHART = "loop.json", "loop.svg"
# Shares of a joint's range, speed and acceleration that the reference takes at most.
RANGE, SPEED, HASTE = 0.25, 0.3, 0.2

Law = Callable[[Mapping[str, Array]], Array]  # arrays (nv,) of one tick → τ (nv,)
Reference = Callable[[float], tuple[Array, Array, Array]]  # time [s] → q, q̇, q̈ (nv,)


@dataclass(frozen=True, eq=False)
class Course:
    """Where a robot was and was to be in each tick, and what drove it: (ticks, nv) each."""

    q: Array
    wanted: Array
    tau: Array


def loop(
    folder: str | Path,
    rate: float | str = 1000.0,
    seconds: float = 1.4,
    late: int = 0,
    load: float = 0.0,
    push: float = 0.0,
    noise: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
    drop: float | str | None = None,
    progress: Progress = lambda _: None,
    trust: bool = False,
) -> Loop:
    """Close the loop of the controller in ``folder``: its Verilated design drives MuJoCo's robot.

    The loop runs for ``seconds`` at ``rate`` [1/s, or as "4kHz"] ticks. A law with a reference
    follows a figure eight of all joints around the middle of their ranges, once; a law without one
    rests there. The law does not know of ``load`` [kg] at the last link, nor of ``push`` [N] on
    that link in the third quarter of the time. ``noise`` has the standard deviations of q [rad or
    m] and q̇. τ acts ``late`` ticks after the state it was computed from. The robot has no
    contacts, no stops and no dry friction.

    The same loop runs with the law in float64, and every bit of every tick is compared with the
    integer model. loop.json and loop.svg are written.

    A controller with ticks is driven by its ports, and ``sync`` begins each tick. For ``drop`` [s,
    or as "5ms"] no commands come, from a quarter of the time on. When they come again after a trip,
    the controller is disabled for a tick and enabled. In float64 the safe law takes over in the
    same ticks.

    Raises InputError for a folder without a controller, a robot that MuJoCo does not read, or a
    state beyond the words' ranges. Raises Mismatch for a bit that differs.
    """
    if late < 0:
        raise UsageError(f"late: {late}: a number of ticks, from 0 on")
    hz = quantity("rate", rate, hertz)
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT, "{name}.v"))
    for name in (REPORT, CHART):
        check_place(place / name)
    with meanwhile(partial(_session, place, entry, seed, progress)) as loading:
        made = filed_design(place, entry, progress)
        design, robot = made.design, made.front.robot
        gains = gains_of(design, robot)
        if gains is None or not made.is_core:
            raise InputError(
                f"{place}: has no controller; make one with: "
                "rbdgen generate ROBOT --controller computed-torque"
            )
        ticked = designed_ticks(design, robot, made.fixed)
        if ticked is None and drop is not None:
            raise UsageError(
                "drop: commands are of a controller with ticks; generate one with --tick"
            )
        program = compiled(design, robot, "cpp", progress)
    ticks = max(1, round(seconds * hz))
    unknown = Disturbance(load, push, (0.5 * seconds, 0.75 * seconds), noise, seed)
    reference = eight(design, robot, seconds, gains.law in FOLLOWING)
    given = {"kp": gains.kp, "kd": gains.kd} if gains.inputs else {}
    names = needs(design)

    urdf = read_bytes(place / ROBOT)
    link = Plant(urdf, robot, 1 / hz, unknown).last

    def course(law: Law, what: str) -> Course:
        plant = Plant(urdf, robot, 1 / hz, unknown)

        def known(state: Mapping[str, Array]) -> Array:
            return law({k: own for k, own in {**state, **given}.items() if k in names})

        return follow(known, plant, reference, ticks, 1 / hz, late, progress, what)

    lost = range(0)
    if drop is not None:
        first = ticks // 4
        lost = range(first, first + max(1, round(quantity("drop", drop, in_seconds) * hz)))
    with closing(loading.result()) as session:
        hardware: Hardware | TickedHardware
        if isinstance(session, Session):
            hardware = Hardware(made, session)
        else:
            assert ticked and entry.ticks
            hardware = TickedHardware(made, ticked, entry.ticks, session, lost)
        ours = course(hardware, f"{entry.name}, Verilated")
    overflows = hardware.compare(IntegerModel(made, progress))

    def in_floats(state: Mapping[str, Array]) -> Array:
        return np.asarray(program(completed(robot, one_state(state)))["tau_c"][0])

    exact = course(hardware.like(in_floats), "float64")
    trips = hardware.trips(1 / hz)
    follows = gains.law in FOLLOWING
    off = distance(robot, link, ours.q, ours.wanted)
    run = LoopFacts(
        controller=gains.law.replace("_", "-"),
        rate=hz,
        ticks=ticks,
        late=late,
        seed=seed,
        bit_exact=True,
        cycles=(min(hardware.cycles), max(hardware.cycles)),
        overflows=overflows,
        link=link,
        off=float(_rms(off)) if follows else None,
        apart=float(distance(robot, link, ours.q, exact.q).max()),
        load=load,
        push=push,
        noise=tuple(noise),
        joints=_joints(ours, exact, robot, follows),
        dropped=(lost.start / hz, lost.stop / hz) if lost else None,
        trips=trips,
    )
    bands = {"no commands": [run.dropped] if run.dropped else []}
    bands["safe law"] = [(own.at, own.until or ticks / hz) for own in trips or ()]
    write_file(place / REPORT, json.dumps(run.to_json(), indent=2) + "\n")
    chart = loop_chart(robot.joint_names, 1 / hz, ours.q, ours.wanted, ours.tau, bands)
    write_file(place / CHART, chart)
    return Loop(run, place / CHART)


def _session(
    place: Path, entry: HardwareManifest, seed: int, progress: Progress
) -> Session | CycleSession:
    """The controller in a folder, Verilated: the module with ticks if it has one, else the core."""
    if entry.ticks:
        return tick_session(place, entry, entry.ticks, seed, progress)
    return load_core(place, entry, progress=progress).session(seed)


class Hardware:
    """A law in Verilog: each call is a task of a session. ``cycles``: of each, to its result."""

    def __init__(self, made: Specification, session: Session) -> None:
        self.made, self.session = made, session
        self.cycles: list[int] = []
        self._words: list[NDArray[np.int64]] = []
        self._results: list[NDArray[np.int64]] = []
        self._held = [int(word) for word in made.held.values()]

    def __call__(self, state: Mapping[str, Array]) -> Array:
        """τ (nv,) of the arrays (nv,) of one tick; InputError where a word has no room for one."""
        fixed = self.made.fixed
        words = to_words(self.made, completed(self.made.front.canonical, one_state(state)))
        token = np.stack([words[name] for name in fixed.inputs], axis=1)
        run = self.session.run(token, held=self._held if not self.cycles else (), drain=0)
        self.cycles.append(int(run.result_cycle[0] - run.accept_cycle[0]))
        self._words.append(token[0])
        self._results.append(run.outputs[0])
        named = {name: run.outputs[:, k] for k, name in enumerate(fixed.graph.outputs)}
        return np.asarray(as_numbers(self.made, named, 1)["tau_c"][0])

    def compare(self, integers: IntegerModel) -> int:
        """The number of ticks with an overflow; Mismatch for a bit that is not the model's."""
        words, results = np.array(self._words), np.array(self._results)
        expected, flags = integers({n: words[:, k] for k, n in enumerate(self.made.fixed.inputs)})
        wanted = np.concatenate([np.stack(list(expected.values()), axis=1), flags], axis=1)
        bad = np.flatnonzero((results != wanted).any(axis=1))
        if bad.size:
            raise Mismatch(f"tick {bad[0]}: the hardware's bits are not the integer model's")
        return int(flags.any(axis=1).sum())

    def like(self, law: Law) -> Law:
        """The law itself, which was followed in every tick."""
        return law

    def trips(self, period: float) -> None:
        """None: there is no watchdog."""


def follow(
    law: Law,
    plant: Plant,
    reference: Reference,
    ticks: int,
    period: float,
    late: int = 0,
    progress: Progress = lambda _: None,
    what: str = "",
) -> Course:
    """The course of a ``plant`` that a law drives, ``late`` ticks after it has read the state.

    InputError, with the time, where the law has no room for a state.
    """
    plant.start(*reference(0.0)[:2])
    due: list[Array] = []
    kept: list[tuple[Array, Array, Array]] = []
    for tick in range(ticks):
        now = tick * period
        if what and tick % max(1, ticks // 10) == 0:
            progress(f"{what}: {now:.3f} s")
        q, qd = plant.read()
        wanted = reference(now)
        followed = dict(zip(("q_ref", "qd_ref", "qdd_ref"), wanted, strict=True))
        try:
            due.append(law({"q": q, "qd": qd, **followed}))
        except InputError as error:
            raise InputError(f"{what or 'loop'} at {now:.4f} s: {error}") from None
        # before the first one is due it is the first one
        tau = due[max(0, tick - late)]
        kept.append((plant.q, wanted[0], tau))
        plant.drive(tau, now)
    return Course(*(np.array(own) for own in zip(*kept, strict=True)))


def eight(design: Design, robot: Robot, period: float, moves: bool = True) -> Reference:
    """An eight around the middle of the joints' ranges: the first joint once in a period [s], the
    others twice. It stays at rest there unless it ``moves``."""
    box = bounds(design, robot)
    limits = [robot.joints[i].limits for i in robot.free]
    lower, upper = (np.array([getattr(own, end) for own in limits]) for end in ("lower", "upper"))
    bounded = np.isfinite(upper - lower)
    lower = np.where(bounded, np.maximum(lower, box.q_lower), -np.pi)
    upper = np.where(bounded, np.minimum(upper, box.q_upper), np.pi)
    rate = _rates(robot.nv, period)
    most = [RANGE * (upper - lower) / 2, SPEED * box.qd / rate, HASTE * box.qdd / rate**2]
    return swinging((lower + upper) / 2, np.min(most, axis=0) * moves, period)


def swinging(middle: Array, swing: Array, period: float) -> Reference:
    """Each joint (nv,) to and fro by its ``swing`` about the ``middle``: the first one once in a
    period [s], the others twice, as an eight."""
    rate = _rates(len(middle), period)

    def at(t: float) -> tuple[Array, Array, Array]:
        q = middle + swing * np.sin(rate * t)
        return q, swing * rate * np.cos(rate * t), -swing * rate**2 * np.sin(rate * t)

    return at


def _rates(joints: int, period: float) -> Array:
    """Angular frequencies (nv,) [rad/s] of an eight."""
    return 2 * np.pi / period * np.array([1, *[2] * (joints - 1)])


def one_state(state: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays (1, …) of one tick."""
    return {name: np.array(own)[None] for name, own in state.items()}


def _joints(ours: Course, exact: Course, robot: Robot, follows: bool) -> tuple[JointLoop, ...]:
    off, apart = _rms(ours.q - ours.wanted), np.abs(ours.q - exact.q).max(axis=0)
    step, step_float = (
        _rms(np.diff(own.tau, axis=0, prepend=own.tau[:1])) for own in (ours, exact)
    )
    return tuple(
        JointLoop(
            name,
            float(off[k]) if follows else None,
            float(apart[k]),
            float(step[k]),
            float(step_float[k]),
        )
        for k, name in enumerate(robot.joint_names)
    )


def _rms(values: Array) -> Array:
    """The root mean square of each column."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def distance(robot: Robot, link: str, one: Array, other: Array) -> Array:
    """How far apart [m] a link's origin is in two courses of q (ticks, nv)."""
    first, second = (frame_poses(robot, q, [link]).p[:, 0] for q in (one, other))
    return np.asarray(np.linalg.norm(first - second, axis=1))
