"""Which methods a robot cannot have, in one line that names the link and the cure."""

from __future__ import annotations

import numpy as np

from rbdgen.golden import tree
from rbdgen.golden.tree import inertia_matrix
from rbdgen.robot.model import RobotError

from .links import Links

SMALL = 1e-13  # of an inertia's largest eigenvalue: what is no larger is none
OTHERS = "take method='jsiia'"


def refuse(links: Links, method: str) -> None:
    """RobotError where forward dynamics by ``method`` does not hold for the robot."""
    if method != "jsiia":
        _refuse_mimics(links, method)
    if method == "cfa":
        _refuse_branches(links)
        _refuse_massless(links)
        _refuse_rotors(links)
    if method == "scanned_abia":
        _refuse_loose(links)


def _refuse_mimics(links: Links, method: str) -> None:
    """A mimic joint is a constraint between bodies, which articulated bodies do not know."""
    for joint in links.robot.joints:
        if joint.mimic is not None:
            master = links.robot.joints[joint.mimic.joint].name
            raise RobotError(
                f"{method}: joint {joint.name} of link {joint.body} mimics {master}, which only "
                f"a mass matrix can have; {OTHERS}"
            )


def _refuse_branches(links: Links) -> None:
    carried = [links.name(i) for i in range(links.n)]
    for i, parent in enumerate(links.parent):
        if parent not in (-1, i - 1):
            raise RobotError(
                f"cfa: link {carried[parent]} carries several joints, {carried[i]}'s among them, "
                f"and constraint forces are eliminated along chains only; {OTHERS}, or "
                "'scanned_abia'"
            )


def _refuse_massless(links: Links) -> None:
    for joint in links.robot.joints:
        I = inertia_matrix(joint.inertia)
        least, *_, most = np.linalg.eigvalsh(I)
        if least <= SMALL * most:
            raise RobotError(
                f"cfa: the inertia of link {joint.body} has no inverse; {OTHERS}, or give it mass "
                "and inertia about all axes"
            )


def _refuse_rotors(links: Links) -> None:
    """A rotor's inertia is along its joint alone: it is in no link's inertia, which cfa inverts."""
    for joint in links.robot.joints:
        if joint.drivetrain.armature:
            raise RobotError(
                f"cfa: joint {joint.name} of link {joint.body} has a rotor, whose inertia no "
                f"link's has in it; {OTHERS}, or 'hybrid_abia'"
            )


def _refuse_loose(links: Links) -> None:
    for joint, S in zip(links.robot.joints, tree.subspaces(links.robot), strict=True):
        I = inertia_matrix(joint.inertia)
        own = S.T @ I @ S + joint.drivetrain.armature * np.eye(S.shape[1])
        if np.linalg.eigvalsh(own)[0] <= SMALL * max(np.linalg.eigvalsh(I)[-1], 0.0):
            raise RobotError(
                f"scanned_abia: link {joint.body} has no inertia along joint {joint.name} by "
                f"itself; take method='hybrid_abia' or 'jsiia', or give it some"
            )
