"""Which template a joint's steps are of: joints of one kind, that stand alike, share them."""

from __future__ import annotations

from ..graph.visits import Visit
from ..robot.angles import NOISE
from ..robot.model import Array, Joint, JointKind, Robot
from .spatial import differs

BASE = "_base"


def step_of(name: str, robot: Robot, i: int) -> Visit:
    """The visit of joint ``i``."""
    return Visit(name + _way(robot, i) + _place(robot, i), (i,))


def gathering(robot: Robot, i: int) -> Visit:
    """The visit of joint ``i`` on the way back, where all that its body carries comes together."""
    several = len(robot.children[i])
    name = f"back_of{several}" if several > 1 else "back"
    return step_of(name, robot, i)


def meeting(robot: Robot, i: int, n: int, below: int, above: int) -> Visit:
    """The visit of coordinate ``n`` of joint ``i`` that takes its column from the body ``below``
    to joint ``above``, where it meets that joint's axes."""
    joint = robot.joints[above]
    mimics = joint.mimic is None and robot.joints[i].mimic is not None
    to = _kind(joint, "_to") + "_mimics" * mimics
    name = "column" + _way(robot, below) + to + _place(robot, above)
    return Visit(name, (i, n, above) if robot.joints[i].kind.nv > 1 else (i, above))


def by_kind(name: str, robot: Robot, i: int) -> Visit:
    """The visit of joint ``i`` for what is alike wherever a joint of its kind stands."""
    return Visit(name + _kind(robot.joints[i]), (i,))


def by_place(name: str, robot: Robot, i: int) -> Visit:
    """The same for what is less on the base, and has a factor where the joint mimics another."""
    return Visit(name + _kind(robot.joints[i]) + _place(robot, i), (i,))


def weight_of(joint: Joint, i: int) -> Visit:
    """The visit of joint ``i`` for its base's acceleration less gravity, along other axes."""
    return Visit("weight" + _kind(joint) + turns_of(joint.placement.rotation), (i,))


def pairing(robot: Robot, i: int, above: int) -> Visit:
    """The visit of joint ``i`` and one above it for the entries of their coordinates."""
    joint, other = robot.joints[i], robot.joints[above]
    mimics = "_mimics" * (other.mimic is None and joint.mimic is not None)
    name = f"pair{_kind(joint)}{_kind(other, '_to')}{mimics}"
    return Visit(name + _place(robot, above), (i, above))


def on_link(joint: Joint, i: int) -> Visit:
    """The visit of joint ``i`` for the external force on its link."""
    return Visit("external" + turns_of(joint.link_frame.rotation), (i,))


def weighing(i: int) -> Visit:
    """The visit of joint ``i`` that adds what its body carries to what it weighs itself."""
    return Visit("weigh", (i,))


def _way(robot: Robot, i: int) -> str:
    """The joint's kind, and what its placement is but a turn about x and a shift."""
    joint = robot.joints[i]
    if joint.parent < 0:
        return _kind(joint)
    return _kind(joint) + turns_of(joint.placement.rotation)


def _kind(joint: Joint, before: str = "") -> str:
    return "" if joint.kind is JointKind.REVOLUTE else f"{before}_{joint.kind.value}"


def turns_of(R: Array) -> str:
    """A suffix for the template's name: how a rotation differs from a turn about x."""
    if differs(R[2, 0], 0.0, NOISE):
        return "_oblique"
    turned = differs(R[1, 0], 0.0, NOISE) or differs(R[0, 0], 1.0, NOISE)
    return "_turned" if turned else ""


def _place(robot: Robot, i: int) -> str:
    joint = robot.joints[i]
    return "_mimic" * (joint.mimic is not None) + BASE * (joint.parent < 0)
