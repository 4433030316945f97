"""Time-multiplexed limbs: a plan that breaks a rule is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.node import Op
from rbdgen.graph.verify import verify_fixed
from rbdgen.graph.visits import LIMB, Visit, VisitResult, in_turn
from rbdgen.schedule.channels import plan
from rbdgen.schedule.difference_constraints import ScheduleError
from rbdgen.schedule.limbs import LimbPlan, in_limbs, verify_limbs
from rbdgen.schedule.pipelined import schedule
from rbdgen.schedule.units import bind
from rbdgen.words.instances import instantiate
from tests.support.notation import graph

FIRST, SECOND = Visit(LIMB, (0,)), Visit(LIMB, (1,))


@cache
def made() -> LimbPlan:
    """A sum, of two limbs, the second one a mirror image."""
    real = graph(z="x + y")
    word = Format(18, 12)
    formats = {n: word if n.op is Op.INPUT else Format(19, 12) for n in real.nodes}
    template = verify_fixed(FixedGraph(real, {"x": word, "y": word}, formats, 18))
    limbs = [
        ({name: (f"{name}{k}", sign) for name in "xy"}, {"z": (f"z{k}", sign)})
        for k, sign in enumerate((1.0, -1.0))
    ]
    target = find_target("ecp5-25f")
    one = plan(schedule(template, bind(template, target), target))
    return in_limbs(one, instantiate(in_turn(real, limbs), {LIMB: template}))


def broken(good: LimbPlan, rule: str) -> LimbPlan:
    """The plan with one rule broken."""
    program, real = good.program, good.program.real
    reads = real.reads[SECOND]
    match rule:
        case "another graph":
            other = replace(program.template, width=17)
            return replace(good, program=replace(program, templates={LIMB: other}))
        case "another's results":
            own = {**reads, "x": VisitResult(FIRST, "z")}
            return _of(good, reads={**real.reads, SECOND: own})
        case "has a source":
            return _of(good, reads={**real.reads, SECOND: {"x": reads["x"]}})
        case "no limb gives it":
            return _of(good, outputs={"z0": real.outputs["z0"]})
    copies = {FIRST: program.copies[FIRST], SECOND: dict(program.copies[SECOND])}
    total = program.template.graph.outputs["z"]
    formats = {**good.whole.formats, copies[SECOND][total]: Format(18, 12)}
    whole = replace(good.whole, formats=formats)
    return replace(good, program=replace(program, whole=whole))


def _of(good: LimbPlan, **changes: object) -> LimbPlan:
    real = replace(good.program.real, **changes)  # type: ignore[arg-type]
    return replace(good, program=replace(good.program, real=real))


@pytest.mark.parametrize(
    "rule",
    [
        "another graph",
        "another's results",
        "has a source",
        "no limb gives it",
        "not the datapath's",
    ],
)
def test_the_verifier_sees_each_broken_rule(rule: str) -> None:
    assert verify_limbs(made()) is made()
    with pytest.raises(ScheduleError, match=rule):
        verify_limbs(broken(made(), rule))
