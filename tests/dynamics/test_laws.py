"""Controllers: the traced laws against the textbook's, on every shipped robot with a fixed base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rbdgen.api.reference import golden_model
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.front import trace as trace_design
from rbdgen.compile.samples import sample_states
from rbdgen.design.design import Design, canonical_of
from rbdgen.design.functions import FOLLOWING, LAWS
from rbdgen.design.gains import Gains, gains_of
from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.interface import to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Op
from rbdgen.robot.model import Array, Robot, RobotError
from rbdgen.words.word_errors import rounding

# Robots with joints of several coordinates: a free base, a plane.
REFUSED: dict[str, dict[str, Any]] = {"tiago_like": {}, "iiwa14": {"base": "floating"}}
ARMS = sorted({*shipped_robots()} - {"tiago_like"})
N = 100
State = dict[str, Array]


def states_of(design: Design, robot: Robot) -> State:
    """States in which every limit of a law is reached in some, and turns of endless joints."""
    near = sample_states(design, robot, N, 3)
    rng = np.random.default_rng(4)
    for name, size in (("q_ref", 5.0), ("qd_ref", 10.0), ("qdd_ref", 30.0)):
        far = near[name.removesuffix("_ref")] + rng.uniform(-size, size, (N, robot.nv))
        if name in near:
            near[name][N // 2 :] = far[N // 2 :]
    return near


def differs(graph: Graph, design: Design, read: Robot, canonical: Robot, states: State) -> float:
    """The largest difference from the textbook, over the largest effort."""
    found = evaluate(graph, to_columns(canonical, graph.inputs, states))
    zero = np.zeros(N)
    tau = np.stack([found.get(f"tau_c[{k}]", zero) for k in range(read.nv)], axis=1)
    right = golden_model(design, read, states)["tau_c"]
    return float(np.abs(tau - right).max() / np.abs(right).max())


@pytest.mark.parametrize("gains", ["constants", "inputs"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ARMS)
def test_every_arm(name: str, law: str, gains: str) -> None:
    rng = np.random.default_rng(len(name))
    numbers: dict[str, Any] = {"kd": rng.uniform(1, 50)}
    if law in FOLLOWING:
        numbers["kp"] = rng.uniform(10, 1000)
    design, read = load(name, functions=law, gains=gains, **numbers)
    canonical = canonical_of(design)(read)
    states = states_of(design, canonical)
    graph = trace_design(design, canonical)
    assert differs(graph, design, read, canonical, states) < 1e-12


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_joints_of_several_coordinates_are_refused(name: str) -> None:
    with pytest.raises(RobotError, match="a controller is of joints that turn or slide"):
        front_end(name, functions="computed-torque", **REFUSED[name])


def unlimited(values: Array) -> Array:
    return np.full_like(values, np.inf)


MUTANTS: dict[str, Callable[[Gains], Gains]] = {
    "a sign": lambda own: replace(own, kp=-own.kp),
    "another sign": lambda own: replace(own, kd=-own.kd),
    "joints swapped": lambda own: replace(own, kp=own.kp[::-1], kd=own.kd[::-1]),
    "no limit of e": lambda own: replace(own, error=unlimited(own.error)),
    "no limit of ė": lambda own: replace(own, rate=unlimited(own.rate)),
    "no limit of q̈": lambda own: replace(own, acceleration=unlimited(own.acceleration)),
    "no limit of τ": lambda own: replace(own, effort=unlimited(own.effort)),
    "never the shorter way": lambda own: replace(own, around=frozenset()),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_what_is_wrong_is_seen(mutant: str) -> None:
    """The comparison fails for one law at least where a law's numbers are those of a mutant."""
    worst = 0.0
    for law in LAWS:
        numbers: dict[str, Any] = {"kp": "200,elbow=100"} if law in FOLLOWING else {}
        design, read = load("pendulum", functions=law, kd="20,elbow=10", effort=8, **numbers)
        canonical = canonical_of(design)(read)
        gains = gains_of(design, canonical)
        assert gains is not None
        states = states_of(design, canonical)
        graph = trace(canonical, [law], law=gains)
        assert differs(graph, design, read, canonical, states) < 1e-12
        wrong = trace(canonical, [law], law=MUTANTS[mutant](gains))
        worst = max(worst, differs(wrong, design, read, canonical, states))
    assert worst > 1e-3


def test_no_effort_is_beyond_its_limit_whatever_comes_in() -> None:
    """By the last operation alone: of any words, and without an overflow."""
    front = front_end("pendulum", functions="computed-torque", effort="3,elbow=1.5", fit=False)
    (stage,) = compile_front(front).accelerator.stages.values()
    fixed = stage.fixed
    for name, limit in (("tau_c[0]", 3.0), ("tau_c[1]", 1.5)):
        node = fixed.graph.outputs[name]
        assert node.op is Op.SATURATE
        low, high = (end * 2.0 ** -fixed.formats[node].fraction for end in fixed.saturation(node))
        assert -limit <= low < 0 < high <= limit
        assert not fixed.overflowing(node)
    assert all(np.isfinite(list(rounding(fixed, dict.fromkeys(fixed.graph.nodes, 1.0)).values())))


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"functions": ("gravity", "impedance")}, "a design has one controller"),
        ({"functions": "gravity", "angles": "sincos"}, "takes errors of angles"),
        ({"functions": "id", "kp": 3}, "kp"),
        ({"functions": "gravity", "kp": 3}, "kp"),
        ({"functions": "id", "gains": "inputs"}, "gains"),
        ({"functions": "impedance", "kp": "2,wrist=3"}, "kp: the robot has no free joint"),
        ({"functions": "impedance", "kp": 1e30}, r"kp: a gain up to 1e\+09, not 1e\+30"),
        ({"functions": "gravity", "kd": "2,elbow=1e10"}, r"kd: a gain up to 1e\+09, not 1e\+10"),
    ],
)
def test_refusals(choices: dict[str, Any], line: str) -> None:
    with pytest.raises(RobotError, match=line):
        front_end("pendulum", **choices)


@pytest.mark.parametrize("gains", [{"kp": 1, "kd": 1}, {"kp": 1e9}])
def test_the_smallest_and_the_largest_gains_have_words(gains: dict[str, float]) -> None:
    """Sines are as fine as a unit makes them; what words cannot promise then is a note."""
    made = compile_front(front_end("pendulum", functions="impedance", ii=8, **gains))
    assert made.fixed.graph.outputs
    assert any(note.startswith("width: 18 bits, since error") for note in made.notes)


def test_the_shorter_way_round() -> None:
    """Of an endless joint from 3 rad to -3 rad: forwards, by 0.283 rad."""
    design, read = load("pendulum", functions="impedance", kp=1, kd=1)
    canonical = canonical_of(design)(read)
    graph = trace_design(design, canonical)
    still = np.zeros((1, 2))
    state = {"q": np.array([[3.0, 0.0]]), "q_ref": np.array([[-3.0, 0.0]])}
    state |= dict.fromkeys(("qd", "qd_ref", "qdd_ref"), still)
    at = evaluate(graph, to_columns(canonical, graph.inputs, state))
    held = evaluate(graph, to_columns(canonical, graph.inputs, state | {"q_ref": state["q"]}))
    assert at["tau_c[0]"] - held["tau_c[0]"] == pytest.approx(2 * np.pi - 6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("mode", ["constants", "inputs"])
def test_gains_that_come_in_and_gains_that_do_not(law: str, mode: str) -> None:
    design, robot = load("pendulum", functions=law, gains=mode)
    gains = gains_of(design, robot)
    assert gains is not None and gains.inputs == (mode == "inputs")
    graph = trace_design(design, canonical_of(design)(robot))
    names = {name.partition("[")[0] for name in graph.inputs}
    came = {"kd"} | ({"kp"} if law in FOLLOWING else set())
    assert names & {"kp", "kd"} == (came if mode == "inputs" else set())


def test_a_law_has_finer_words_than_the_dynamics() -> None:
    """Positions that saturations read have more bits than any multiplier's operand."""
    front = front_end("pendulum", functions="computed-torque", width=18, fit=False)
    (stage,) = compile_front(front).accelerator.stages.values()
    fixed = stage.fixed
    assert all(fixed.inputs[f"{of}[{k}]"].width > 21 for of in ("q", "q_ref") for k in (0, 1))
    products = [node for node in fixed.graph.nodes if node.op is Op.MUL]
    assert products and all(fixed.formats[a].width <= 18 for node in products for a in node.args)
    clipped = [node for node in fixed.graph.nodes if node.op is Op.SATURATE]
    by_bits = [node for node in clipped if fixed.saturates_by_bits(node)]
    # e and ė of each joint; the acceleration and τ have limits that are no powers of two
    assert (len(clipped), len(by_bits)) == (8, 4)
