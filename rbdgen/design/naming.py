"""The name of a design: of its files, modules, symbols, header guards and targets.

Programs of several designs are linked together, so that designs which differ in any choice need
names that differ. A name has the robot, the choices of `WORDS` that are no defaults, six digits of
a digest of all others, and the functions: ``iiwa14_id``, ``hyq_floating_id_m``,
``hyq_floating_3f9a2c_id``. What a user calls the design, by ``name``, stands for all of that.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from .design import Design, is_predictive, no_defaults
from .functions import GIVEN_BASE, WHOLE
from .loading import filed, shipped_robots

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
