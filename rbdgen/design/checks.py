"""The checks of a design's choices. Each takes the value from Python or as YAML text, returns it in
its final type, or raises ValueError that says what would be right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..robot.xml_lines import did_you_mean, quoted
from .choices import (
    ALIASES,
    BEST,
    CODES,
    FACTORISATIONS,
    FOLDS,
    FORMULATIONS,
    FUNCTIONS,
    GIVEN_BASE,
    HELD,
    INTEGRATORS,
    INVERSES,
    LARGEST_DAMPING,
    LARGEST_INTERVAL,
    LARGEST_OF_JOINTS,
    LARGEST_SHARE,
    LARGEST_SNAP,
    LARGEST_TOLERANCE,
    LEAST_FLOAT_ERROR,
    LONGEST_CLOCK,
    LONGEST_STEP,
    MOST_GUARD,
    MOST_SLOTS,
    NETWORKS,
    ORDERS,
    PARAMETERS,
    PRODUCTS,
    PROVEN,
    ROLLOUTS,
    ROOTS,
    SCHEDULERS,
    STYLES,
    WIDTHS,
)
from .identifiers import identifier
from .target import TARGETS


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number, not {quoted(str(value))}") from None
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number


def _numbers(count: int) -> Callable[[Any], tuple[float, ...]]:
    def check(value: Any) -> tuple[float, ...]:
        if isinstance(value, str | int | float) or len(value) != count:
            raise ValueError(f"expected {count} numbers in brackets")
        return tuple(_number(v) for v in value)

    return check


def _positive(value: Any) -> float:
    number = _number(value)
    if number <= 0:
        raise ValueError(f"must be above 0, is {number:g}")
    return number


def _not_negative(value: Any) -> float:
    number = _number(value)
    if number < 0:
        raise ValueError(f"must not be below 0, is {number:g}")
    return number


def _interval(value: Any) -> tuple[float, ...]:
    lower, upper = _numbers(2)(value)
    if not lower < upper:
        raise ValueError(f"lower ({lower:g}) must be below upper ({upper:g})")
    return lower, upper


def _one_of(*known: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in known:
            hint = did_you_mean(str(value), known, f"; one of {', '.join(known)}")
            raise ValueError(f"{quoted(str(value))} is unknown{hint}")
        return str(value)

    return check


def _words(value: Any) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else tuple(value)
    if len(set(words)) < len(words):
        raise ValueError("a name stands twice")
    return tuple(str(word) for word in words)


def _name(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"a link's name, or {BEST}, not {quoted(str(value))}")
    return value


def _called(value: Any) -> str | None:
    return None if value is None else identifier(value)


def _link(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"a link's name, not {quoted(str(value))}")
    return value


def _function(value: Any) -> str:
    """A function by its name here, or by Pinocchio's."""
    word, known = str(value), (*FUNCTIONS, *ROLLOUTS, *GIVEN_BASE)
    name = ALIASES.get(word, word)
    if name not in known:
        hint = did_you_mean(word, (*known, *ALIASES), f"; one of {', '.join(known)}")
        raise ValueError(f"{quoted(word)} is unknown{hint}")
    return name


def _functions(value: Any) -> tuple[str, ...]:
    names = _words([_function(word) for word in _words(value)])
    if not names:
        raise ValueError(f"name at least one of {', '.join((*FUNCTIONS, *ROLLOUTS))}")
    return names


def _real(
    what: str,
    lowest: float,
    highest: float,
    above: bool = False,
    below: bool = False,
    unset: bool = False,
) -> Callable[[Any], float | None]:
    """A check of numbers from ``lowest`` to ``highest``, or ``above`` or ``below`` these, which
    ``what`` says; ``unset``: or None."""

    def check(value: Any) -> float | None:
        if value is None and unset:
            return None
        number = _number(value)
        enough = number > lowest if above else number >= lowest
        if not enough or not (number < highest if below else number <= highest):
            raise ValueError(f"{what}, not {number:g}")
        return number

    return check


def _rotation(value: Any) -> int:
    if _number(value) not in (3, 4):
        raise ValueError(f"3 or 4 multiplications, not {value}")
    return int(_number(value))


def _whole(lowest: int, highest: int, what: str, unset: bool = True) -> Callable[[Any], int | None]:
    """A check of whole numbers of ``what`` from ``lowest`` to ``highest``; ``unset``: or None."""

    def check(value: Any) -> int | None:
        if value is None and unset:
            return None
        number = _number(value)
        if number != int(number) or not lowest <= number <= highest:
            raise ValueError(f"a whole number of {what} from {lowest} to {highest}, not {value}")
        return int(number)

    return check


def _flag(value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"true or false, not {quoted(str(value))}")
    return str(value).lower() == "true"


def _gravity(value: Any) -> tuple[float, ...] | None:
    return None if value is None else _numbers(3)(value)


def _arguments(value: Any) -> dict[str, str] | None:
    """``{"tool": 2}`` or ``["tool:=2"]`` → ``{"tool": "2"}``."""
    if value is None:
        return None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Mapping):
        if wrong := [word for word in value if ":=" not in str(word).lstrip(":=")]:
            raise ValueError(f"NAME:=VALUE, not {quoted(str(wrong[0]))}")
        value = dict(str(word).split(":=", 1) for word in value)
    texts = {True: "true", False: "false"}
    return {str(k): texts[v] if isinstance(v, bool) else str(v) for k, v in value.items()}


def mix(value: Any) -> dict[str, int]:
    """``id=8,dfd=1`` → how many tasks of each function come together."""
    found: dict[str, int] = {}
    for part in str(value).replace(" ", "").split(","):
        name, _, number = part.partition("=")
        name = _function(name)
        if name in found or not number.isdecimal() or not 0 < int(number) <= LARGEST_SHARE:
            raise ValueError(
                f"functions once each, with a number from 1 to {LARGEST_SHARE}, such as "
                f"id=8,dfd=1; not {quoted(str(value))}"
            )
        found[name] = int(number)
    return found


def _mix(value: Any) -> str | None:
    if value is None:
        return None
    return ",".join(f"{name}={number}" for name, number in mix(value).items())


def by_joint(value: Any) -> dict[str, float]:
    """``3``, ``3,wrist=8`` or ``elbow=2,wrist=8`` → number by joint's name, "" of all others.

    A mapping of the same is as good.
    """
    if isinstance(value, Mapping):
        parts = [(str(name), number) for name, number in value.items()]
    else:
        words = [word.strip().rpartition("=") for word in str(value).split(",")]
        parts = [(name.strip(), number) for name, _, number in words]
    found: dict[str, float] = {}
    for name, number in parts:
        if name in found:
            what = quoted(name) if name else "the number of all joints"
            raise ValueError(f"{what} stands twice; keep one of them")
        if "," in name or "=" in name:
            raise ValueError(f"{quoted(name)} cannot be named here; use limits: joints: of a file")
        found[name] = _positive(number)
    return found


def _by_joint(value: Any) -> float | str | None:
    if value is None:
        return None
    found = by_joint(value)
    if list(found) == [""]:
        return found[""]
    return ",".join(
        f"{name}={number!r}" if name else repr(number) for name, number in found.items()
    )


def _slots(value: Any) -> int | None:
    number = _whole(2, MOST_SLOTS, "tasks")(value)
    if number is not None and number & (number - 1):
        raise ValueError(f"a power of two, not {number}")
    return number


CHECKS: dict[str, Callable[[Any], Any]] = {
    "name": _called,
    "velocity": _by_joint,
    "acceleration": _by_joint,
    "effort": _by_joint,
    "friction": _flag,
    "friction_width": _by_joint,
    "base": _one_of("fixed", "floating"),
    "mimic": _one_of("fold", "independent"),
    "gravity": _gravity,
    "open_loops": _flag,
    "xacro": _arguments,
    "snap": _real(f"an angle from 0 to {LARGEST_SNAP} rad", 0, LARGEST_SNAP, unset=True),
    "alike": _real("a part of a limb's size, from 0 to less than 1", 0, 1, below=True),
    "functions": _functions,
    "width": _whole(*WIDTHS, "bits", unset=False),
    "guard": _whole(1, MOST_GUARD, "bits", unset=False),
    "proven": _one_of(*PROVEN),
    "target": _one_of(*TARGETS),
    "external_forces": _words,
    "payload": _link,
    "parameters": _one_of(*PARAMETERS),
    "tolerance": _real(
        f"a part of what parameters are, above 0 up to {LARGEST_TOLERANCE:g}",
        0,
        LARGEST_TOLERANCE,
        above=True,
    ),
    "frames": _words,
    "contact": _one_of(*HELD),
    "contact_damping": _real(f"1/kg from 0 to {LARGEST_DAMPING:g}", 0, LARGEST_DAMPING),
    "angles": _one_of("on-chip", "sincos"),
    "rotation": _rotation,
    "error": _real("a relative error from 1e-7 to 0.1", 1e-7, 0.1, unset=True),
    "float_error": _real(
        f"a part of the largest entry from {LEAST_FLOAT_ERROR:g} to 1, which is float alone",
        LEAST_FLOAT_ERROR,
        1,
    ),
    "formulation": _one_of(*FORMULATIONS),
    "network": _one_of(*NETWORKS),
    "products": _one_of(*PRODUCTS),
    "code": _one_of(*CODES),
    "frame": _name,
    "factorisation": _one_of(*FACTORISATIONS),
    "inverse": _one_of(*INVERSES),
    "nearby": _real("a step above 0 and up to 1 rad or m", 0, 1, above=True),
    "step": _real(f"seconds above 0 and up to {LONGEST_STEP:g}", 0, LONGEST_STEP, above=True),
    "integrator": _one_of(*INTEGRATORS),
    "root": _one_of(*ROOTS),
    "base_link": _name,
    "ii": _whole(1, LARGEST_OF_JOINTS, "cycles"),
    "multipliers": _whole(1, 100_000, "multipliers"),
    "scheduler": _one_of(*SCHEDULERS),
    "style": _one_of(*STYLES),
    "clock": _real(
        f"a period above 0 and up to {LONGEST_CLOCK:g} ns", 0, LONGEST_CLOCK, above=True, unset=True
    ),
    "fold": _one_of(*FOLDS),
    "fit": _flag,
    "accelerator": _flag,
    "slots": _slots,
    "mix": _mix,
    "order": _one_of(*ORDERS),
}

# of what a design checks unless joints take turns
NOT_OF_JOINTS: dict[str, Callable[[Any], Any]] = {"ii": _whole(1, LARGEST_INTERVAL, "cycles")}

LIMIT_CHECKS: dict[str, Callable[[Any], Any]] = {
    "velocity": _positive,
    "acceleration": _positive,
    "position": _interval,
    "force": _positive,
    "moment": _positive,
    "effort": _positive,
    **dict.fromkeys(("payload_mass", "payload_reach", "payload_inertia"), _positive),
    **dict.fromkeys(("contact_force", "contact_moment"), _positive),
}
JOINT_LIMITS = ("velocity", "acceleration", "position", "effort")  # what may differ by joint

# of a joint's rotor, damping and friction
DRIVETRAIN_CHECKS: dict[str, Callable[[Any], Any]] = {
    "armature": _not_negative,
    "damping": _not_negative,
    "friction": _not_negative,
    "friction_width": _positive,
}
