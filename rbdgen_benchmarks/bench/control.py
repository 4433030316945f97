"""Computed torque in words and in float64, at several gains and rates, on MuJoCo's arm.

The arm carries a kilogram that the controller does not know, and is pushed. What is commanded comes
one period late. MuJoCo reads the URDF by itself, and steps `STEP` seconds at a time whatever the
rate of the controller is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rbdgen import api, golden
from rbdgen.api.arrays import completed
from rbdgen.api.evaluation import to_words
from rbdgen.api.integer_model import word_program
from rbdgen.api.native_programs import compiled
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.loading import filed, load
from rbdgen.robot.model import Array
from rbdgen.robot.xml_lines import read_bytes
from rbdgen.system.quoting import Progress

from .measurement import Row, measurement

ROBOT, TOOL, WIDTH = "iiwa14", "link_7", 18
STEP, SECONDS, PERIOD = 50e-6, 1.4, 1.4  # s
RATES, GAINS = (1000, 4000, 20000), (60.0, 300.0)  # Hz; rad/s, critically damped
LOAD, PUSH, PUSHED = 1.0, 20.0, (0.5, 0.7)  # kg, N, s
LIMITS: dict[str, Any] = {"velocity": 4.0, "acceleration": 64.0}  # of the design
POSTURE = np.array([0.3, 0.6, 0.0, -1.4, 0.0, 1.0, 0.0])  # rad
SWING = np.array([0.25, 0.12, 0.1, 0.12, 0.1, 0.1, 0.2])  # rad, of each joint
HEAD = ("rad/s", "kHz", "numbers", "tool off, RMS", "apart from float64", "torque step, RMS")
Law = Callable[[Mapping[str, Array]], Array]


@dataclass(frozen=True, eq=False)
class Run:
    """A loop: the tool's path (ticks, 3) m where the arm was and was to be, and τ (ticks, nv)."""

    tool: Array
    wanted: Array
    tau: Array


@measurement("control", "minutes", HEAD, page=True)
def control(place: object, progress: Progress) -> Iterator[Row]:
    """Computed torque on an arm: errors and torque ripple, by gain, rate and words."""
    for gain in GAINS:
        choices = {"functions": "computed-torque", "kp": gain**2, "kd": 2 * gain, **LIMITS}
        in_words = _words(choices, progress)
        in_reals = _reals(choices, progress)
        for rate in RATES:
            progress(f"{gain:g} rad/s, {rate} Hz")
            exact = loop(in_reals, rate)
            for name, run in (("float64", exact), (f"{WIDTH} bits", loop(in_words, rate))):
                off, apart = (run.tool - of for of in (run.wanted, exact.tool))
                step = np.diff(run.tau, axis=0)
                yield [
                    *(f"{gain:g}", f"{rate / 1000:g}", name),
                    f"{1e6 * np.sqrt(np.mean(np.sum(off**2, axis=1))):.1f} µm",
                    f"{1e6 * np.sqrt(np.sum(apart**2, axis=1)).max():.1f} µm",
                    f"{np.sqrt(np.mean(step**2)):.3f} N·m",
                ]


def loop(law: Law, rate: int) -> Run:
    """The arm along a path of all joints, with so many ticks a second."""
    mujoco, model = _arm()
    arm, period = mujoco.MjData(model), 1 / rate
    arm.qpos[:], arm.qvel[:], _ = _reference(0.0)
    held = np.zeros(model.nv)
    kept: list[tuple[Array, Array, Array]] = []
    for tick in range(round(SECONDS * rate)):
        now = tick * period
        q, qd, qdd = _reference(now)
        kept.append((arm.qpos.copy(), q, held))
        state = {"q": arm.qpos, "qd": arm.qvel, "q_ref": q, "qd_ref": qd, "qdd_ref": qdd}
        late = held
        held = law({name: np.array(own)[None] for name, own in state.items()})[0]
        arm.qfrc_applied[:] = late if tick else held
        arm.xfrc_applied[-1, 1] = PUSH if PUSHED[0] <= now < PUSHED[1] else 0.0
        mujoco.mj_step(model, arm, round(period / STEP))
    was, wanted, tau = (np.array(own) for own in zip(*kept, strict=True))
    _, robot = load(ROBOT)
    tool, aim = (golden.frame_poses(robot, q, [TOOL]).p[:, 0] for q in (was, wanted))
    return Run(tool, aim, tau[2:])


def _reference(t: float) -> tuple[Array, Array, Array]:
    """q, q̇ and q̈ of the path: the first joint once in a period, the others twice, as an eight."""
    rate = 2 * np.pi / PERIOD * np.array([1, *[2] * (len(SWING) - 1)])
    wave = SWING * np.sin(rate * t), SWING * rate * np.cos(rate * t)
    return POSTURE + wave[0], wave[1], -(rate**2) * wave[0]


def _words(choices: Mapping[str, Any], progress: Progress) -> Law:
    """The law in words, as compiled C of the integer model."""
    core = compile_front(front_end(ROBOT, width=WIDTH, ii=8, **choices))
    run = word_program(core, "c", progress)
    fixed = core.fixed

    def law(state: Mapping[str, Array]) -> Array:
        words, flags = run(to_words(core, completed(core.front.robot, dict(state))))
        assert not flags.any(), "a word overflowed"
        return np.stack(
            [fixed.formats[node].real(words[name]) for name, node in fixed.graph.outputs.items()], 1
        )

    return law


def _reals(choices: Mapping[str, Any], progress: Progress) -> Law:
    """The law in float64, as compiled C++."""
    design, robot = load(ROBOT, **choices)
    program = compiled(design, robot, "cpp", progress)
    return lambda state: program(completed(robot, dict(state)))["tau_c"]


@cache
def _arm() -> tuple[Any, Any]:
    """MuJoCo, and its model of the arm with the load at its last body."""
    try:
        import mujoco
    except ImportError:
        raise api.InputError(
            'the arm is MuJoCo\'s, which is not installed: pip install "rbdgen[robots]"'
        ) from None
    model = mujoco.MjModel.from_xml_string(read_bytes(filed(ROBOT).robot).decode())
    model.opt.timestep = STEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.body_mass[-1] += LOAD
    return mujoco, model
