"""Efforts that motion within a design's limits takes, beside those that its joints have."""

from __future__ import annotations

import math

import numpy as np

from .. import golden
from ..design.arrays import needs
from ..design.bounds import bounds
from ..design.design import Design
from ..design.functions import NEEDS, OF_FRAMES, OF_MASSES
from ..design.states import random_states
from ..robot.model import Array, Robot
from ..system.notes import changing

STATES, SEED, EXTREMES = 256, 29, 0.5
BITS = 3  # above an effort limit; robots whose limits are those of their motors have up to 2


def note_of_efforts(design: Design, robot: Robot) -> str:
    """A line where efforts within the limits are `BITS` above the file's limits of them; or empty.

    Words that hold such efforts are as much too coarse for those that the motors have. Each joint's
    largest of some states is compared, and the median joint counts. Nothing is said of a design
    whose efforts were limited, nor of a robot that cannot hold its own weight: those limits are
    none.
    """
    box = bounds(design, robot)
    limited = [i for i in robot.free if _has_limit(robot, i)]
    moved = [f for f in design.functions if f not in (*OF_FRAMES, *OF_MASSES) and "qd" in NEEDS[f]]
    if not limited or not moved or np.isfinite(box.effort).any():
        return ""
    joints = [robot.v_slices[i].start for i in limited]
    efforts = np.array([robot.joints[i].limits.effort for i in limited])
    state = random_states(robot, box, STATES, SEED, EXTREMES)
    still = np.zeros_like(state["qd"])
    qdd = state["qdd"] if {"qdd", "tau"}.intersection(needs(design)) else still

    def times(qd: Array, qdd: Array) -> Array:
        """Each joint's largest |τ| over its limit (joints,)."""
        tau = golden.rnea(robot, state["q"], qd, qdd)[:, joints]
        return np.asarray(np.abs(tau).max(axis=0) / efforts)

    most = 2.0**BITS
    reached = times(state["qd"], qdd)
    if np.median(reached) <= most or np.median(times(still, still)) > 1:
        return ""
    if np.median(times(still, qdd)) > most:
        option, fitting = "acceleration", box.qdd[joints] / reached
    else:
        option, fitting = "velocity", box.qd[joints] / np.sqrt(reached)
    middle = float(np.median(reached))
    return changing(
        f"at these limits tau reaches {middle:.2g} times the effort limits (median joint; "
        f"{math.log2(middle):.0f} bits of its word): lower them with --{option} "
        f"{np.median(fitting):.2g}, or to those of a recording with rbdgen fit"
    )


def _has_limit(robot: Robot, i: int) -> bool:
    joint = robot.joints[i]
    return joint.kind.nv == 1 and 0 < joint.limits.effort < math.inf
