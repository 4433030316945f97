"""The checks that options are made with. Each takes a value from Python, or text, and returns it in
its final type, or raises ValueError that says what would be right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..robot.xml_lines import did_you_mean, quoted
from .choices import BEST, FOLDS, FORMULATIONS, LARGEST_OF_JOINTS, LARGEST_SHARE, MOST_SLOTS
from .functions import ALIASES, FUNCTIONS, GIVEN_BASE, ROLLOUTS
from .identifiers import identifier


def finite(value: Any) -> float:
    """A number, neither infinite nor NaN."""
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
        return tuple(finite(v) for v in value)

    return check


def _positive(value: Any) -> float:
    number = finite(value)
    if number <= 0:
        raise ValueError(f"must be above 0, is {number:g}")
    return number


def _not_negative(value: Any) -> float:
    number = finite(value)
    if number < 0:
        raise ValueError(f"must not be below 0, is {number:g}")
    return number


def _interval(value: Any) -> tuple[float, ...]:
    lower, upper = _numbers(2)(value)
    if not lower < upper:
        raise ValueError(f"lower ({lower:g}) must be below upper ({upper:g})")
    return lower, upper


class OneOf:
    """A check of words, one of those that are ``known``."""

    def __init__(self, *known: str) -> None:
        self.known = known

    def __call__(self, value: Any) -> str:
        if value not in self.known:
            hint = did_you_mean(str(value), self.known, f"; one of {', '.join(self.known)}")
            raise ValueError(f"{quoted(str(value))} is unknown{hint}")
        return str(value)


class OneNumber:
    """A check of whole numbers of ``what``, one of those that are ``known``."""

    def __init__(self, what: str, *known: int) -> None:
        self.what, self.known = what, known

    def __call__(self, value: Any) -> int:
        if finite(value) not in self.known:
            raise ValueError(f"{' or '.join(map(str, self.known))} {self.what}, not {value}")
        return int(finite(value))


def words(value: Any) -> tuple[str, ...]:
    """Names, none of them twice; one alone is as good."""
    several = (value,) if isinstance(value, str) else tuple(value)
    if len(set(several)) < len(several):
        raise ValueError("a name stands twice")
    return tuple(str(word) for word in several)


def base_name(value: Any) -> str | None:
    """A link's name, or `BEST`."""
    return _name(value, f"a link's name, or {BEST}")


def called(value: Any) -> str | None:
    """The name of a design, an identifier."""
    return None if value is None else identifier(value)


def link_name(value: Any) -> str | None:
    """A link's name."""
    return _name(value, "a link's name")


def _name(value: Any, what: str) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"{what}, not {quoted(str(value))}")
    return value


def _function(value: Any) -> str:
    """A function by its name here, or by Pinocchio's."""
    word, known = str(value), (*FUNCTIONS, *ROLLOUTS, *GIVEN_BASE)
    name = ALIASES.get(word, word)
    if name not in known:
        hint = did_you_mean(word, (*known, *ALIASES), f"; one of {', '.join(known)}")
        raise ValueError(f"{quoted(word)} is unknown{hint}")
    return name


def functions(value: Any) -> tuple[str, ...]:
    """Functions by their names; Pinocchio's do too."""
    names = words([_function(word) for word in words(value)])
    if not names:
        raise ValueError(f"name at least one of {', '.join((*FUNCTIONS, *ROLLOUTS))}")
    return names


def real(
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
        number = finite(value)
        enough = number > lowest if above else number >= lowest
        if not enough or not (number < highest if below else number <= highest):
            raise ValueError(f"{what}, not {number:g}")
        return number

    return check


def whole(lowest: int, highest: int, what: str, unset: bool = True) -> Callable[[Any], int | None]:
    """A check of whole numbers of ``what`` from ``lowest`` to ``highest``; ``unset``: or None."""

    def check(value: Any) -> int | None:
        if value is None and unset:
            return None
        number = finite(value)
        if number != int(number) or not lowest <= number <= highest:
            raise ValueError(f"a whole number of {what} from {lowest} to {highest}, not {value}")
        return int(number)

    return check


def flag(value: Any) -> bool:
    """True or false."""
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"true or false, not {quoted(str(value))}")
    return str(value).lower() == "true"


def gravity(value: Any) -> tuple[float, ...] | None:
    """A vector (3,)."""
    return None if value is None else _numbers(3)(value)


def arguments(value: Any) -> dict[str, str] | None:
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


def mix_text(value: Any) -> str | None:
    """The same as text, in one spelling."""
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


def number_by_joint(value: Any) -> float | str | None:
    """The same as a number, or as text in one spelling."""
    if value is None:
        return None
    found = by_joint(value)
    if list(found) == [""]:
        return found[""]
    return ",".join(
        f"{name}={number!r}" if name else repr(number) for name, number in found.items()
    )


def slots(value: Any) -> int | None:
    """A power of two."""
    number = whole(2, MOST_SLOTS, "tasks")(value)
    if number is not None and number & (number - 1):
        raise ValueError(f"a power of two, not {number}")
    return number


# Of what `load` or the search chooses, too.
INTERVAL = whole(1, LARGEST_OF_JOINTS, "cycles")
FOLD, FORMULATION = OneOf(*FOLDS), OneOf(*FORMULATIONS)

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
