"""Lathrop's formulations and one matrix a joint: the golden model, and the paper's counts."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.design.loading import load
from rbdgen.dynamics import lathrop
from rbdgen.dynamics.interface import from_columns, random_inputs, to_columns
from rbdgen.dynamics.program import program
from rbdgen.dynamics.scalars import FloatScalars
from rbdgen.dynamics.spatial import Scalars, add
from rbdgen.dynamics.steps import Inline
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.robot.canonical import canonicalize, stages
from rbdgen.robot.model import RobotError
from rbdgen.words.order import EXACT, run
from tests.support.random_robots import ALL_KINDS, random_robot
from tests.support.recorded import assert_same, inlined
from tests.support.traced import TOLERANCE, assert_golden, drawn, simplified, some_robot


@pytest.mark.parametrize("seed", range(6))
def test_one_matrix_a_joint(seed: int) -> None:
    """Of any tree, any joints, forces on every body."""
    robot = some_robot(seed, kinds=ALL_KINDS, fixed=0.2, mimic=0.2)
    canonical = canonicalize(robot)
    graph = trace(canonical, ["id"], formulation="linear", external_forces=canonical.moving)
    assert_golden(simplified(graph, canonical), robot, canonical, ["id"], seed)


@pytest.mark.parametrize("formulation", ["lathrop-linear", "lathrop-log"])
@pytest.mark.parametrize("joints", [1, 2, 5, 9])
def test_chains(formulation: str, joints: int) -> None:
    """Revolute and prismatic joints, whose Coriolis terms the paper's table misprints."""
    robot = random_robot(np.random.default_rng(joints), joints, branching=0.0, fixed=0.2)
    *_, (_, bodies) = stages(robot, bodies=True)
    graph = simplified(trace(bodies, ["id"], formulation=formulation), bodies)
    state = drawn(robot, joints)
    found = from_columns(evaluate(graph, to_columns(bodies, graph.inputs, state)), robot.nv)
    wanted = golden.rnea(robot, state["q"], state["qd"], state["qdd"])
    assert np.abs(found["tau"] - wanted).max() <= TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize("formulation", lathrop.FORMULATIONS)
@pytest.mark.parametrize("robot", ["pendulum", "iiwa14", "gantry"])
def test_visits(robot: str, formulation: str) -> None:
    """As they are recorded: the traced graph's values, and inlined its operations."""
    made = front_end(robot, functions=("id",), formulation=formulation)
    visits = program(made.canonical, made.graph, 4, formulation=formulation)
    assert_same(visits, made.graph, made.canonical)
    states = random_inputs(made.canonical, made.graph.inputs, 4, 3)
    found = run(EXACT, inlined(visits, made.graph), states).operations()
    wanted = made.graph.operations()
    wanted["mulc"] += wanted["sincos"]  # visits have angles in turns
    assert all(found[op] <= count for op, count in wanted.items())


@pytest.mark.parametrize("seed", range(3))
def test_visits_of_one_matrix_a_joint(seed: int) -> None:
    """Of any tree, joints of every kind, forces on every body: the traced graph's values."""
    rng = np.random.default_rng(40 + seed)
    robot = canonicalize(random_robot(rng, 5, ALL_KINDS, branching=0.6, mimic=0.6 * (seed % 2)))
    graph = trace(robot, ["id"], formulation="linear", external_forces=robot.moving)
    assert_same(program(robot, graph, 4, formulation="linear"), graph, robot)


@pytest.mark.parametrize("formulation", ["lathrop-linear", "lathrop-log"])
def test_refused(formulation: str) -> None:
    canonical = canonicalize(load("hyq")[1])
    with pytest.raises(RobotError, match="branches off; use logarithmic"):
        trace(canonical, ["id"], formulation=formulation)


@pytest.mark.parametrize("n", [2, 4, 6, 7, 8, 16])
def test_table_1(n: int) -> None:
    """The table's last rows, every number of a link being an input: operations in a row.

    Linear 2n+3 and 6n+7, as printed; Table 4 gives 6n+5 and, with the last dot product, one more
    multiplication. Logarithmic 2⌈log₂(n+1)⌉+5 and 6⌈log₂(n+1)⌉+10 are upper bounds of ours, whose
    base is at rest, so that it is no link of its own.
    """
    builder = Builder()
    links, a = _given(builder, n)
    inline, ops = Inline(FloatScalars()), Scalars()
    tau = [builder.lift(t) for t in lathrop.linear(inline, ops, links, a).tau]
    assert _in_a_row(tau, Op.MUL) == 2 * n + 4
    levels = n.bit_length()  # ⌈log₂(n+1)⌉
    tau = [builder.lift(t) for t in lathrop.logarithmic(inline, ops, links, a, lathrop.ONE)]
    assert _in_a_row(tau, Op.MUL) <= 2 * levels + 6
    assert _in_a_row(tau, Op.MUL) >= 2 * (levels - 1) + 4


def _given(builder: Builder, n: int) -> tuple[list[lathrop.LinkState], list[Node]]:
    def vector(name: str) -> list[Node]:
        return [builder.input(f"{name}{k}") for k in range(3)]

    links = []
    for i in range(n):
        A, J = ([vector(f"{m}{i}.{k}") for k in range(3)] for m in ("A", "J"))
        mass, rate, change = (builder.input(f"{name}{i}") for name in ("m", "v", "a"))
        p, r = vector(f"p{i}"), vector(f"r{i}")
        links.append(lathrop.LinkState(A, p, r, add(p, r), mass, J, rate, change))
    return links, vector("g")


def _in_a_row(results: list[Node], op: Op) -> int:
    depth: dict[Node, int] = {}
    stack = list(results)
    while stack:
        node = stack[-1]
        waiting = [a for a in node.args if a not in depth]
        stack += waiting
        if not waiting:
            stack.pop()
            depth[node] = max((depth[a] for a in node.args), default=0) + (node.op is op)
    return max(depth[node] for node in results)
