"""Pipelines of integer algorithms: what the units' own tests, of every bit, do not see."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Signal, signed

from rbdgen.graph.algorithm import Do, Draft
from rbdgen.graph.reciprocal import ScaleAlgorithm
from rbdgen.rtl.pipeline import HARDWARE, StepPipeline
from rbdgen.schedule.units import shifting
from tests.support.simulated import streamed


def test_every_step_is_hardware() -> None:
    assert set(HARDWARE) == set(Do)


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_values_of_several_cycles_have_to_meet() -> None:
    draft = Draft()
    x = draft.input("x", 4)
    (late,) = draft.stage(x)
    word = Signal(signed(4))
    with pytest.raises(ValueError, match=r"add of what is there in cycles \[0, 1\]"):
        StepPipeline(Module()).build(draft.finish(y=draft.add(x, late)), x=word)
    draft = Draft()
    x = draft.input("x", 4)
    (late,) = draft.stage(x)
    total = draft.add(
        *draft.meet(x, late),
    )
    pipe, algorithm = StepPipeline(Module()), draft.finish(y=total)
    pipe.build(algorithm, x=word)
    assert pipe.cycle[algorithm.outputs["y"]] == 1


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
@pytest.mark.parametrize("steps", [1, 2, 3, 6])
def test_shifts_take_the_cycles_that_schedules_give_them(steps: int) -> None:
    algorithm = ScaleAlgorithm(18, 3, -5, steps).algorithm
    x, k = (Signal(signed(algorithm.inputs[name].width)) for name in ("x", "k"))
    pipe = StepPipeline(Module(), name="s")
    pipe.build(algorithm, x=x, k=k)
    assert pipe.cycle[algorithm.outputs["scaled"]] == len(shifting(steps))


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_shifts_are_by_as_many_places_as_they_say(steps: int) -> None:
    """Of words of either sign, one in every cycle."""
    draft = Draft()
    x, places = draft.input("x", 9), draft.bits(draft.input("places", steps), 0, steps)
    pipe, algorithm = StepPipeline(Module(), name="s"), draft.finish(y=draft.shift(x, places))
    word, k = Signal(signed(9)), Signal(signed(steps))
    y = pipe.build(algorithm, x=word, places=k)["y"]
    words = [(x, own) for own in range(1 << steps) for x in (-256, -77, -1, 0, 5, 255)]
    latency = pipe.cycle[algorithm.outputs["y"]]
    found = streamed(pipe.m, (word, k), words, (y,), latency)
    assert found == [[x >> own] for x, own in words]
