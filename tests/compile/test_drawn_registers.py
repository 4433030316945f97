"""Designs with registers of robots drawn at random: another robot's words give its golden values.

Robots are placed obliquely or along axes, turn, slide and float; what a graph over registers
leaves out is zero in every robot of the structure, and no more.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import generate
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.front import of_bodies
from rbdgen.compile.words import sample_inputs
from rbdgen.design.design import canonical_of, no_defaults
from rbdgen.graph.fixed import parameter_words
from rbdgen.robot.model import JointKind, RobotError
from rbdgen.system.quoting import CHANGES
from rbdgen.words.wordlength import PrecisionError
from rbdgen_benchmarks.bench.falsify import falsify
from rbdgen_benchmarks.compare.integer_errors import integer_errors
from tests.support.another_robot import any_of_model
from tests.support.as_urdf import written
from tests.support.coordinates import worst_of
from tests.support.marks import slow
from tests.support.random_robots import ALL_KINDS, SINGLE, random_robot
from tests.support.register_designs import compare

ONE = [JointKind.REVOLUTE]
FREE = [JointKind.FLOATING, JointKind.PRISMATIC]
DRAWN: list[tuple[int, int, Any, str]] = [  # seed, joints, kinds, function
    (0, 1, ONE, "id"),
    (1, 1, ONE, "did"),
    (2, 2, SINGLE, "fd"),
    (3, 3, SINGLE, "did"),
    (4, 3, SINGLE, "id"),
    (5, 1, FREE[:1], "id"),
    (6, 2, FREE, "id"),
    (7, 1, FREE[:1], "fd"),
    (8, 2, ALL_KINDS, "nle"),
    (9, 2, ALL_KINDS, "m"),
    (10, 3, ALL_KINDS, "id"),
    (12, 2, ONE, "difd"),
]
LEAST = 1e-5  # of entries that registers hold alone, whose rounding is their own
REGISTERS: dict[str, Any] = {"parameters": "registers", "width": 18, "fit": False}


@pytest.mark.parametrize(("seed", "joints", "kinds", "function"), DRAWN)
def test_another_robot_in_reals_and_in_words(
    seed: int, joints: int, kinds: Any, function: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    file = written(random_robot(rng, joints, kinds), tmp_path)
    front = front_end(str(file), functions=(function,), **REGISTERS)
    others = [any_of_model(front.robot, front.design.tolerance, rng) for _ in range(2)]
    for robot in (front.robot, *others):
        compare(front, robot)
    core, held = compile_front(front), front.parameters
    assert held is not None
    own = integer_errors(core, 300)
    assert own.overflows == 0
    for robot in others:
        canonical = canonical_of(front.design, of_bodies(front.design))(robot)
        reals = held.of(canonical)
        held.refuse_beyond(robot.name, reals)
        words = parameter_words(core.graphs, reals)
        other = replace(core, held=words, front=replace(front, robot=robot, canonical=canonical))
        found = integer_errors(other, 300)
        assert found.overflows == 0
        errors = worst_of(own.coordinates)
        for array, error in worst_of(found.coordinates).items():
            assert error < max(2 * errors[array], LEAST)


@pytest.mark.parametrize(("seed", "joints", "kinds", "function"), [slow(DRAWN[2]), DRAWN[5]])
def test_cpp_of_other_robots(
    seed: int, joints: int, kinds: Any, function: str, tmp_path: Path
) -> None:
    """Its example gives what the graph does, of states each of which is another robot's."""
    file = written(random_robot(np.random.default_rng(seed), joints, kinds), tmp_path)
    made = generate(str(file), tmp_path / "made", to="cpp", functions=(function,), **REGISTERS)
    place = made.folder
    sources = [str(source) for source in sorted(place.glob("*.cpp"))]
    command = ["g++", "-O0", "-x", "c", str(place / "example.c"), "-x", "c++", *sources]
    subprocess.run([*command, "-o", str(place / "example")], check=True)
    check = [place / "example", "--check", place / "expected.txt", place / "states.txt"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_attack_is_on_the_robots_of_the_model() -> None:
    """Whatever a robot of the model has in its registers is among the states that are searched."""
    front = front_end("pendulum", **REGISTERS)
    core, domain = compile_front(front), sample_inputs(front).domain
    assert domain is not None
    found = falsify(core.fixed, domain, 40, 1)
    assert found.signals
    assert not found.flagged
    assert 0.5 < found.nearest <= 1


def test_what_a_word_has_no_room_for_is_refused(tmp_path: Path) -> None:
    file = written(random_robot(np.random.default_rng(7), 1, FREE[:1]), tmp_path)
    held = front_end(str(file), functions=("fd",), **REGISTERS).parameters
    assert held is not None
    reals = held.nominal | {"parameter[1]": 2 * held.limits["parameter[1]"][1]}
    held.refuse_beyond("own", held.nominal)
    with pytest.raises(RobotError, match=r"other: parameter\[1\] is .* generate with a larger"):
        held.refuse_beyond("other", reals)


def test_words_of_18_bits_where_none_keep_the_error(tmp_path: Path) -> None:
    """Unless the error was asked for; the design's own choices stay what they were."""
    file = str(written(random_robot(np.random.default_rng(7), 1, FREE[:1]), tmp_path))
    choices: dict[str, Any] = {"functions": ("fd",), "parameters": "registers", "fit": False}
    front = front_end(file, **choices)
    core = compile_front(front)
    assert (core.design.error, core.fixed.width) == (None, 18)
    (note,) = (note for note in core.notes if note.startswith("width: 18 bits, since error 0.001"))
    assert "of qdd[" in note and note.endswith(CHANGES)
    assert no_defaults(core.design) == no_defaults(front.design)
    with pytest.raises(PrecisionError, match="is reached; a larger --error, or a --width"):
        compile_front(front_end(file, error=1e-3, **choices))
