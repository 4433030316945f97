"""A robot as the text of a URDF file: for what begins with a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rbdgen.robot.model import Array, Inertia, Joint, JointKind, Robot, Transform
from rbdgen.robot.variations import _rpy

ROOT = "root"


def written(robot: Robot, place: Path) -> Path:
    """The robot's file in the folder ``place``."""
    file = place / f"{robot.name}.urdf"
    file.write_text(urdf_of(robot))
    return file


def urdf_of(robot: Robot) -> str:
    """All of a robot but its gravity, which no URDF has, and its rotors; the joints that have
    limits all have the same ones of velocity and effort."""
    parts = [_link(ROOT, robot.base_inertia)]
    for joint in robot.joints:
        parent = robot.joints[joint.parent].body if joint.parent >= 0 else ROOT
        parts += [_joint(robot, joint, parent), _link(joint.body, joint.inertia)]
    return f'<robot name="{robot.name}">\n' + "\n".join(parts) + "\n</robot>\n"


def _link(name: str, inertia: Inertia) -> str:
    c = inertia.h / inertia.mass
    J = inertia.J - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
    moments = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{float(J[i, j])!r}"' for i in range(3) for j in range(i, 3)
    )
    return (
        f'<link name="{name}"><inertial><mass value="{inertia.mass!r}"/>'
        f'<origin xyz="{_words(c)}"/><inertia {moments}/></inertial></link>'
    )


def _joint(robot: Robot, joint: Joint, parent: str) -> str:
    kind, (lower, upper) = joint.kind.value, (joint.limits.lower, joint.limits.upper)
    if not np.isfinite((lower, upper)).all():
        lower, upper = -1.0, 1.0  # of slides, which have limits in every URDF
        kind = "continuous" if joint.kind is JointKind.REVOLUTE else kind
    lines = [
        f'<joint name="{joint.name}" type="{kind}">',
        f'<parent link="{parent}"/><child link="{joint.body}"/>{_origin(joint.placement)}',
    ]
    if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.PLANAR):
        lines.append(f'<axis xyz="{_words(joint.axis)}"/>')
    if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        ends = f'lower="{lower!r}" upper="{upper!r}" ' if kind != "continuous" else ""
        lines.append(f'<limit {ends}velocity="2" effort="90"/>')
        if joint.mimic:
            own = joint.mimic
            lines.append(
                f'<mimic joint="{robot.joints[own.joint].name}" multiplier="{own.multiplier!r}" '
                f'offset="{own.offset!r}"/>'
            )
    return "".join([*lines, "</joint>"])


def _origin(pose: Transform) -> str:
    return f'<origin xyz="{_words(pose.translation)}" rpy="{_words(_rpy(pose.rotation))}"/>'


def _words(v: Array) -> str:
    return " ".join(repr(float(x)) for x in v)
