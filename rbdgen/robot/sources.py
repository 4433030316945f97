"""Robots that are no URDF yet: MJCF, xacro, names of robot_descriptions, standard input.

Each becomes a URDF that is kept by its content, so that all that reads robots reads one format,
and a design's folder has a robot of its own that needs none of the packages used here.
"""

from __future__ import annotations

import re
import sys
from codecs import BOM_UTF8
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import BinaryIO

from ..system.cache import cached, named
from .model import NotFound, RobotError
from .xml_lines import MAX_BYTES, did_you_mean, one_line, read_bytes

STANDARD_INPUT = "-"
_STDIN = "stdin"
DESCRIPTION = "_description"  # ends each name of robot_descriptions
_BEFORE = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>", re.DOTALL)  # a root element


def as_urdf(file: Path, xacro: Mapping[str, str] | None = None) -> Path:
    """The URDF of a file: itself, unless it is MJCF or xacro, with these arguments; RobotError.

    One that cannot be read is itself: who reads it says why.
    """
    if is_xacro(file):
        from .xacro_files import expanded

        return _kept(_stem(file), expanded(file, xacro)) if file.is_file() else file
    if xacro:
        shown = one_line(str(file), 200)
        raise RobotError(
            f"{shown}: is not xacro (.xacro), and takes no argument {next(iter(xacro))}"
        )
    try:
        content = read_bytes(file)
    except RobotError:
        return file
    if root_tag(content) != "mujoco":
        return file
    return _kept(_stem(file), _of_mjcf(file, one_line(str(file), 200)))


def received(stream: BinaryIO) -> Path:
    """The URDF that comes on a stream, or of the MJCF that does; RobotError."""
    content = stream.read(MAX_BYTES + 1)
    if not content.strip():
        raise RobotError("standard input: nothing came; a URDF or MJCF is expected there")
    if len(content) > MAX_BYTES:
        raise RobotError(f"standard input: larger than {MAX_BYTES >> 20} MiB")
    if root_tag(content) == "mujoco":
        text = _of_mjcf(content.decode("utf-8", "replace"), "standard input")
        return _kept(_STDIN, text)
    return _kept(_STDIN, content)


def _of_mjcf(content: Path | str, file: str) -> str:
    """The URDF of MJCF; RobotError."""
    from .mjcf import urdf_of_mjcf  # files that no other format needs

    return urdf_of_mjcf(content, file)


def is_xacro(file: Path) -> bool:
    """Whether a file is xacro, by its name."""
    return file.suffix.lower() == ".xacro"


def of_its_source(refusal: str, urdf: str, given: Path) -> str:
    """A refusal, or a note, of a URDF as one of the file that was ``given``, which it was made of.

    It has that file's line where the element stands in it, a xacro file, as such; else that of
    the URDF, which it says.
    """
    if str(given) == urdf:
        ours = given.name == f"{_STDIN}.urdf" and given.parent.name.endswith(f"-{_STDIN}")
        return refusal.replace(f"{urdf}:", "standard input:") if ours else refusal
    start = re.match(rf"{re.escape(urdf)}:\d+: ", refusal)
    if start and is_xacro(given):
        from .xacro_files import own_line

        line = own_line(given, refusal[start.end() :])
        if line is not None:
            return f"{given}:{line}: {refusal[start.end() :]}"
    return refusal.replace(f"{urdf}:", f"{given} as a URDF:")


def described(name: str, xacro: Mapping[str, str] | None = None) -> Path:
    """The URDF of a robot of the package robot_descriptions, which downloads it once.

    Arguments of one that is xacro are the package's, unless ``xacro`` has others.

    RobotError: the package is not installed, has no such name, or cannot download it.
    """
    try:
        names = descriptions()
    except ModuleNotFoundError:
        raise NotFound(
            f"{name}: a name of robot_descriptions, which is not installed; "
            'pip install "rbdgen[robots]"',
            name,
        ) from None
    if name not in names:
        hint = did_you_mean(name, names, "; rbdgen robots says where its names stand")
        raise NotFound(f"{name}: no such name in robot_descriptions{hint}", name)
    shown = sys.stderr if sys.stderr.isatty() else StringIO()
    try:
        with redirect_stdout(shown), redirect_stderr(shown):  # it prints how far a download is
            module = import_module(f"robot_descriptions.{name}")
    except Exception as error:  # git's, the network's, the disk's: there is no common one
        said = one_line(" ".join(str(error).split()), 300)
        raise RobotError(f"{name}: robot_descriptions cannot download it: {said}") from None
    for path in ("URDF_PATH", "XACRO_PATH", "MJCF_PATH"):
        if (file := getattr(module, path, None)) is not None:
            usual = getattr(module, "XACRO_ARGS", {}) if path == "XACRO_PATH" else {}
            return as_urdf(Path(file), {**{k: str(v) for k, v in usual.items()}, **(xacro or {})})
    raise RobotError(f"{name}: robot_descriptions has no URDF, xacro or MJCF of it")


def descriptions() -> tuple[str, ...]:
    """The names that robot_descriptions has; ModuleNotFoundError."""
    from robot_descriptions import DESCRIPTIONS

    return tuple(DESCRIPTIONS)


def root_tag(content: bytes) -> str:
    """The tag of an XML text's root element, as far as one can see without parsing it."""
    at = len(BOM_UTF8) if content.startswith(BOM_UTF8) else 0
    while found := _BEFORE.match(content, at):
        at = found.end()
    tag = re.match(rb"<([\w:.-]+)", content[at : at + 100])
    return tag[1].decode("ascii", "replace") if tag else ""


def _stem(file: Path) -> str:
    return file.name.split(".")[0] or "robot"


def _kept(stem: str, content: str | bytes) -> Path:
    """A file of that content in the cache, the same for the same content; CacheError."""
    data = content.encode() if isinstance(content, str) else content
    name = f"{stem}.urdf"
    folder = f"{named('robot', data)}-{stem}"
    return cached(folder, lambda work: _write(work / name, data), files=[name]) / name


def _write(place: Path, data: bytes) -> None:
    place.write_bytes(data)
