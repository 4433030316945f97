"""Trajectories found with gradients in words: the solver, the words, the tasks, the sweep."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import Format
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen_benchmarks.bench.ilqr import KNOTS, STEP, Points, Robotics, Tasks, solve
from rbdgen_benchmarks.bench.trajectories import EIGHT, POSTURE, arm, eight, legs, tool
from rbdgen_benchmarks.reproduce.one_point import evaluate_one_point
from rbdgen_benchmarks.reproduce.word_choices import (
    ONE_POINT,
    ONE_WIDTH,
    PROMISED,
    Choice,
    Size,
    fewest_bits,
)
from rbdgen_benchmarks.reproduce.word_gradients import OnePoint, PerSignal
from rbdgen_benchmarks.reproduce.word_sweep import (
    HEAD,
    LATER,
    WITHIN,
    Row,
    cells,
    drawn,
    enough,
    near,
)

ROBOTS = Path(__file__).parents[3] / "robots"


def masses() -> tuple[Tasks, Robotics]:
    """Two unit masses, which are to be elsewhere at the end: a quadratic problem."""
    rng = np.random.default_rng(1)
    weights = np.full((3, KNOTS, 4), 1e-2)
    weights[:, -1] = 100.0
    aims = np.zeros((3, KNOTS, 4))
    aims[:, :, :2] = rng.uniform(-1, 1, (3, 1, 2))
    start = rng.uniform(-1, 1, (3, 4))
    tasks = Tasks(("a", "b", "c"), start, aims, weights, np.zeros((3, 1, 2)), 1e-2)
    return tasks, Robotics(lambda q, qd, tau: tau, lambda q: np.tile(np.eye(2), (len(q), 1, 1)))


def none(at: Points) -> tuple[np.ndarray, np.ndarray]:
    zero = np.zeros((len(at.q), 2, 2))
    return zero, zero


def test_a_quadratic_problem_takes_one_step_to_its_optimum() -> None:
    """The optimum is that of least squares over all efforts together."""
    tasks, robotics = masses()
    found = solve(tasks, robotics, none, 20)
    last = 2 * (KNOTS - 1)
    F = np.block([[np.eye(2), STEP * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
    B = np.concatenate([STEP**2 * np.eye(2), STEP * np.eye(2)])
    for task, costs in enumerate(found.costs):
        x, rows, rights = (
            tasks.start[task],
            [np.sqrt(tasks.effort) * np.eye(last)],
            [np.zeros(last)],
        )
        of_efforts = np.zeros((4, last))
        for k in range(KNOTS):
            scale = np.sqrt(tasks.weights[task, k])
            rows.append(scale[:, None] * of_efforts)
            rights.append(scale * (tasks.aims[task, k] - x))
            if k < KNOTS - 1:
                x, of_efforts = F @ x, F @ of_efforts
                of_efforts[:, 2 * k : 2 * k + 2] += B
        _, residue, *_ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(rights))
        assert costs[1] == pytest.approx(0.5 * residue[0], rel=1e-6)
        assert costs[-1] == pytest.approx(0.5 * residue[0], rel=1e-9)


def test_gradients_that_are_no_use() -> None:
    """NaN and wrong signs: the search ends, no cost rises, the largest rates are finite."""
    tasks, robotics = masses()
    for wrong in (np.nan, 1e9, -1e9):

        def gradient(at: Points, wrong: float = wrong) -> tuple[np.ndarray, np.ndarray]:
            return none(at)[0] + wrong, none(at)[0] + wrong

        found = solve(tasks, robotics, gradient, 60)
        assert np.isfinite(found.largest).all()
        for costs in found.costs:
            assert list(costs) == sorted(costs, reverse=True)
            assert len(costs) < 60  # given up


def test_one_point_rounds_and_saturates() -> None:
    builder = Builder()
    a, b = builder.input("a"), builder.input("b")
    outputs = {
        "product": builder.mul(a, b),
        "sum": builder.add(a, b),
        "half": builder.mul(0.5, a),
        "third": builder.mul(1 / 3, a),
        "recip": builder.recip(b),
    }
    word = Format(8, 4)  # −8 to 7.9375 in sixteenths
    given = {"a": np.array([1.03125, 7.0, -7.0, 0.0625]), "b": np.array([0.5, 7.0, 7.0, -1.0])}
    found, saturated = evaluate_one_point(Graph(("a", "b"), outputs), word, given)
    assert found["product"].tolist() == [0.5625, 7.9375, -8.0, -0.0625]
    assert found["sum"].tolist() == [1.5625, 7.9375, 0.0, -0.9375]
    assert found["half"].tolist() == [0.5625, 3.5, -3.5, 0.0625]
    assert found["third"].tolist() == [0.3125, 2.1875, -2.1875, 0.0]  # by 5/16
    assert found["recip"].tolist() == [2.0, 0.125, 0.125, 7.9375]
    assert saturated == 2  # product and sum; of what is not positive the reciprocal is the largest


def test_one_point_of_many_bits_is_the_graph() -> None:
    front = front_end("pendulum", functions=("dfd",))
    given = random_inputs(front.canonical, front.graph.inputs, 20, 1)
    exact = evaluate(front.graph, given)
    found, _ = evaluate_one_point(front.graph, Format(32, 16), given)
    for name, values in exact.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-3, atol=2e-2, err_msg=name)


def test_words_have_the_gradients_of_the_golden_model() -> None:
    front = front_end("pendulum", functions=("difd",), velocity=4.0, acceleration=40.0)
    robot, rng = front.robot, np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-1, 1, (3, 50, robot.nv)) * np.array([1.0, 4.0, 20.0])[:, None, None]
    tau = golden.rnea(robot, q, qd, qdd)
    at = Points(q, qd, qdd, tau, golden.minv(robot, q))
    exact = golden.aba_derivatives(robot, q, qd, tau)
    words = PerSignal(front, sample_inputs(front), Choice(width=24), lambda _: None)
    point = OnePoint(front, 12, 16)
    for found, real in zip(
        (*words(at), *point(at)), 2 * (exact.dqdd_dq, exact.dqdd_dqd), strict=True
    ):
        np.testing.assert_allclose(found, real, atol=2e-3 * np.abs(real).max())
    assert (words.counts.clipped, words.counts.overflowed, point.counts.overflowed) == (0, 0, 0)
    far = Points(q, 3 * qd, qdd, tau, at.Minv)
    words(far)
    assert words.counts.clipped == np.count_nonzero(np.abs(3 * qd) > 4.0)


def test_the_tool_runs_a_figure_eight() -> None:
    pin = pytest.importorskip("pinocchio")
    robot = front_end("iiwa14", functions=("id",)).robot
    path = tool(robot, eight(robot))
    about = path - tool(robot, POSTURE[None])
    turn = np.linspace(0, 2 * np.pi, KNOTS)
    shape = np.stack([np.sin(2 * turn), np.sin(turn), 1 - np.cos(turn)], axis=1)
    np.testing.assert_allclose(about, EIGHT * shape, atol=1e-3)
    model = pin.buildModelFromUrdf(str(ROBOTS / "iiwa14.urdf"))
    data = model.createData()
    for q, at in zip(eight(robot)[::20], path[::20], strict=True):
        pin.forwardKinematics(model, data, q)
        np.testing.assert_allclose(data.oMi[7].act(np.array([0, 0, 0.1])), at, atol=1e-9)


def test_diagonal_legs_swing_in_turn() -> None:
    robot = front_end("hyq", functions=("id",)).robot
    tasks = legs(robot, 2)
    knee = {name[:2]: tasks.aims[0, :, k] for k, name in enumerate(robot.joint_names) if k % 3 == 2}
    bent = {leg: own < own.max() - 1e-6 for leg, own in knee.items()}
    np.testing.assert_array_equal(bent["lf"], bent["rh"])
    np.testing.assert_array_equal(bent["rf"], bent["lh"])
    assert not (bent["lf"] & bent["rf"]).any()
    assert bent["lf"].sum() > KNOTS // 3


def test_words_of_an_error_keep_it() -> None:
    """By the golden model, each row of both matrices at the limits, in states of the test's own."""
    front = front_end("pendulum", functions=("difd",), velocity=4.0, acceleration=40.0)
    robot, rng = front.robot, np.random.default_rng(3)
    given, scales = sample_inputs(front), np.array([np.pi, 4.0, 40.0])
    q, qd, qdd = rng.uniform(-1, 1, (3, 2000, robot.nv)) * scales[:, None, None]
    tau = golden.rnea(robot, q, qd, qdd)
    at = Points(q, qd, qdd, tau, golden.minv(robot, q))
    exact = golden.aba_derivatives(robot, q, qd, tau)
    bits = []
    for error in (1e-1, 1e-2, 1e-3):
        words = PerSignal(front, given, Choice(error=error), lambda _: None)
        for found, real in zip(words(at), (exact.dqdd_dq, exact.dqdd_dqd), strict=True):
            off, own = (np.sqrt((x**2).mean(0).sum(-1)) for x in (found - real, real))
            assert (off <= error * own).all()
        assert words.size.error is not None
        assert 0.5 * error < words.size.error <= error
        bits.append(words.size.bits)
    assert bits == sorted(bits)
    wide = PerSignal(front, given, Choice(width=18), lambda _: None).size
    assert wide.bits > bits[-1]
    assert wide.widest >= 18


def test_the_fewest_bits_from_which_on_all_are_good() -> None:
    tried = [(8.0, "a"), (10.0, "b"), (12.0, "c"), (12.0, "d"), (14.0, "e")]
    assert fewest_bits(tried, lambda own: own in "bde") == "b"
    assert fewest_bits(tried, lambda own: own in "abe") == "e"
    assert fewest_bits(tried, lambda own: own in "abcd") is None


@pytest.mark.slow
def test_words_take_an_arm_where_float64_takes_it() -> None:
    """Three reaches and the eight."""
    front = front_end("iiwa14", functions=("difd",), velocity=10.0, acceleration=800.0)
    tasks, robot = arm(front.robot, range(3)), front.robot

    def exact(at: Points) -> tuple[np.ndarray, np.ndarray]:
        found = golden.aba_derivatives(robot, at.q, at.qd, at.tau)
        return found.dqdd_dq, found.dqdd_dqd

    robotics = Robotics(
        lambda q, qd, tau: golden.aba(robot, q, qd, tau), lambda q: golden.minv(robot, q)
    )
    best = solve(tasks, robotics, exact, 40)
    targets = np.array([min(costs) * (1 + WITHIN) for costs in best.costs])
    after = [near(costs, min(costs)) for costs in best.costs]
    assert after == [2, 10, 7, 8]
    given = sample_inputs(front)
    for choice in (Choice(error=1e-4), Choice(width=18)):
        words = PerSignal(front, given, choice, lambda _: None)
        found = solve(tasks, robotics, words, 40, targets)
        for own, float64, costs in zip(best.costs, after, found.costs, strict=True):
            taken = near(costs, min(own))
            assert taken is not None
            assert float64 is not None
            assert abs(taken - float64) <= LATER, str(choice)


def test_tables_and_picture() -> None:
    def row(kind: str, words: str, bits: float, in_time: int, more: int = 0) -> Row:
        """So many of four tasks in time, the rest solved later."""
        known = kind != ONE_POINT
        size = Size(bits, 20, 10 if known else None, 1e-3 if known else None)
        changes = (more,) * in_time + (LATER + 1,) * (4 - in_time)
        return Row("arm", "difd", kind, words, size, (3,) * 4, changes, 0.01, 0, 0)

    rows = [row(ONE_WIDTH, f"{bits} bits", bits, min(4, bits - 14)) for bits in (14, 16, 18, 20)]
    rows += [
        row(PROMISED, f"error {e:g}", b, n, -2) for e, b, n in ((0.1, 9.1, 1), (0.01, 11.8, 4))
    ]
    rows += [row(ONE_POINT, *own) for own in (("Q8.8", 16, 0), ("Q12.4", 16, 4), ("Q8.10", 18, 1))]
    rows.append(row(ONE_POINT, "Q10.10", 20, 4))
    found = enough(rows)["arm", "difd"]
    assert {kind: own and own.words for kind, own in found.items()} == {
        ONE_WIDTH: "18 bits",
        PROMISED: "error 0.01",
        ONE_POINT: "Q10.10",
    }
    table = [dict(zip(HEAD, own, strict=True)) for own in cells(rows)]
    promised = next(own for own in table if own["words"] == "error 0.1")
    assert (promised["solved"], promised["in time"]) == ("4/4", "1/4")
    assert (promised["bits"], promised["to float64"]) == ("9.1", "-2 to +3")
    page = ET.fromstring(drawn(rows))
    words = [e.text for e in page.iter() if e.tag.endswith("text")]
    assert words.count("4/4") == 5
    assert words.count("0/4") == 1
