"""A pass that repeats another computes what is another there, and reads the rest."""

from __future__ import annotations

from rbdgen.dynamics.recording import Recorder, Repeating
from rbdgen.dynamics.scalars import Scalar
from rbdgen.dynamics.steps import Runner, TaskInput, times
from rbdgen.graph.visits import Program, Scaled, Visit, VisitResult

Moving = tuple[Scalar, Scalar]  # a velocity, an acceleration


def _moved(before: Moving, rate: Scalar, change: Scalar) -> Moving:
    v, a = before
    return v * rate, a * rate + v * change


def _force(moving: Moving, mass: Scalar) -> Scalar:
    v, a = moving
    return mass * a + v * v


def passed(run: Runner, changes: list[Scalar], by: float = 1.0) -> list[Scalar]:
    """A force for each of three joints; ``by``: of their masses."""
    moving: Moving = (1.0, 1.0)
    forces = []
    for i, change in enumerate(changes):
        visit, here = Visit("out", (i,)), ("forward", i)
        moving = run(visit, here, _moved, moving, TaskInput(f"v[{i}]"), change)
        forces.append(run(visit, here, _force, moving, by * 2.0**i))
    return forces


def twice(changes: list[Scalar], by: float = 1.0) -> Program:
    run = Recorder()
    first = passed(run, [TaskInput(f"a[{i}]") for i in range(3)])
    again = passed(Repeating(run, "_again"), changes, by)
    found = {f"f[{i}]": x for i, x in enumerate(first)}
    return run.program({**found, **{f"g[{i}]": x for i, x in enumerate(again)}})


def test_velocities_are_read() -> None:
    """Of the first pass, of the joint before and of its own: a product in five is saved."""
    made = twice([TaskInput("b"), times(TaskInput("b"), 2.0), 0.5])
    assert made.templates["out"].operations()["mul"] == 5
    assert made.templates["out_again"].operations()["mul"] == 4
    first, last = (Visit("out_again", (i,)) for i in (0, 2))
    read = {s for s in made.reads[last].values() if isinstance(s, VisitResult)}
    before = {VisitResult(Visit("out", (i,)), "moved0.0") for i in (1, 2)}
    assert before < read
    assert read - before == {VisitResult(Visit("out_again", (1,)), "moved0.1")}
    assert Scaled("b", 2.0) in made.reads[Visit("out_again", (1,))].values()
    assert VisitResult(Visit("out", (0,)), "moved0.0") in made.reads[first].values()


def test_what_is_the_same_in_all_visits_is_not_repeated() -> None:
    made = twice([TaskInput(f"a[{i}]") for i in range(3)])
    assert set(made.templates) == {"out"}
    assert all(made.outputs[f"f[{i}]"] == made.outputs[f"g[{i}]"] for i in range(3))


def test_what_differs_in_one_visit_is_repeated_in_all() -> None:
    """The first joint's acceleration is the same, and computed again: visits are alike."""
    made = twice([TaskInput("a[0]"), TaskInput("b"), TaskInput("a[2]")])
    assert len(made.of("out_again")) == 3


def test_steps_that_take_another_constant() -> None:
    made = twice([TaskInput(f"a[{i}]") for i in range(3)], by=4.0)
    assert {name: g.operations()["mul"] for name, g in made.templates.items()} == {
        "out": 5,
        "out_again": 2,
    }
