"""Computed torque in words and in float64, at several gains and rates, on MuJoCo's arm.

The arm carries a kilogram that the controller does not know, and is pushed. What is commanded comes
one period late. The loop is that of ``rbdgen loop``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rbdgen.api.arrays import completed
from rbdgen.api.closed_loop import Course, Law, distance, follow, one_state, swinging
from rbdgen.api.evaluation import as_numbers, to_words
from rbdgen.api.integer_model import word_program
from rbdgen.api.native_programs import compiled
from rbdgen.api.plant import Disturbance, Plant
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.loading import filed, load
from rbdgen.robot.model import Array
from rbdgen.robot.xml_lines import read_bytes
from rbdgen.system.quoting import Progress

from .measurement import Row, measurement

ROBOT, TOOL, WIDTH = "iiwa14", "link_7", 18
SECONDS, PERIOD = 1.4, 1.4  # s
RATES, GAINS = (1000, 4000, 20000), (60.0, 300.0)  # Hz; rad/s, critically damped
LOAD, PUSH, PUSHED = 1.0, 20.0, (0.5, 0.7)  # kg, N, s
LIMITS: dict[str, Any] = {"velocity": 4.0, "acceleration": 64.0}  # of the design
POSTURE = np.array([0.3, 0.6, 0.0, -1.4, 0.0, 1.0, 0.0])  # rad
SWING = np.array([0.25, 0.12, 0.1, 0.12, 0.1, 0.1, 0.2])  # rad, of each joint
HEAD = ("rad/s", "kHz", "numbers", "tool off, RMS", "apart from float64", "torque step, RMS")


@measurement("control", "minutes", HEAD, page=True)
def control(place: object, progress: Progress) -> Iterator[Row]:
    """Computed torque on an arm: errors and torque ripple, by gain, rate and words."""
    _, robot = load(ROBOT)
    for gain in GAINS:
        choices = {"functions": "computed-torque", "kp": gain**2, "kd": 2 * gain, **LIMITS}
        in_words = _words(choices, progress)
        in_reals = _reals(choices, progress)
        for rate in RATES:
            progress(f"{gain:g} rad/s, {rate} Hz")
            exact = loop(in_reals, rate)
            for name, run in (("float64", exact), (f"{WIDTH} bits", loop(in_words, rate))):
                off, apart = (distance(robot, TOOL, run.q, q) for q in (run.wanted, exact.q))
                step = np.diff(run.tau[1:], axis=0)
                yield [
                    *(f"{gain:g}", f"{rate / 1000:g}", name),
                    f"{1e6 * np.sqrt(np.mean(off**2)):.1f} µm",
                    f"{1e6 * apart.max():.1f} µm",
                    f"{np.sqrt(np.mean(step**2)):.3f} N·m",
                ]


def loop(law: Law, rate: int) -> Course:
    """The arm along a path of all joints, with so many ticks a second."""
    _, robot = load(ROBOT)
    period = 1 / rate
    unknown = Disturbance(LOAD, PUSH, PUSHED)
    plant = Plant(read_bytes(filed(ROBOT).robot), robot, period, unknown)
    path = swinging(POSTURE, SWING, PERIOD)
    return follow(law, plant, path, round(SECONDS * rate), period, late=1)


def _words(choices: Mapping[str, Any], progress: Progress) -> Law:
    """The law in words, as compiled C of the integer model."""
    core = compile_front(front_end(ROBOT, width=WIDTH, ii=8, **choices))
    run = word_program(core, "c", progress)

    def law(state: Mapping[str, Array]) -> Array:
        words, flags = run(to_words(core, completed(core.front.robot, one_state(state))))
        assert not flags.any(), "a word overflowed"
        return np.asarray(as_numbers(core, words, 1)["tau_c"][0])

    return law


def _reals(choices: Mapping[str, Any], progress: Progress) -> Law:
    """The law in float64, as compiled C++."""
    design, robot = load(ROBOT, **choices)
    program = compiled(design, robot, "cpp", progress)
    return lambda state: program(completed(robot, one_state(state)))["tau_c"][0]
