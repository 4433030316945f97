"""A file that is xacro as the URDF that it stands for, expanded by xacro itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.dom import Node
from xml.dom.minidom import Document
from xml.parsers.expat import ExpatError

from .model import RobotError
from .urdf_elements import MADE, NOTE, expand
from .xml_lines import did_you_mean, one_line, parse_xml, quoted, read_bytes

_MACRO = re.compile(r"<xacro:macro\s[^>]*?\bname\s*=\s*[\"']([\w:.-]+)")
_PART = re.compile(r'<([^\s<>"]+)( name="([^"]*)")?>')
_LABEL = re.compile(rf"{_PART.pattern}( of {_PART.pattern})*(?=: )")
_NO_ARGUMENT = re.compile(r"Undefined substitution argument (\S+)")
_NO_PACKAGE = re.compile(r"[Pp]ackage not found: '?([^\s']+)|ResourceNotFound'?>?:? '?([^\s']+)")
_LARGEST = 2**20  # bytes of a file that is searched for the call of a macro


class _Arguments(dict[str, Any]):
    """The arguments of a xacro file by name, as xacro fills them in, and which it asks for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)


def expanded(file: Path, given: Mapping[str, str] | None = None) -> str:
    """The URDF of a xacro file; arguments that are not ``given``, by name, have their defaults.

    A note in it says which. Packages in ``$(find …)`` are found by xacrodoc, where it is
    installed, else by ROS. RobotError, one line: xacro is not installed, or what it cannot expand.
    """
    shown = one_line(str(file), 200)
    with suppress(ModuleNotFoundError):
        from xacrodoc import packages

        packages.reset()  # which keeps what it found for other files
        packages.walk_up_from(str(file))
    try:
        import xacro
    except ModuleNotFoundError:
        raise RobotError(
            f'{shown}: is xacro: pip install "rbdgen[robots]", or {expand(str(file))}'
        ) from None
    arguments = _Arguments(given or {})
    try:
        document: Document = xacro.process_file(str(file), mappings=arguments)
    except Exception as error:  # whatever an expression in the file raises
        if isinstance(_innermost(error), ExpatError):  # of which parse_xml says more
            broken = str((xacro.filestack or [file])[-1])
            parse_xml(read_bytes(broken), one_line(broken, 200))
        raise RobotError(f"{shown}: {_refusal(error, arguments)}") from None
    for name in given or {}:
        if name not in arguments.asked:
            known = [str(own) for own in arguments.asked]
            hint = did_you_mean(name, known, f"; it has {_listed(known)}")
            raise RobotError(f"{shown}: has no argument {quoted(name)}{hint}")
    for node in list(document.childNodes):
        if node.nodeType == Node.COMMENT_NODE:  # which says where the file lay
            document.removeChild(node)
    robot = document.documentElement
    if robot is None:
        raise RobotError(f"{shown}: xacro gives an empty text of it")
    if not robot.getElementsByTagName("link"):
        _refuse_macros(file, shown)
    note = document.createElement(NOTE)
    note.setAttribute("text", f"{one_line(file.name)}: {_note(arguments, given or {})}")
    robot.setAttribute(MADE, "rbdgen")
    robot.insertBefore(note, robot.firstChild)
    return str(document.toprettyxml(indent="  "))


def own_line(file: Path, said: str) -> int | None:
    """The line, in a xacro file, of the element that a refusal of its URDF names; ``said``: the
    refusal after its line there, ``<axis> of <joint name="j">: …``.

    None where no element is that one alone: a macro made it, another file has it, its name is
    computed; and where the refusal speaks of lines itself.
    """
    label = _LABEL.match(said)
    if label is None or re.search(r"\bline \d", said):
        return None
    *inner, (tag, name) = [(tag, name) for tag, _, name in _PART.findall(label[0])]
    try:
        pending, found = [parse_xml(read_bytes(file), str(file))], []
    except RobotError:
        return None
    while pending:
        element = pending.pop()
        if element.tag == tag and one_line(element.attributes.get("name", "")) == name:
            found.append(element)
        pending.extend(element)
    for tag, _ in reversed(inner):
        found = [child for element in found for child in element.all(tag)]
    return found[0].line if len(found) == 1 else None


def _note(arguments: _Arguments, given: Mapping[str, str]) -> str:
    from importlib.metadata import version  # which takes a while

    said = f"expanded by xacro {version('xacro')}"
    if given:
        said += ", with " + ", ".join(f"{name}:={value}" for name, value in given.items())
    left = [name for name in arguments if name not in given]
    if left:
        said += f"; at their defaults: {', '.join(left)}, for others --xacro NAME:=VALUE"
    return one_line(said, 400)


def _listed(names: list[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _innermost(error: Exception) -> Exception:
    """The exception inside xacro's, which may be nested."""
    inner: Any = error
    while getattr(inner, "exc", None) is not None:
        inner = inner.exc
    return inner


def _said(error: Exception) -> str:
    """The message of xacro's innermost exception, and its place."""
    inner = _innermost(error)
    where = []
    while error is not inner:
        where.append(str(getattr(error, "suffix", None) or ""))
        error = error.exc  # type: ignore[attr-defined]
    text = str(inner) or type(inner).__name__
    text = re.sub(r"<class '[\w.]+'>:? ?", "", " ".join([text, *where]))
    return one_line(" ".join(text.split()), 300)


def _refusal(error: Exception, arguments: _Arguments) -> str:
    """xacro's message, with the cure where it is known."""
    said = " ".join(str(error).split())
    if argument := _NO_ARGUMENT.search(said):
        known = ", ".join(f"{name} (now {value})" for name, value in arguments.items())
        return (
            f"needs the argument {quoted(argument[1])}: --xacro {argument[1]}:=VALUE; "
            f"it declares {known or 'none'}"
        )
    if package := _NO_PACKAGE.search(said):
        name = package[1] or package[2]
        return (
            f"package {quoted(name)}, in $(find {name}), is not found: it was looked for in the "
            "folders that hold the file, by their package.xml, and in those of ROS_PACKAGE_PATH "
            f"or AMENT_PREFIX_PATH; ROS_PACKAGE_PATH=FOLDER, with {name} in it, gives it"
        )
    if "ament_index_python" in said:
        return (
            "$(find …) needs xacrodoc or ROS, neither is installed: "
            'pip install "rbdgen[robots]"; packages are then looked for in the folders that hold '
            "the file, and in those of ROS_PACKAGE_PATH"
        )
    if isinstance(error, RecursionError):
        return "xacro cannot expand it: a file includes itself, or a macro calls itself without end"
    return f"xacro cannot expand it: {_said(error)}"


def _refuse_macros(file: Path, shown: str) -> None:
    """RobotError for a file that defines macros and no robot, with the file that calls them."""
    macros = _MACRO.findall(file.read_text("utf-8", "replace"))
    if not macros:
        return
    calls = re.compile(rf"<xacro:({'|'.join(map(re.escape, macros))})[\s/>]")
    near = [*sorted(file.parent.glob("*.xacro")), *sorted(file.parent.parent.glob("*.xacro"))]
    cure = "give the file that calls them"
    for other in near:
        with suppress(OSError):
            text = other.read_text("utf-8", "replace") if other.stat().st_size < _LARGEST else ""
            if other != file and calls.search(text):
                cure = f"{one_line(str(other), 200)} calls one"
                break
    more = " …" if len(macros) > 3 else ""
    raise RobotError(
        f"{shown}: has no <link>: it defines macros alone ({', '.join(macros[:3])}{more}); {cure}"
    )
