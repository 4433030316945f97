"""The folder of a design as a program: its sources, robot, design, manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..codegen.interface import Interface
from ..compile.front import Front
from ..design.limits import limits_table
from ..design.manifest import ProgramManifest
from .entries import interface_of
from .folder import MARK, digests, sealed
from .made import Files, sources_of
from .names import filed_notes
from .places import no_defaults


def about(front: Front) -> dict[str, str]:
    """What a program's files say of what it computes."""
    return {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}


def program_folder(
    front: Front, language: str, name: str, own: Files, facts: Mapping[str, Any]
) -> Files:
    """The files of a program's folder: its ``own`` files, the robot, the design, the manifest."""
    files = own | sources_of(front)
    manifest = _manifest(front, language, name, facts, files)
    files[MARK] = sealed(manifest.to_json())
    return files


def _manifest(
    front: Front, language: str, name: str, facts: Mapping[str, Any], files: Mapping[str, str]
) -> ProgramManifest:
    """What a host must know of the functions in another language; ``facts``: its own."""
    robot, design = front.robot, front.design
    return ProgramManifest(
        generator=f"rbdgen {__version__}",
        language=language,
        name=name,
        robot=robot.name,
        functions=design.functions,
        choices=no_defaults(design),
        joint_names=tuple(robot.joint_names),
        body_names=tuple(robot.joints[i].body for i in robot.moving),
        base=design.base,
        root=design.root,
        base_link=design.base_link,
        nq=robot.nq,
        nv=robot.nv,
        gravity=design.gravity,
        # words of tasks are named, and no arrays
        interface=Interface((), (), {}, {}) if design.accelerator else interface_of(front),
        operations=front.graph.operations(),
        limits=limits_table(design, robot),
        notes=filed_notes(design, front.notes),
        facts=facts,
        files=digests(files),
    )
