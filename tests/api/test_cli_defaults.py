"""What ``--help`` says of defaults is what the code does."""

import argparse
import re
from dataclasses import MISSING, fields

import pytest

from rbdgen.api import exploration_points
from rbdgen.cli.options import DEFAULTS
from rbdgen.cli.parser import parser
from rbdgen.design.choices import WIDTHS
from rbdgen.design.design import Design
from rbdgen.design.options import OPTIONS
from rbdgen.system.quoting import listed
from rbdgen_benchmarks.compare import comparison, peers

# ``auto (default)``, ``(default: 18)``
SAID = re.compile(r"([\w-]+) \(default[,)]|default: ([\w.-]*\w)")
PLAIN = {
    field.name: field.default
    for field in fields(Design)
    if field.default is not MISSING and type(field.default) in (int, float, str)
}
IN_ORDER = "order"  # an option without a value, which says the other order


def options(command: str) -> dict[str, argparse.Action]:
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {action.dest: action for action in commands.choices[command]._actions}


@pytest.mark.parametrize("key", [key for key in PLAIN if key != IN_ORDER])
def test_choices_of_a_design(key: str) -> None:
    text = options("generate")[key].help
    assert text is not None
    (said,) = {"".join(both) for both in SAID.findall(text)}
    value = PLAIN[key]
    assert (said if isinstance(value, str) else float(said)) == value


def test_functions() -> None:
    assert Design("").functions == ("id",)
    assert OPTIONS["functions"].usual.endswith(" id")


def test_compare() -> None:
    said = DEFAULTS["compare"]
    assert said["target"] == comparison.TARGET
    assert said["functions"].startswith(listed(peers.CONVENTIONS["functions"]))
    assert listed(peers.GRADIENTS) in said["angles"]
    assert said["angles"].startswith(peers.CONVENTIONS["angles"])
    assert said["gravity"].startswith(" ".join(f"{x:g}" for x in peers.CONVENTIONS["gravity"]))
    assert said["ii"].startswith(listed(map(str, comparison.INTERVALS)))


def test_explore() -> None:
    said, formulation = DEFAULTS["explore"], exploration_points.AXES[0]
    first, *others = exploration_points.INTERVALS[5:]
    assert exploration_points.INTERVALS[:6] == tuple(range(1, first + 1))
    assert said["ii"].startswith(f"1 to {first}, {', '.join(map(str, others))} where ")
    assert said["formulation"].startswith(listed(formulation.values))
    text = options("explore")["widths"].help
    assert text is not None
    assert "{} to {}".format(*WIDTHS) in text
