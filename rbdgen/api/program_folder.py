"""The folder of a design as a program: its sources, robot, design, manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codegen.interface import Interface
from ..compile.front import Front
from ..design.manifest import ProgramManifest
from .described import described
from .entries import interface_of
from .made import Files, closed, sources_of


def about(front: Front) -> dict[str, str]:
    """The robot and functions that the header of a program's files names."""
    return {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}


def program_folder(
    front: Front, language: str, name: str, own: Files, facts: Mapping[str, Any]
) -> Files:
    """The files of a program's folder: its ``own`` files, the robot, the design, the manifest.

    ``facts``: what a host must know of the language's.
    """
    files = own | sources_of(front)
    manifest = ProgramManifest(
        **described(front, name),
        language=language,
        # words of tasks are named, and no arrays
        interface=Interface((), (), {}, {})
        if front.design.accelerator
        else interface_of(front, language == "cuda"),
        operations=front.graph.operations(),
        facts=facts,
    )
    return closed(files, manifest)
