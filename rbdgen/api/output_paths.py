"""The name of a design, and the place that it is written to.

A design's name is that of its files, modules, symbols, header guards and targets. Programs of
several designs are linked together, so that designs which differ in any choice need names that
differ. A name has the robot, the choices of `WORDS` that are no defaults, six digits of a digest of
all others, and the functions: ``iiwa14_id``, ``hyq_floating_id_m``, ``hyq_floating_3f9a2c_id``.
What a user calls the design, by ``name``, stands for all of that.

Whether a place may be written to is asked before any work is done. A folder that is none of
rbdgen's is never replaced.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..design.choices import VERILOG
from ..design.controllers import with_law
from ..design.design import FOLLOW, Design, is_predictive, no_defaults, plain
from ..design.functions import GIVEN_BASE, WHOLE
from ..design.loading import filed, shipped_robots
from ..design.nested import JointDrivetrain, MotionLimits
from ..design.options import OPTIONS
from .folder import MARK, OutputError, read_manifest, refuse_foreign, writing

# Choices that a word or two say whole; their values are of few letters.
WORDS = (
    "controller",
    "knots",
    "base",
    "root",
    "parameters",
    "real",
    "target",
    "width",
    "ii",
    "fit",
)
SAID = ("name", "functions", "accelerator")  # by the name's end, or by all of it
LIMITS = ("limits", "joint_limits")
DIGITS = 6  # of the digest
LONGEST = 40  # characters of a robot's name; of a longer one the rest is in the digest


def design_name(robot: str, design: Design) -> str:
    """The name of the design of a robot that is called ``robot``.

    Whatever stands in ``robot``, it is an identifier of all languages.
    """
    if design.name is not None:
        return design.name
    called = _identifier(robot)
    choices = {k: v for k, v in no_defaults(design).items() if k not in SAID}
    for key in LIMITS:  # those that come with the robot are its defaults
        if key in choices and choices[key] == _shipped(called).get(key):
            del choices[key]
    words = [_word(key, choices.pop(key)) for key in WORDS if key in choices]
    if "payload" in choices:
        words.append("payload")
    if not _is_plain(robot):
        choices["robot"] = robot
    return "_".join([called, *words, *_digest(choices), *_functions(design)])


def short_name(robot: str, design: Design) -> str:
    """The same without the choices, which a folder's name says in other words."""
    return design.name or "_".join([_identifier(robot), *_functions(design)])


def _functions(design: Design) -> tuple[str, ...]:
    if is_predictive(design):
        return ()
    if not design.accelerator:
        return design.functions
    free = tuple(name for name in design.functions if name not in GIVEN_BASE)
    return ("accelerator", *(() if set(free) == set(WHOLE) else free))


def _identifier(robot: str) -> str:
    """The letters and digits of a robot's name, in lower case, underscores for all between."""
    name = re.sub(r"[^a-z0-9]+", "_", robot.lower()).strip("_")[:LONGEST].strip("_") or "robot"
    return name if name[0].isalpha() else f"r{name}"


def _is_plain(robot: str) -> bool:
    """Whether `_identifier` leaves out nothing of a name but how its words are put together."""
    return len(robot) <= LONGEST and bool(re.fullmatch(r"[A-Za-z0-9 ._-]+", robot))


def _word(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return key if value else f"no_{key}"
    return f"{key}{value}" if isinstance(value, int) else str(value).replace("-", "_")


def _digest(choices: dict[str, Any]) -> list[str]:
    if not choices:
        return []
    text = json.dumps(choices, sort_keys=True)
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]]


def _shipped(called: str) -> dict[str, Any]:
    """The choices of the robot of that name that comes with rbdgen."""
    file = shipped_robots().get(called)
    return no_defaults(filed(file)) if file else {}


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
    """Check that a file, or a folder, can be written to ``place``; nothing is left there.

    Missing parent folders are no error: they are made when it is written. Raises OutputError.
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
