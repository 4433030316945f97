"""A file that is xacro as the URDF that it stands for, expanded by xacro itself."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from xml.dom import Node
from xml.dom.minidom import Document

from .model import RobotError
from .urdf_elements import NOTE, expand
from .xml_lines import one_line


def expanded(file: Path) -> str:
    """The URDF of a xacro file, its arguments at their defaults, which a note in it says.

    Packages in ``$(find …)`` are found by xacrodoc, where it is installed, else by ROS.
    RobotError, one line: xacro is not installed, or what it cannot expand.
    """
    shown = one_line(str(file), 200)
    with suppress(ModuleNotFoundError):
        from xacrodoc import packages

        packages.walk_up_from(str(file))
    try:
        import xacro
    except ModuleNotFoundError:
        raise RobotError(
            f'{shown}: is xacro: pip install "rbdgen[robots]", or {expand(str(file))}'
        ) from None
    try:
        document: Document = xacro.process_file(str(file))
    except Exception as error:  # whatever an expression in the file raises
        said = one_line(" ".join(str(error).split()), 300)
        raise RobotError(f"{shown}: xacro cannot expand it: {said}") from None
    for node in list(document.childNodes):
        if node.nodeType == Node.COMMENT_NODE:  # which says where the file lay
            document.removeChild(node)
    robot = document.documentElement
    if robot is None:
        raise RobotError(f"{shown}: xacro gives an empty text of it")
    note = document.createElement(NOTE)
    note.setAttribute(
        "text",
        f"{one_line(file.name)}: expanded by xacro {version('xacro')}, arguments at their "
        "defaults; for others: xacro FILE NAME:=VALUE | rbdgen info -",
    )
    robot.setAttribute("xmlns:rbdgen", "rbdgen")
    robot.insertBefore(note, robot.firstChild)
    return document.toxml()
