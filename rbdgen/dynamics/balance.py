"""Powers of two in which all joints of a robot weigh about the same: for words that they share.

Of an arm's first joint M says kg m², of its last one g m². Where one binary point serves all
joints, the last ones have few bits left, and M⁻¹ magnifies what they lack. So coordinate k is
counted in units of s_k = 2^n, with D from M = Lᵀ D L (``factorisation``):

    M' = s M s,   M'⁻¹ = s⁻¹ M⁻¹ s⁻¹,   τ' = s τ,   q̈' = s⁻¹ q̈

and 1 / s² is between the largest M_kk and the smallest D_k. What a joint carries is weighed in a
unit of its own: its largest moment of inertia is about 1, and what goes on to the parent is
weighed in the parent's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..design.payload import PayloadLimits, random_payloads
from ..graph.word import spell
from ..robot.drivetrains import drivetrains
from ..robot.model import Robot
from .bodies import Payload
from .composite import Columns, Composite
from .drivetrains import armature
from .factorisation import Order, factorise
from .interface import random_inputs
from .motion import State
from .outward import move
from .rnea import gather
from .scalars import Numbers
from .steps import Inline
from .units import Balance, Units

SAMPLES, SEED = 64, 5
NOTHING: Mapping[int, Payload] = {}


def balance_of(
    robot: Robot,
    order: Order,
    carried: Mapping[int, Payload] = NOTHING,
    loads: PayloadLimits | None = None,
) -> Balance:
    """Units from states at random; of coordinates that are not in ``order`` from M's diagonal.

    ``carried``: which joint's body has a payload, within ``loads``: joints weigh what they do with
    those that states at random have, none of them too.
    """
    names = [*(spell("q", k) for k in range(robot.nq)), *(spell("qd", k) for k in range(robot.nv))]
    drawn = random_inputs(robot, names, SAMPLES, SEED)
    still = [0.0] * robot.nv
    payload = {}
    if loads is not None:
        words = random_payloads(loads, SAMPLES, np.random.default_rng(SEED))
        payload = {i: replace(own, words=list(words.T)) for i, own in carried.items()}
    q = [drawn[spell("q", k)] for k in range(robot.nq)]
    state = State(q, still, still, payload=payload)
    run, unit = Inline(Numbers()), Units()
    moved = move(run, robot, state, unit)
    columns = Columns(run, robot, moved, unit)
    gather(run, robot, moved, unit, observe=columns.add)
    M = columns.gradient.M
    for k, own in drivetrains(robot).items():
        M[k][k] = M[k][k] + armature(own)
    inverse = factorise(Numbers(), M, order).D_inverse
    coordinates = {}
    for k in range(robot.nv):
        least = np.min(1 / inverse[k] if k in order else M[k][k])
        coordinates[k] = _power(math.sqrt(float(least * np.max(M[k][k]))))
    joints = {i: _power(_size(whole)) for i, whole in columns.carried.items()}
    return Balance(joints, coordinates)


def _size(whole: Composite) -> float:
    """The largest ∫x² dm of a body and what it carries."""
    return float(np.max(whole.S[0][0] + whole.S[1][1] + whole.S[2][2]))


def _power(weight: float) -> float:
    """The power of two s for which s² · weight is nearest to 1; 1 for what weighs nothing."""
    return 2.0 ** -round(math.log2(weight) / 2) if weight > 0 else 1.0
