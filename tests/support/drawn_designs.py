"""Designs drawn at random: small robots of every kind of joint, and choices of every kind.

Every value of a choice comes up equally often, beside the others at random: the values are dealt
like cards, and shuffled again when all have been dealt. A choice that is refused beside those that
a design has already is left out, but for one design in eight, which keeps all that it was dealt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from rbdgen.compile.flow import front_end
from rbdgen.design.loading import load
from rbdgen.robot.model import Joint, JointKind, Robot, RobotError
from tests.support.as_urdf import written
from tests.support.limbs import urdf_of_limbs
from tests.support.random_robots import ALL_KINDS, SINGLE, random_robot

T = TypeVar("T")
Choices = dict[str, Any]
Reader = Callable[..., object]
TURNING = (JointKind.REVOLUTE,)
JOINTS = (1, 2, 2, 3, 3, 4)
TRIES = 5  # of so many joints
KINDS: tuple[Sequence[JointKind], ...] = (
    *(TURNING, SINGLE, SINGLE, ALL_KINDS),
    *((*SINGLE, JointKind.FLOATING), (*SINGLE, JointKind.PLANAR)),
)
MOST = {None: 6, "ignored": 4, "given": 2, "free": 1}  # coordinates of joints, by the base's root
FEW = 2  # of functions that take long
FORMULATIONS = (
    *(*("auto",) * 6, "composite", "recursive", *("logarithmic",) * 3),
    *("linear", "lathrop-linear", "lathrop-log"),
)
OF_ID = ("linear", "lathrop-linear", "lathrop-log")
FUNCTIONS = (
    *(("id",), ("fd",), ("m",), ("minv",), ("did",), ("dfd",), ("difd",), ("ddid",), ("cfd",)),
    *(("step",), ("g",), ("nle",), ("pose", "twist"), ("jac",), ("drift",), ("com", "jcom")),
    *(("energy",), ("ag", "hg"), ("id", "m"), ("did", "minv"), ("fd", "jac"), ("id", "com")),
    *(("osim",), ("subcom",), ("regressor",), ("base_regressor",), ("dcfd",)),
)
OF_LOOPS = ("id", "m", "did", "minv", "fd", "dfd")
LONG = {
    "dfd",
    "difd",
    "ddid",
    "step",
    "cfd",
    "dcfd",
    "osim",
}  # which take minutes on a base that moves freely
IN_LOOPS, IN_TURN = ("auto", "composite", "logarithmic"), ("auto", "composite", "lathrop-linear")
OF_TASKS = (("id", "fd"), ("did", "m"), ("dfd", "id"), ("minv", "g", "nle"), ("fd", "euler"))
OF_JOINTS = (("id",), ("fd",), ("m",), ("minv",), ("did", "m"), ("dfd",), ("difd",), ("nle",))
AT_FRAMES = {"pose", "twist", "jac", "drift", "cfd", "osim", "subcom", "dcfd"}
SHARINGS: tuple[Choices, ...] = (
    *({"fit": False}, {"fit": False}, {}, {"ii": 3}, {"ii": 2, "fold": "none"}),
    *({"multipliers": 40}, {"fold": "joints", "ii": 12}, {"fold": "joints", "ii": 24}),
    *({"fold": "limbs", "ii": 4}, {"style": "latency"}, {"style": "latency", "clock": 40.0}),
    {"accelerator": True, "ii": 8, "target": "xcup"},
)
OTHERS: dict[str, tuple[Choices, ...]] = {
    "base": (
        *({}, {}, {"base": "floating"}, {"base": "floating", "root": "given"}),
        {"base": "floating", "root": "ignored"},
    ),
    "parameters": ({}, {}, {"parameters": "registers"}),
    "words": (
        *({}, {}, {"width": 16}, {"width": 24}, {"width": 32}, {"error": 1e-3}),
        *({"guard": 3}, {"proven": "one-bit"}),
    ),
    "angles": ({}, {}, {"angles": "sincos"}),
    "rotation": ({}, {}, {"rotation": 3}),
    "factorisation": ({}, *({"factorisation": own} for own in ("ltdl", "mminvgen", "blocks"))),
    "logarithmic": ({}, {"network": "kogge-stone"}, {"products": "winograd"}, {"inverse": "near"}),
    "integrator": ({}, {"integrator": "rk4"}),
    "mimic": ({}, {"mimic": "independent"}),
    "base_link": ({}, {"base_link": "best"}),
    "limits": ({}, {"velocity": 3.0, "acceleration": 5.0}),
    "target": ({}, {"target": "xcup"}),
    "order": ({}, {"order": "issued"}),
    "code": ({}, {}, {"code": "loops"}),
    "scheduler": ({}, {}, {}, {"scheduler": "exact"}),
}


@dataclass(frozen=True)
class Drawn:
    """A design: the robot's ``file`` and its ``kinds`` of joints, its ``choices``, and the lines
    of those that it refused."""

    file: Path
    kinds: str
    choices: Choices
    left_out: Mapping[str, str]  # choice → line

    def __str__(self) -> str:
        choices = " ".join(f"{key}={_short(value)}" for key, value in self.choices.items())
        return f"{self.kinds}; {choices}"


def drawn(seed: int, number: int, folder: Path) -> Drawn:
    """Design ``number`` of a ``seed``, its robot in the folder; RobotError if that is refused."""
    rng = np.random.default_rng([seed, number])
    sharing = dealt("sharing", SHARINGS, seed, number)
    others = {key: dealt(key, values, seed, number) for key, values in OTHERS.items()}
    functions = drawn_functions(seed, number, sharing)
    long = not LONG.isdisjoint(functions)
    if others["base"] == {"base": "floating"} and long:
        others["base"] = {"base": "floating", "root": "given"}
    if sharing.get("fold") == "limbs":
        senses = [tuple(int(s) for s in rng.choice([-1, 1], 2)) for _ in range(2)]
        (file := folder / "limbs.urdf").write_text(urdf_of_limbs(senses))
        bodies, joints, kinds = ["foot0", "foot1"], ["hip0", "hip1"], "limbs"
        frames = tuple(bodies)  # one limb's alone would make it another
    else:
        root = others["base"].get("root", "free") if others["base"] else None
        robot = drawn_robot(seed, number, rng, min(MOST[root], FEW if long else MOST[None]))
        file, kinds = written(robot, folder), "-".join(_kind(joint) for joint in robot.joints)
        moving = [robot.joints[i] for i in robot.free]
        bodies = [joint.body for joint in moving]
        joints = [joint.name for joint in moving if joint.kind in SINGLE][-1:]
        frames = (bodies[-1],)
    end, some = bodies[-1], bodies[int(rng.integers(len(bodies)))]
    formulation = drawn_formulation(seed, number)
    if "accelerator" not in sharing:
        others["order"] = {}
    choices: Choices = {"functions": functions}
    if AT_FRAMES & set(functions):
        choices["frames"] = frames
    if {"twist", "jac", "drift"} & set(functions):
        references = ({}, {"reference": "local"}, {"reference": "world"})
        choices |= dealt("reference", references, seed, number)
    if {"cfd", "osim", "dcfd"} & set(functions):
        choices |= dealt("contact", ({}, {"contact": "surface"}), seed, number)
        choices |= dealt("damping", ({"contact_damping": 0.1},) * 3 + ({},), seed, number)
    forces = ({}, {}, {"external_forces": (some,)}, {"external_forces": ("all",)})
    others["forces"] = dealt("forces", forces, seed, number)
    others["payload"] = dealt("payload", ({}, {}, {"payload": end}), seed, number)
    others["formulation"] = {} if formulation == "auto" else {"formulation": formulation}
    if joints:
        gear = dict(
            zip(("armature", "damping", "friction"), rng.uniform(0.05, 0.5, 3), strict=True)
        )
        gears = {name: {**gear, "friction_width": 1.0} for name in joints}
        others["joints"] = dealt("gears", ({}, {}, {"joints": gears}), seed, number)
    others["sharing"] = sharing
    others |= {key: {} for key in _unsuited(functions, others)}
    order = ["sharing", "formulation"]
    order += [key for key in rng.permutation(sorted(others)).tolist() if key not in order]
    base = Drawn(file, kinds, choices, {})
    if number % 8 == 7:
        return replace(
            base, choices={k: v for own in others.values() for k, v in own.items()} | choices
        )
    quick = _without_refused(base, others, order, load)
    try:
        front_end(str(file), **quick.choices)
    except RobotError:
        own = {key: {k: v for k, v in others[key].items() if k in quick.choices} for key in order}
        return _without_refused(replace(quick, choices=choices), own, order, front_end)
    return quick


def _unsuited(functions: Sequence[str], others: Mapping[str, Choices]) -> list[str]:
    """The choices that are refused only when much is made already."""
    sharing, formulation = others["sharing"], others["formulation"].get("formulation", "auto")
    found = []
    if sharing.get("fold") == "joints":
        found += ["scheduler", "angles", *(["formulation"] if formulation not in IN_TURN else [])]
    if sharing.get("fold") == "limbs":
        found += ["payload", "forces"]  # which make limbs unlike
        if others["base"].get("root") != "ignored":
            found.append("base")  # whose one joint carries all others
    if others["code"]:
        looped = formulation in IN_LOOPS and set(functions) <= set(OF_LOOPS)
        found += ["factorisation", "forces", "angles", "logarithmic"] if looped else ["code"]
    return found


def _without_refused(
    drawn: Drawn, others: Mapping[str, Choices], order: Sequence[str], read: Reader
) -> Drawn:
    """The design with one more choice after the other, but those beside which ``read`` refuses."""
    read(str(drawn.file), **drawn.choices)
    choices, left_out = dict(drawn.choices), dict(drawn.left_out)
    for key in order:
        more = {name: value for name, value in others[key].items() if name not in choices}
        try:
            if more:
                read(str(drawn.file), **choices, **more)
            choices |= more
        except RobotError as error:
            left_out[key] = str(error)
    return replace(drawn, choices=choices, left_out=left_out)


def drawn_formulation(seed: int, number: int) -> str:
    """The formulation of a design."""
    return dealt("formulation", FORMULATIONS, seed, number)


def drawn_functions(seed: int, number: int, sharing: Choices) -> tuple[str, ...]:
    """The functions of a design that shares its hardware so."""
    if sharing.get("fold") == "joints":
        return dealt("in turn", OF_JOINTS, seed, number)
    if "accelerator" in sharing:
        return dealt("tasks", OF_TASKS, seed, number)
    if drawn_formulation(seed, number) in OF_ID:
        return ("id",)
    return dealt("functions", FUNCTIONS, seed, number)


def drawn_robot(seed: int, number: int, rng: np.random.Generator, most: int) -> Robot:
    """A robot of up to four joints, one of which moves, and of ``most`` coordinates."""
    joints, kinds = dealt("joints", JOINTS, seed, number), dealt("kinds", KINDS, seed, number)
    mimic = dealt("mimics", (0.0, 0.0, 0.6), seed, number)
    fixed = dealt("fixed", (0.0, 0.0, 0.3), seed, number)
    plain = dealt("plain", (0.0, 1.0, 0.7), seed, number)
    kinds = [kind for kind in kinds if kind.nv <= most] or SINGLE
    while True:
        for _ in range(TRIES):
            robot = random_robot(rng, joints, kinds, mimic=mimic, fixed=fixed, plain=plain)
            if 0 < robot.nv <= most:
                return replace(robot, name="drawn")
        joints -= 1


def dealt(name: str, values: Sequence[T], seed: int, number: int) -> T:
    """The value of design ``number``: of so many as there are values, each has another one."""
    deal, place = divmod(number, len(values))
    rng = np.random.default_rng([seed, crc32(name.encode()), deal])
    return values[rng.permutation(len(values))[place]]


def _kind(joint: Joint) -> str:
    return f"mimic-{joint.kind.value}" if joint.mimic else joint.kind.value


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return "+".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
