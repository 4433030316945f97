"""Rules on options that do not go together, or that nothing reads: data, asked by one loop.

A rule has conditions on options. Where all of them hold, its line says why that cannot be, or, of a
rule that is ``noted``, that an option has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..system.quoting import idle, listed
from .functions import (
    AT_FRAMES,
    FACTORING,
    FOLLOWING,
    FRICTIONLESS,
    LAWS,
    NEEDS,
    OF_CONTACTS,
    OF_MOTION,
    REFERRED,
    SLOPES,
)
from .options import OPTIONS

SEVERAL = ("functions", "to")  # a condition speaks of each of their values by itself


@dataclass(frozen=True)
class Where:
    """A condition on the option ``key``, which ``holds`` for some of its values.

    ``text``: the condition in words, of a table. Of `SEVERAL` it holds for those of the values that
    it names; if it is ``none``, it speaks of all of them: that it names none.
    """

    key: str
    holds: Callable[[Any], bool]
    text: str
    none: bool = False

    def among(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values for which it holds; empty if it does not."""
        named = tuple(filter(self.holds, values))
        return (() if named else values) if self.none else named


def of(key: str, *values: Any) -> Where:
    """A condition: the option is one of the values, or a list that has one of them."""
    return Where(key, _is_among(values), _said(key, values))


def beyond(key: str, most: int) -> Where:
    """A condition: the option is a number above ``most``."""
    return Where(key, lambda value: value is not None and value > most, f"`{_flag(key)}` > {most}")


def but(key: str, *values: Any) -> Where:
    """A condition: the option is none of the values, or a list that has another one."""
    among = _is_among(values)
    return Where(key, lambda value: not among(value), f"{_said(key)} other than {_listed(values)}")


def without(key: str, *values: Any) -> Where:
    """A condition: the option is a list that has none of the values."""
    word = "without" if len(values) == 1 else "with none of"
    return Where(key, _is_among(values), f"{_said(key)} {word} {_listed(values)}", none=True)


def only(key: str, *values: Any) -> Where:
    """A condition: the option is a list that has no others than these."""
    among = _is_among(values)
    text = f"{_said(key)} with nothing besides {_listed(values)}"
    return Where(key, lambda value: not among(value), text, none=True)


def said(key: str) -> Where:
    """A condition: the option is not its default."""
    default = OPTIONS[key].default
    return Where(key, lambda value: value != default, _said(key))


@dataclass(frozen=True)
class Rule:
    """Conditions that are not to hold together, and the ``line`` if they do.

    The line begins with the first condition's option. In it ``{value}`` stands for the first value
    that the first condition names, ``{values}`` for all of them, ``{other}`` and ``{others}`` for
    the second one's, and ``{functions}`` for the design's. ``at``: who asks, `DESIGN` unless it is
    somebody who knows more. ``noted``: the option has no effect, which a note reports.
    """

    where: tuple[Where, ...]
    line: str
    noted: bool = False
    at: str = ""

    @property
    def key(self) -> str:
        """The option that the line begins with."""
        return self.where[0].key

    def broken(self, value_of: Callable[[str], Any]) -> str:
        """The line, if all conditions hold; else empty."""
        named = []
        for own in self.where:
            value = value_of(own.key)
            named.append(own.among(tuple(value) if own.key in SEVERAL else (value,)))
            if not named[-1]:
                return ""
        one, other = named[0], named[min(1, len(named) - 1)]
        return self.line.format(
            value=_text(one[0]),
            values=_all(one),
            other=_text(other[0]),
            others=_all(other),
            functions=_all(value_of("functions")),
        )


def idle_unless(
    key: str, serves: str, *where: Where, cure: str = "leave it out", noted: bool = False
) -> Rule:
    """The rule of an option that is for what ``serves`` says, and does nothing ``where`` there is
    none of it. It is refused, or ``noted`` where a design of several functions has it for one of
    them, and each is made by itself."""
    unit = " s" if key == "step" else ""
    return Rule((said(key), *where), idle(key, f"{{value}}{unit}", serves, cure), noted)


def broken(
    rules: Iterable[Rule], design: Any, at: str = "", noted: bool = False, **known: Any
) -> Iterator[tuple[str, str]]:
    """Option and line of each rule of ``at`` that a design breaks; ``known``: what the asker knows
    besides, or better. Rules are passed over that ask for what nobody knows."""

    def value_of(key: str) -> Any:
        return known[key] if key in known else getattr(design, key)

    for rule in rules:
        if (rule.at, rule.noted) != (at, noted):
            continue
        if any(own.key not in OPTIONS and own.key not in known for own in rule.where):
            continue
        if line := rule.broken(value_of):
            yield rule.key, line


def _is_among(values: Container[Any]) -> Callable[[Any], bool]:
    return lambda value: value in values


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return _all(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _all(values: Iterable[Any]) -> str:
    return ", ".join(map(_text, values))


def _listed(values: tuple[Any, ...]) -> str:
    return listed((f"`{value}`" for value in values), "or")


def _flag(key: str) -> str:
    return OPTIONS[key].options()[0] if key in OPTIONS else f"--{key}"


def _said(key: str, values: tuple[Any, ...] = ()) -> str:
    """An option and its values as the command line has them, where it has them."""
    flag, none = f"`{_flag(key)}`", (None, (), False)
    if key not in OPTIONS and key != "to":
        flag = key.replace("_", " ")
    if values and values[0] in none:
        return f"no {flag}"
    return flag if not values or values[0] is True else f"{flag} {_listed(values)}"


LOGARITHMIC = "formulation logarithmic", but("formulation", "logarithmic")
OF_ACCELERATOR = "an accelerator", of("accelerator", False)
OF_FRICTION = "functions that friction changes"
TURNS = "robots with rotating joints"
FOLDED = "folded designs, and this one takes a task every cycle"
TO_FOLD = "--ii, --multipliers, or leave it out"
SAYS = "designs without ii, multipliers or fold"
SAID = "leave it out"
_WITHOUT_QD = [name for name, states in NEEDS.items() if "qd" not in states]
_WITHOUT_QDD = [
    name for name, states in NEEDS.items() if {"qdd", "tau", "qdd_ref"}.isdisjoint(states)
]


IDLE = (
    idle_unless("network", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless("products", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless(
        "products",
        f"gradients, of {', '.join(SLOPES)}",
        without("functions", *SLOPES),
        noted=True,
    ),
    idle_unless("frame", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless("inverse", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless("nearby", "inverse near", but("inverse", "near"), cure="--inverse near"),
    idle_unless(
        "frames",
        f"functions of them, {', '.join(AT_FRAMES)}",
        without("functions", *AT_FRAMES),
        of("controller", "none"),
        cure="name that, too",
    ),
    idle_unless(
        "reference",
        f"functions of frames' motions, {', '.join(REFERRED)}",
        without("functions", *REFERRED),
        cure="name that, too",
    ),
    *(
        idle_unless(
            key,
            f"the function {listed(functions, 'or')}",
            without("functions", *functions),
            cure="name that, too",
        )
        for key, functions in (
            ("contact", OF_CONTACTS),
            ("contact_damping", OF_CONTACTS),
            ("step", ("step",)),
            ("integrator", ("step",)),
        )
    ),
    idle_unless("knots", "controller ilqr", but("controller", "ilqr"), cure="--controller ilqr"),
    idle_unless(
        "tolerance",
        "parameters in registers",
        but("parameters", "registers"),
        cure="--parameters registers",
    ),
    *(
        idle_unless(
            key,
            f"controllers, {listed(laws, 'or')}",
            without("functions", *laws),
            cure="name one, too",
        )
        for key, laws in (("kp", FOLLOWING), ("kd", LAWS), ("gains", LAWS))
    ),
    idle_unless("watchdog", "controllers with ticks", of("tick", None), cure="--tick CYCLES"),
    idle_unless(
        "factorisation",
        f"functions that invert the mass matrix, {', '.join(FACTORING)}",
        without("functions", *FACTORING),
        cure="name one, or leave it out",
        noted=True,
    ),
    *(
        idle_unless(key, *OF_ACCELERATOR, cure="--accelerator, or leave it out", noted=True)
        for key in ("slots", "mix", "order")
    ),
    idle_unless("clock", "style latency", but("style", "latency"), cure="--style latency"),
    idle_unless("scheduler", FOLDED, of("ii", 1), cure=TO_FOLD, noted=True),
    idle_unless(
        "scheduler",
        FOLDED,
        of("ii", None),
        of("multipliers", None),
        of("fit", False),
        but("fold", "limbs", "joints"),
        cure=TO_FOLD,
        noted=True,
    ),
    idle_unless(
        "width",
        "designs whose words have one width",
        said("error"),
        cure="error determines the bits of each word",
        noted=True,
    ),
    *(
        idle_unless("fit", SAYS, said(key), cure=SAID, noted=True)
        for key in ("ii", "multipliers", "fold")
    ),
    Rule(
        (of("formulation", "recursive"), without("functions", *SLOPES)),
        f"formulation: {{value}} is for gradients, of {', '.join(SLOPES)}; leave it out",
        noted=True,
    ),
    idle_unless(
        "gravity",
        "functions that it changes",
        only("functions", *OF_MOTION),
        noted=True,
    ),
    *(
        idle_unless(key, OF_FRICTION, only("functions", *FRICTIONLESS), noted=True)
        for key in ("friction", "friction_width")
    ),
    idle_unless(
        "velocity", "functions of velocities, qd", only("functions", *_WITHOUT_QD), noted=True
    ),
    idle_unless(
        "acceleration",
        "functions of accelerations or efforts, qdd or tau",
        only("functions", *_WITHOUT_QDD),
        noted=True,
    ),
    idle_unless("rotation", TURNS, of("turning_joints", False), noted=True),
    idle_unless("angles", TURNS, of("turning_joints", False), noted=True),
)
