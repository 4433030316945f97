"""The constants of a robot's links, as arrays with links first and one state last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.golden import tree
from rbdgen.golden.tree import coefficients, inertia_matrix
from rbdgen.robot.canonical import merge_fixed
from rbdgen.robot.model import Array, JointKind, Robot, RobotError

NUMBERS = ("placement", "offset", "S", "inertia", "gravity", "G", "gears")  # arrays of numbers


@dataclass(frozen=True, eq=False)
class Links:
    """A robot without fixed joints; n links, each with up to k coordinates of its joint.

    ``parent`` (n,): −1 for the base. ``placement`` (n, 3, 3, 1), ``offset`` (n, 3, 1): the joint's
    frame in the parent's. ``S`` (n, 6, k, 1) and ``own`` (n, k): motion subspace in the link's
    frame, and which of the k columns are there. ``inertia`` (n, 6, 6, 1) about the link's origin.
    ``gravity`` (6, 1): −g, the base's acceleration. ``G`` (tree's coordinates, nv): `projection`.
    ``gears`` (4, n, k, 1): a rotor's inertia, damping, friction and its width (`Drivetrain`).
    """

    robot: Robot
    parent: NDArray[np.int64]
    placement: Array
    offset: Array
    S: Array
    own: NDArray[np.bool_]
    inertia: Array
    gravity: Array
    G: Array
    gears: Array

    @property
    def n(self) -> int:
        return len(self.parent)

    @property
    def freedoms(self) -> int:
        """k."""
        return self.own.shape[1]

    @property
    def mimics(self) -> bool:
        return any(joint.mimic for joint in self.robot.joints)

    @property
    def turn(self) -> bool:
        """Whether any joint turns."""
        return any(joint.kind is not JointKind.PRISMATIC for joint in self.robot.joints)

    @property
    def slide(self) -> bool:
        """Whether any joint slides."""
        return any(joint.kind is not JointKind.REVOLUTE for joint in self.robot.joints)

    @property
    def driven(self) -> bool:
        """Whether any joint has a rotor, damping or friction."""
        return any(not joint.drivetrain.is_zero for joint in self.robot.joints)

    def name(self, i: int) -> str:
        return self.robot.joints[i].body

    def arrays(self, convert: Callable[[Array], Any]) -> Links:
        """The same with all arrays of numbers converted."""
        return replace(self, **{name: convert(getattr(self, name)) for name in NUMBERS})


def links_of(robot: Robot) -> Links:
    """The links of a robot; RobotError where no joint moves."""
    robot = merge_fixed(robot)
    joints = robot.joints
    if not joints:
        raise RobotError(f"{robot.name}: no joint moves, so there is no dynamics to compute")
    k = max(joint.kind.nv for joint in joints)
    S, own = np.zeros((len(joints), 6, k)), np.zeros((len(joints), k), bool)
    for i, columns in enumerate(tree.subspaces(robot)):
        S[i, :, : columns.shape[1]], own[i, : columns.shape[1]] = columns, True
    gears = np.zeros((4, *own.shape, 1))
    gears[3] = 1.0
    gears[:, own, 0] = coefficients(robot)
    return Links(
        robot,
        np.array([joint.parent for joint in joints]),
        np.array([joint.placement.rotation for joint in joints])[..., None],
        np.array([joint.placement.translation for joint in joints])[..., None],
        S[..., None],
        own,
        np.array([inertia_matrix(joint.inertia) for joint in joints])[..., None],
        np.concatenate([np.zeros(3), -robot.gravity])[:, None],
        tree.projection(robot),
        gears,
    )
