"""The whole compiler: what it refuses before it works for hours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.facts import design_facts
from rbdgen.compile import front as front_module
from rbdgen.compile.flow import Front, compile_front, fixed_point, front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.design.target import TARGETS
from rbdgen.dynamics.trace import trace
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.text import to_text
from rbdgen.robot.canonical import rewrites
from rbdgen.robot.model import Robot, RobotError
from rbdgen.words.input_domain import InputDomain
from rbdgen_benchmarks.bench.chains import chain_urdf
from tests.support.made import accelerate


@pytest.mark.parametrize("function", ["m", "did"])
def test_large_matrices_are_refused(function: str, tmp_path: Path) -> None:
    (tmp_path / "chain.urdf").write_text(chain_urdf(142))
    with pytest.raises(RobotError, match=f"chain: {function}: 10153 entries of a matrix, of 10000"):
        front_end(str(tmp_path / "chain.urdf"), functions=("id", function))


def test_front_ends_trace_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of rewrites, of one more trace for each rewrite that changes something, is for
    those who ask for it. In the pendulum no link is fixed and no angle snapped."""
    traced: list[str] = []

    def counted(robot: Robot, *args: Any, **choices: Any) -> Graph:
        traced.append(robot.name)
        return trace(robot, *args, **choices)

    monkeypatch.setattr("rbdgen.compile.front.trace_functions", counted)
    front = front_end("pendulum")
    assert len(traced) == 1
    names = [name for name, _ in front.rewrites]
    assert names == ["as read", *(name for name, _ in rewrites()), "identities", "factor"]
    assert front.rewrites[-1][1] == front.graph.operations()
    assert len(traced) == 1 + len(rewrites()) - len(["merge_fixed", "align_axes"])
    assert len({str(count) for _, count in front.rewrites[:3]}) == 1


def test_the_part_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after the front end takes the front's, whatever the design calls it."""
    front = front_end("pendulum")
    monkeypatch.setitem(TARGETS, front.design.target, None)  # whose every use fails
    facts = design_facts(compile_front(front))
    assert facts.initiation_interval == 1 and facts.estimated
    few = replace(front, target=replace(front.target, multipliers=6))
    assert compile_front(few).plan.multipliers <= 6


@pytest.mark.parametrize("accelerator", [False, True])
def test_states_are_drawn_once(accelerator: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many designs are tried for the fastest that fits."""
    drawn: list[Front] = []

    def counted(front: Front) -> InputDomain:
        drawn.append(front)
        return sample_inputs(front)

    monkeypatch.setattr("rbdgen.compile.words.sample_inputs", counted)
    monkeypatch.setattr("rbdgen.compile.fixed_functions.sample_inputs", counted)
    small = replace(TARGETS["ecp5-25f"], multipliers=6)
    monkeypatch.setitem(TARGETS, "ecp5-25f", small)
    if accelerator:
        accelerate("pendulum", functions=("id", "m"), target="ecp5-25f")
    else:
        compile_front(front_end("pendulum", target="ecp5-25f"))
    assert len(drawn) == 1


def words_and_flags(fixed: FixedGraph, tasks: int = 200) -> list[list[int]]:
    """Results of words anywhere in their formats, and how many tasks overflow each node."""
    rng = np.random.default_rng(4)
    ends = {name: (word.lowest, word.highest) for name, word in fixed.inputs.items()}
    drawn = {name: rng.integers(*end, tasks, endpoint=True) for name, end in ends.items()}
    found = evaluate_fixed(fixed, drawn)
    outputs = [words.tolist() for words in found.outputs.values()]
    return [*outputs, [int(flags.sum()) for flags in found.overflowed.values()]]


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("pendulum", {"functions": ("id", "fd")}),
        ("pendulum", {"error": 1e-4, "ii": 3}),
        ("iiwa14", {"width": 20}),
    ],
)
def test_fixed_point_is_what_the_core_computes(robot: str, choices: dict[str, Any]) -> None:
    """Where nothing is time-multiplexed, the words come without a schedule and are the core's."""
    front = front_end(robot, fit=False, **choices)
    alone, core = fixed_point(front), compile_front(front).fixed
    assert to_text(alone) == to_text(core)
    formats = [[fixed.formats[node] for node in fixed.graph.nodes] for fixed in (alone, core)]
    assert formats[0] == formats[1] and alone.inputs == core.inputs
    results = words_and_flags(alone)
    assert results == words_and_flags(core) and results[-1]


def test_fixed_point_refuses_what_a_core_does(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="accelerator: this evaluates"):
        fixed_point(front_end("pendulum", accelerator=True))
    (tmp_path / "still.urdf").write_text('<robot name="still"><link name="a"/></robot>')
    with pytest.raises(RobotError, match="still: no joint moves"):
        fixed_point(front_end(str(tmp_path / "still.urdf")))


def test_info_of_a_large_robot_has_no_search_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same interval, multipliers and nearly the same cells as the design that is generated."""
    choices = {"accelerator": True, "functions": ("id", "m"), "ii": 4, "target": "ecp5-85f"}
    searched = api.info("pendulum", **choices)
    monkeypatch.setattr(front_module, "LARGE", 1)
    said: list[str] = []
    found = api.info("pendulum", said.append, **choices)
    assert not any("ascent" in line for line in said)
    assert any("ranges: from states at random" in note for note in found["notes"])
    assert not any("at random" in note for note in searched["notes"])
    assert found["multipliers"] == searched["multipliers"]
    assert found["estimated"]["luts"] == pytest.approx(searched["estimated"]["luts"], rel=0.1)
