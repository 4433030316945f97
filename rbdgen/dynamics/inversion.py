"""How M⁻¹ is found: the ways to try, and what each solves with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..design.functions import INVERTING
from ..graph.arrays import FAR
from ..graph.graph import Graph
from ..robot.model import JointKind, Robot, RobotError
from ..robot.rotors import drivetrains
from . import drivetrains as gears
from .articulated import mass_matrix_inverse
from .blocks import invert_by_blocks
from .common_frame import common_frame
from .entries import gradient
from .factorisation import Matrix, Order, Solver, factorise
from .fields import gathered
from .logarithmic import Logarithmic
from .motion import RobotState
from .near import FARTHEST, correct
from .ports import GraphPorts
from .recursions import LOGARITHMIC, RecursionPass, Recursions
from .scalars import Arithmetic, FloatScalars
from .solved import given_inverse
from .steps import Inline

COMPARED = 30  # coordinates, from which on M⁻¹ by LᵀDL takes fewer products on every robot
EFFORT = "effort"  # what is left of forward dynamics where the bias is known
SIZES_STATES, SIZES_SEED = 8, 3
NEAR = "near"  # how M⁻¹ is found
PLACES = {
    JointKind.FLOATING: 3,
    JointKind.PLANAR: 2,
}  # coordinates that say where, not how turned


def ways(
    robot: Robot, functions: Sequence[str], factorisation: str, root: str, formulation: str
) -> list[str]:
    """The ways to M⁻¹ to try."""
    if formulation == LOGARITHMIC:
        return ["blocks" if factorisation == "blocks" else "ltdl"]
    mimics = any(joint.mimic is not None for joint in robot.joints)
    if factorisation == "mminvgen" and (mimics or root != "free"):
        why = "joints that mimic others" if mimics else "a base whose motion is given"
        raise RobotError(
            f"{robot.name}: --factorisation mminvgen cannot have {why}; use ltdl or auto"
        )
    if factorisation != "auto":
        return [factorisation]
    if "cfd" in functions:  # which goes between the factors
        return ["ltdl"]
    inverts = not {*INVERTING, EFFORT}.isdisjoint(functions) and robot.nv < COMPARED
    return ["ltdl", "mminvgen"] if inverts and not mimics and root == "free" else ["ltdl"]


def cost(graph: Graph) -> int:
    count = graph.operations()
    return count["mul"] + 4 * count["recip"]  # normalise, look up, correct


def solver(
    recursions: Recursions, way: str, at: RecursionPass, order: Order, sizes: Robot
) -> Solver:
    """The solver for M by one of `ways`; ``sizes``: the robot with numbers alone."""
    robot, M = recursions.robot, at.M
    if way == "mminvgen":
        inverse = mass_matrix_inverse(recursions.run.arithmetic, robot, at.moved, recursions.unit)
        return Solver(recursions.run.arithmetic, order, inverse=inverse)
    one = recursions.solving.arithmetic
    if way == "blocks":
        above = {k: _coordinate_above(robot, order, k) for k in order}
        scale = {k: 2.0 ** -round(math.log2(m) / 2) for k, m in _sizes(sizes, order).items()}
        return Solver(one, order, inverse=invert_by_blocks(one, M, order, above, scale))
    return Solver(one, order, factorise(one, M, order))


def nearby(face: GraphPorts, one: Arithmetic, M: Matrix, order: Order) -> Solver:
    """The solver with M⁻¹ of a state nearby, an input; outputs whether it was near."""
    X = given_inverse(face, M, order)
    inverse, (first, *others) = correct(one, M, X, order)
    # of several trees in a region behind theirs, so that none waits for another
    with face.builder.in_region(("near", 0) if others else first.region):
        beyond = face.builder.lift(sum(others, first) - FARTHEST**2)
        face.gives(FAR, face.builder.select(beyond, 0.0, 1.0))  # what is no number is not near
    return Solver(one, order, inverse=inverse)


def _coordinate_above(robot: Robot, order: Order, k: int) -> int:
    """The coordinate before this one on the way to the base; -1 where there is none."""
    i = order[k]
    if k > robot.v_slices[i].start:
        return k - 1
    while (i := robot.joints[i].parent) >= 0:
        if i in robot.v_slices and robot.v_slices[i].stop - 1 < k:
            return robot.v_slices[i].stop - 1
    return -1


def _sizes(robot: Robot, order: Order) -> dict[int, float]:
    """The approximate size of each coordinate's diagonal entry of M, from a few random states."""
    rng = np.random.default_rng(SIZES_SEED)
    q, still = rng.uniform(-1.0, 1.0, (robot.nq, SIZES_STATES)), np.zeros(robot.nv)
    for i in robot.free:
        turned = PLACES.get(robot.joints[i].kind)
        if turned is not None:
            at = robot.q_slices[i]
            q[at.start + turned : at.stop] /= np.linalg.norm(q[at.start + turned : at.stop], axis=0)
    state = RobotState(list(q), list(still), list(still))
    sums = Logarithmic(common_frame(Inline(FloatScalars()), robot, state), state, about_O=True)
    M = gradient(sums, gathered(sums)).M
    own = drivetrains(robot)
    return {k: float(np.median(M[k][k])) + gears.armature(own.get(k, [])) for k in order}
