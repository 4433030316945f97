"""What joints feel at least is never undercut: by random states, by climbs, by any robot's M."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from rbdgen.compile.flow import front_end
from rbdgen.dynamics.pivot_bounds import obstacle, pivot_bounds
from rbdgen.golden import crba
from rbdgen.robot.canonical import stages
from rbdgen.robot.model import Array, Drivetrain, Inertia, JointKind, Mimic, Robot
from rbdgen.words.factor_bounds import NO_BOUNDS, PivotBounds
from tests.support.marks import slow

STATES, CLIMBS = 4000, 2


@cache
def bodies(name: str) -> Robot:
    """A shipped robot with its joints along z, and the inertias of its bodies."""
    front = front_end(name, functions=("m",))
    *_, (_, robot) = stages(front.robot, front.design.snap, bodies=True, alike=front.design.alike)
    return robot


@cache
def known(name: str) -> PivotBounds:
    return pivot_bounds(bodies(name))


def pivots(M: Array) -> Array:
    """D (N, n) of M (N, n, n) = Lᵀ D L, the last first."""
    A = M.copy()
    for k in reversed(range(A.shape[-1])):
        A[:, :k, :k] -= A[:, :k, k, None] * A[:, None, k, :k] / A[:, k, k, None, None]
    return np.diagonal(A, axis1=1, axis2=2)


def positions(robot: Robot, n: int, seed: int) -> Array:
    """Any angle, whatever the joints' limits."""
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (n, robot.nq))


def least(robot: Robot, k: int, q: Array) -> tuple[Array, Array]:
    """What coordinate k feels with all above it held, and with all others free."""
    M = crba(robot, np.atleast_2d(q))
    return pivots(M)[:, k], 1 / np.linalg.inv(M)[:, k, k]


@pytest.mark.parametrize(
    "name", ["pendulum", "gantry", "hyq", slow("iiwa14"), slow("spot_arm_like")]
)
def test_no_state_undercuts(name: str) -> None:
    """Random states, and the least of each climbed down from."""
    robot, found = bodies(name), known(name)
    assert found.pivot.keys() == set(range(robot.nv))
    q = positions(robot, STATES, seed=3)
    M = crba(robot, q)
    seen = np.array([pivots(M), 1 / np.diagonal(np.linalg.inv(M), axis1=1, axis2=2)])
    for k in found.pivot:
        for which, proven in enumerate((found.pivot[k], 1 / found.inverse.get(k, np.inf))):
            assert seen[which, :, k].min() >= proven
            if robot.nv <= 7:
                for start in seen[which, :, k].argsort()[:CLIMBS]:
                    climbed = minimize(
                        lambda x, k=k, which=which: least(robot, k, x)[which][0],
                        q[start],
                        method="Nelder-Mead",
                        options={"maxfev": 60},
                    )
                    assert climbed.fun >= proven


@pytest.mark.parametrize(
    ("name", "of_pivots", "of_inverse"),
    [("pendulum", 1.1, 1.1), ("hyq", 1.35, 2.0), ("iiwa14", 1.5, 4.0)],
)
def test_bounds_are_nearly_reached(name: str, of_pivots: float, of_inverse: float) -> None:
    robot, found = bodies(name), known(name)
    M = crba(robot, positions(robot, 4 * STATES, seed=4))
    D, inverse = pivots(M), np.diagonal(np.linalg.inv(M), axis1=1, axis2=2)
    for k in range(robot.nv):
        assert D[:, k].min() <= of_pivots * found.pivot[k]
        assert found.inverse[k] <= of_inverse * inverse[:, k].max()


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_and_trees_stay_above(seed: int) -> None:
    """Long thin links, joints at any angle to each other, rotors, slides and branches."""
    robot, rng = bodies("iiwa14"), np.random.default_rng(seed)
    joints = []
    for i, joint in enumerate(robot.joints):
        thin = np.diag(rng.uniform(1e-4, 0.05, 3))
        body = Inertia.about_com(
            rng.uniform(0.1, 3.0), rng.normal(size=3) * 0.2, thin + np.trace(thin) * np.eye(3) / 2
        )
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        place = replace(
            joint.placement,
            rotation=rotation * np.linalg.det(rotation),
            translation=rng.normal(size=3) * 0.3,
        )
        joints.append(
            replace(
                joint,
                kind=JointKind.PRISMATIC if rng.random() < 0.15 else JointKind.REVOLUTE,
                parent=i - 1 if rng.random() < 0.7 else int(rng.integers(-1, i)) if i else -1,
                inertia=body,
                placement=place,
                drivetrain=Drivetrain(armature=float(rng.choice([0.0, 0.02]))),
            )
        )
    robot = robot.with_joints(joints)
    found = pivot_bounds(robot)
    M = crba(robot, positions(robot, 2000, seed))
    D, inverse = pivots(M), np.diagonal(np.linalg.inv(M), axis1=1, axis2=2)
    assert len(found.pivot) == robot.nv
    for k, proven in found.pivot.items():
        assert D[:, k].min() >= proven
    for k, proven in found.inverse.items():
        assert inverse[:, k].max() <= proven


def test_a_bound_that_is_larger_is_undercut() -> None:
    robot, found = bodies("iiwa14"), known("iiwa14")
    D = pivots(crba(robot, positions(robot, 4 * STATES, seed=5)))
    assert sum(D[:, k].min() < 1.4 * proven for k, proven in found.pivot.items()) >= 6


def test_of_what_is_no_body_nothing_is_known() -> None:
    robot = bodies("pendulum")
    first, second = robot.joints
    wrong = replace(second, inertia=Inertia(0.1, np.array([1.0, 0, 0]), np.eye(3) * 1e-3))
    assert obstacle(robot) == ""
    wrong = robot.with_joints([first, wrong])
    assert obstacle(wrong) == f"the inertia of link {second.body} is no body's"
    follows = robot.with_joints([first, replace(second, mimic=Mimic(0))])
    assert obstacle(follows) == f"joint {second.name} mimics another"
    assert pivot_bounds(wrong) == pivot_bounds(follows) == NO_BOUNDS
    floating = front_end("pendulum", functions=("m",), base="floating", fit=False).robot
    assert pivot_bounds(floating).pivot.keys() == {6, 7}


def test_rotors_count() -> None:
    robot = bodies("pendulum")
    geared = [replace(j, drivetrain=Drivetrain(armature=0.5)) for j in robot.joints]
    plain, found = pivot_bounds(robot), pivot_bounds(robot.with_joints(geared))
    assert all(found.pivot[k] == plain.pivot[k] + 0.5 for k in plain.pivot)
