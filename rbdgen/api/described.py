"""The entries common to all manifests, in every language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import __version__
from ..compile.front import Front
from ..design.derived import no_defaults
from ..design.limits import limits_table
from .names import filed_notes


def described(front: Front, name: str, notes: Iterable[str] = ()) -> dict[str, Any]:
    """The fields of `DesignManifest`; of the files nothing yet. ``notes`` come last."""
    robot, design = front.robot, front.design
    return {
        "generator": f"rbdgen {__version__}",
        "name": name,
        "robot": robot.name,
        "functions": design.functions,
        "choices": no_defaults(design),
        "joint_names": tuple(robot.joint_names),
        "body_names": tuple(robot.joints[i].body for i in robot.moving),
        "base": design.base,
        "root": design.root,
        "base_link": design.base_link,
        "nq": robot.nq,
        "nv": robot.nv,
        "gravity": tuple(robot.gravity.tolist()),
        "limits": limits_table(design, robot),
        "notes": filed_notes(design, (*front.notes, *notes)),
        "files": {},
    }
