"""Where things are written: what such a place is called, and whether it may be written to.

Asked before any work is done. A folder that is none of rbdgen's is never replaced.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..design.choices import VERILOG
from ..design.controllers import with_law
from ..design.design import FOLLOW, Design, no_defaults, plain
from ..design.loading import filed
from ..design.naming import short_name
from ..design.nested import JointDrivetrain, MotionLimits
from ..design.options import OPTIONS
from .folder import MARK, OutputError, read_manifest, refuse_foreign, writing

LONGEST_NAME = 120  # characters; what is longer ends in a digest
CLEAR = {key for key, said in OPTIONS.items() if said.choices and said.clear}


def default_place(path: str, robot: str, design: Design, choices: Mapping[str, Any]) -> Path:
    """``build/NAME``: robot, functions, and the choices that differ from those of the file.

    ``iiwa14_id``, ``iiwa14_did_ii4``; ``path``: the robot or design file, ``robot``: its name.
    """
    said = {key: value for key, value in choices.items() if value is not None}
    before = filed(path, said.get("xacro"))
    before = replace(before, xacro=None) if "xacro" in said else before
    after = replace(before, **with_law(said, before.functions))
    name, left = short_name(robot, design), {"accelerator", "functions", "name"}
    tokens = [
        token
        for field in fields(Design)
        if field.name not in (*FOLLOW, *left)
        and getattr(after, field.name) != getattr(before, field.name)
        for token in _tokens(field.name, getattr(after, field.name))
    ]
    name = re.sub(r"[^\w.+-]+", "_", "_".join([name, *tokens]), flags=re.ASCII)
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = f"{name[: LONGEST_NAME - 9]}_{digest}"
    return Path("build") / name


def _tokens(key: str, value: Any) -> Iterator[str]:
    """The words of a name that say a choice."""
    if isinstance(value, MotionLimits | JointDrivetrain):
        for own, limit in vars(value).items():
            if limit is not None:
                yield from _tokens(own, limit)
    elif isinstance(value, bool):
        yield key if value else f"no_{key}"
    elif isinstance(value, tuple):
        yield "_".join([*([] if key == "functions" else [key]), *map(_short, value)])
    elif isinstance(value, Mapping):
        yield f"{key}_{hashlib.sha256(repr(sorted(value.items())).encode()).hexdigest()[:8]}"
    elif isinstance(value, str):
        yield value if key in CLEAR and value != "auto" else f"{key}_{value}"
    else:
        yield f"{key}{_short(value)}"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_design_place(
    place: Path, robot: str, design: Design, force: bool, language: str = VERILOG
) -> None:
    """OutputError unless a design of ``robot`` may be written to the folder ``place``.

    What is there is replaced if it is a design of the same robot and choices, or with ``force``.
    """
    check_place(place, folder=True)
    refuse_foreign(place)
    if force or not (place / MARK).exists():
        return
    try:
        there = read_manifest(place)
    except OutputError:  # damaged; making it again is the cure
        return
    mine = no_defaults(design)
    other = there.get("choices", {**mine, "functions": there.get("functions")})
    another = there.get("robot") != robot
    different = [f"robot {there.get('robot')}"] if another else []
    if (was := there.get("language", VERILOG)) != language:
        different.append(f"language {was}")
    for key in () if another else sorted({*mine, *other}):
        default = plain(getattr(Design(""), key, None))
        if (was := other.get(key, default)) != mine.get(key, default):
            different.append(f"{key.replace('_', ' ')} {_listed(was)}")
    if different:
        raise OutputError(
            f"{place}: holds another design, of {'; '.join(different)}: name another folder with "
            "-o, or replace it with --force"
        )


def _listed(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "none")
    return text if len(text) < 60 else f"{text[:59]}…"


def check_place(place: Path, folder: bool = False) -> None:
    """OutputError unless a file, or a folder, can be written to ``place``; nothing is left there.

    Folders that it lies in are made when it is written.
    """
    with writing(place):
        within = Path(os.path.realpath(place))
        if folder and within in (Path.cwd(), *Path.cwd().parents):
            refuse_foreign(place)
            raise OutputError(f"{place}: is the folder that you are in; name another with -o")
        if not folder and within.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        for part in within.parts:
            if len(os.fsencode(part)) > 255:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        within = within.parent
        while not within.exists():
            within = within.parent
        with tempfile.TemporaryDirectory(prefix=".rbdgen-", dir=within):
            pass
