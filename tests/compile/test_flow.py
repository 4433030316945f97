"""The whole compiler: what it refuses before it works for hours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rbdgen.api.facts import number_facts
from rbdgen.bench.chains import chain_urdf
from rbdgen.compile.accelerate import accelerate
from rbdgen.compile.flow import Front, compile_core, front_end, sample_inputs, trace
from rbdgen.design.design import Design
from rbdgen.design.target import TARGETS
from rbdgen.graph.graph import Graph
from rbdgen.passes.given import Given
from rbdgen.robot.canonical import rewrites
from rbdgen.robot.model import Robot, RobotError


@pytest.mark.parametrize("function", ["m", "did"])
def test_large_matrices_are_refused(function: str, tmp_path: Path) -> None:
    (tmp_path / "chain.urdf").write_text(chain_urdf(142))
    with pytest.raises(RobotError, match=f"chain: {function}: 10153 entries of a matrix, of 10000"):
        front_end(str(tmp_path / "chain.urdf"), functions=("id", function))


def test_front_ends_trace_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of rewrites, of one more trace for each rewrite, is for those who ask for it."""
    traced: list[str] = []

    def counted(design: Design, robot: Robot) -> Graph:
        traced.append(robot.name)
        return trace(design, robot)

    monkeypatch.setattr("rbdgen.compile.flow.trace", counted)
    front = front_end("pendulum")
    assert len(traced) == 1
    names = [name for name, _ in front.rewrites]
    assert names == ["as read", *(name for name, _ in rewrites()), "identities", "factor"]
    assert front.rewrites[-1][1] == front.graph.operations()
    assert len(traced) == 1 + len(rewrites())


def test_the_part_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after the front end takes the front's, whatever the design calls it."""
    front = front_end("pendulum")
    monkeypatch.delitem(TARGETS, front.design.target)
    facts = number_facts(compile_core(front))
    assert facts["initiation_interval"] == 1 and facts["estimated"]
    few = replace(front, target=replace(front.target, multipliers=6))
    assert compile_core(few).plan.multipliers <= 6


@pytest.mark.parametrize("accelerator", [False, True])
def test_states_are_drawn_once(accelerator: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many designs are tried for the fastest that fits."""
    drawn: list[Front] = []

    def counted(front: Front) -> Given:
        drawn.append(front)
        return sample_inputs(front)

    monkeypatch.setattr("rbdgen.compile.flow.sample_inputs", counted)
    monkeypatch.setattr("rbdgen.compile.accelerate.sample_inputs", counted)
    small = replace(TARGETS["ecp5-25f"], multipliers=6)
    monkeypatch.setitem(TARGETS, "ecp5-25f", small)
    if accelerator:
        accelerate("pendulum", functions=("id", "m"), target="ecp5-25f")
    else:
        compile_core(front_end("pendulum", target="ecp5-25f"))
    assert len(drawn) == 1
