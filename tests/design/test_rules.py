"""Every rule of the table can be broken, by some design, and says of which option it is."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from rbdgen.design.choices import LANGUAGES
from rbdgen.design.design import Design
from rbdgen.design.effects import refused
from rbdgen.design.functions import FUNCTIONS, GIVEN_BASE, LAWS, ROLLOUTS
from rbdgen.design.options import OPTIONS
from rbdgen.design.rule import Rule, broken
from rbdgen.design.rules import JOINTS, LOOPS, RULES
from rbdgen.robot.model import RobotError

BEYOND = 100  # an interval
OF_ALL = {
    "functions": [
        *((name,) for name in (*FUNCTIONS, *ROLLOUTS, *GIVEN_BASE)),
        *(("dfd", "difd"), ("g", "m"), ("nle", "m"), ("step", "difd")),
        LAWS,
    ],
    "to": [(language,) for language in LANGUAGES],
    "turning_joints": [True, False],
    "frames": [(), ("tool",)],
    "external_forces": [(), ("tool",)],
}


def values(key: str) -> list[Any]:
    """Some values of an option, which its rules tell apart."""
    if key in OF_ALL:
        return OF_ALL[key]
    said = OPTIONS[key]
    if isinstance(said.default, bool):
        return [True, False]
    return [said.default, *(said.choices or (1, BEYOND, "said"))]


def breaking(rule: Rule) -> dict[str, Any] | None:
    """Values of its options that break a rule."""
    keys = list(dict.fromkeys(own.key for own in rule.where))
    for each in product(*map(values, keys)):
        chosen = {"functions": ("id",), **dict(zip(keys, each, strict=True))}
        if next(broken([rule], None, rule.at, rule.noted, **chosen), None):
            return chosen
    return None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.at} {rule.line[:50]}")
def test_a_rule_can_be_broken(rule: Rule) -> None:
    chosen = breaking(rule)
    assert chosen is not None
    ((key, line),) = broken([rule], None, rule.at, rule.noted, **chosen)
    assert key in (*OPTIONS, "to") and "{" not in line and "\n" not in line
    prefixed = line.startswith(
        (f"{key}: ", f"{key} ", "the common-frame", "in rollouts", "limbs on")
    )
    assert prefixed or line.startswith(("angles: joints", "scheduler: joints", "error: joints"))


@pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if not rule.at and not rule.noted],
    ids=lambda rule: rule.line[:60],
)
def test_a_design_that_breaks_one_is_refused(rule: Rule) -> None:
    chosen = breaking(rule)
    assert chosen is not None
    if "to" in chosen:
        return  # which a design does not know; tests/api/test_languages.py asks `generate`
    if "frames" not in chosen and {"cfd"} & {*chosen["functions"]}:
        chosen["frames"] = ("tool",)
    with pytest.raises(RobotError):
        Design("", **chosen)


@pytest.mark.parametrize(
    ("functions", "loops", "joints"),
    [
        ("minv,fd,m", "", ""),
        ("minv,did", "", ""),
        ("fd,id", "", ""),
        ("dfd,m", "", ""),
        ("difd,did,minv", "", ""),
        ("difd,fd", "", ""),
        ("difd,dfd", "difd", "difd"),
        ("step,dfd", "", "step"),
        ("step,difd,ddid", "ddid", "step, ddid"),
        ("step,difd", "difd", "step"),
        ("jac,ddid", "jac, ddid", "jac, ddid"),
        ("g", "", ""),
        ("g,m", "g", "g"),
    ],
)
def test_what_visits_do_not_compute(functions: str, loops: str, joints: str) -> None:
    design = Design("", functions=functions.split(","), frames=("tool",) * ("jac" in functions))
    known = {"formulation": "composite", "ii": 2}
    for at, who, others in ((LOOPS, "loops", loops), (JOINTS, "time-multiplexed joints", joints)):
        line = refused(design, at, **known)
        assert line.startswith(f"functions: {others}: {who} compute id, " if others else "")
        assert bool(line) == bool(others)
