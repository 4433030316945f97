"""Trees of joints, and limbs of them mirrored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rbdgen.robot.limb_similarity import SIGNS
from rbdgen.robot.model import Inertia, Joint, Robot, Transform
from tests.support.random_robots import ALL_KINDS, random_inertia, random_robot


def any_tree(seed: int) -> Robot:
    rng = np.random.default_rng(seed)
    kinds = ALL_KINDS if seed % 4 == 3 else ALL_KINDS[:2]
    floating = seed % 2 == 1
    return random_robot(rng, 14, kinds, 0.4, mimic=0.1, fixed=0.1, floating_base=floating)


def floating_tree(seed: int, joints: int = 12) -> Robot:
    """On one floating base, the rest turning and sliding."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, joints, branching=0.4, mimic=0.1, fixed=0.1, floating_base=True)
    return robot.with_joints([robot.joints[0], *(_off_the_ground(j) for j in robot.joints[1:])])


def _off_the_ground(joint: Joint) -> Joint:
    return replace(joint, parent=max(joint.parent, 0))


def mirrored(limb: Sequence[Joint], D: np.ndarray, tag: str, start: int) -> list[Joint]:
    """A subtree on the root (its first joint's parent is -1), seen through D, (3,) signs or an
    orthogonal matrix, its joints numbered from ``start``."""
    M = np.diag(D) if D.ndim == 1 else D
    return [
        replace(
            joint,
            name=f"{tag}{joint.name}",
            body=f"{tag}{joint.body}",
            parent=joint.parent + start if joint.parent >= 0 else -1,
            placement=Transform(
                M @ joint.placement.rotation @ M.T, M @ joint.placement.translation
            ),
            axis=M @ joint.axis,
            inertia=Inertia(joint.inertia.mass, M @ joint.inertia.h, M @ joint.inertia.J @ M.T),
        )
        for joint in limb
    ]


def subtree(
    seed: int, joints: int = 5, branching: float = 0.4, plain: float | None = None
) -> list[Joint]:
    robot = random_robot(np.random.default_rng(seed), joints, branching=branching, plain=plain)
    return [robot.joints[0], *(_off_the_ground(joint) for joint in robot.joints[1:])]


def robot_of(limbs: Sequence[Sequence[Joint]]) -> Robot:
    """Limbs made for the places in which they stand, on a fixed base."""
    joints = [joint for limb in limbs for joint in limb]
    return Robot("limbs", tuple(joints), base_inertia=random_inertia(np.random.default_rng(0)))


def legs(seed: int, **choices: float) -> list[list[Joint]]:
    """Three subtrees alike, each through its own signs, and one that is not."""
    rng = np.random.default_rng(seed)
    own = subtree(seed, **choices)
    through = rng.choice(len(SIGNS), 3, replace=False)
    n = len(own)
    found = [mirrored(own, SIGNS[k], f"leg{p}_", p * n) for p, k in enumerate(through)]
    return [*found, mirrored(subtree(seed + 100), SIGNS[0], "other_", 3 * n)]


def legs_and_tail(seed: int) -> Robot:
    return robot_of(legs(seed))
