"""A controller over MuJoCo's arm: the arm, the controller, the references, what is printed."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.cli.main import main
from rbdgen.compile.flow import front_end
from rbdgen_benchmarks.bench.ilqr import Gradient, Points, Robotics
from rbdgen_benchmarks.reproduce.closed_loop import (
    KINDS,
    LAP,
    PERIOD,
    Loop,
    Track,
    eased,
    motions,
    run,
)
from rbdgen_benchmarks.reproduce.closed_report import HEAD, cells, drawn, enough
from rbdgen_benchmarks.reproduce.plant import RUNAWAY, Arms, Noise, seen
from rbdgen_benchmarks.reproduce.receding import Controller, Horizon, Reference, side_by_side
from rbdgen_benchmarks.reproduce.word_choices import ONE_WIDTH, PROMISED, Choice, Size

pytest.importorskip("mujoco")


def test_the_arm_moves_as_the_golden_model_says() -> None:
    """A period from rest, with a push on the last link: to first order in the period."""
    robot = front_end("iiwa14", functions=("id",)).robot
    rng = np.random.default_rng(1)
    q, tau = rng.uniform(-1, 1, (2, 3, 7))
    push = np.zeros((3, 3))
    push[2] = 5.0, -3.0, 4.0
    arms = Arms("iiwa14", q, 1e-4)
    arms.advance(tau, push)
    moved = arms.state
    qdd = golden.aba(robot, q, 0 * q, tau)
    np.testing.assert_allclose(moved[:2, 7:], 1e-4 * qdd[:2], rtol=2e-2, atol=1e-4)
    # of what the push adds: its direction, by the power that it brings in
    added = moved[2, 7:] - 1e-4 * qdd[2]
    assert added @ golden.crba(robot, q[2:])[0] @ added > 0
    assert np.abs(added).max() > 1e-3
    assert not arms.lost.any()


def test_an_arm_that_runs_away_stands_still() -> None:
    arms = Arms("iiwa14", np.zeros((2, 7)), 1e-3)
    tau = np.zeros((2, 7))
    tau[1, 6] = 40.0
    for _ in range(20):
        arms.advance(tau, np.zeros((2, 3)))
    assert arms.lost.tolist() == [False, True]
    there = arms.state[1]
    assert (there[7:] == 0.0).all()
    arms.advance(tau, np.zeros((2, 3)))
    np.testing.assert_array_equal(arms.state[1], there)
    assert np.abs(arms.state[0, 7:]).max() < RUNAWAY


def test_noise_is_of_its_size() -> None:
    found = seen(np.ones((20000, 4)), Noise(1e-3, 1e-1), np.random.default_rng(1)) - 1
    np.testing.assert_allclose(found.std(0), [1e-3, 1e-3, 1e-1, 1e-1], rtol=0.03)


def test_references_begin_and_end_at_rest() -> None:
    robot = front_end("iiwa14", functions=("id",)).robot
    motion = motions(robot, 1500)
    x = motion.reference.states
    assert motion.kinds == ("followed",) * 3 + ("planned",) * 3
    np.testing.assert_allclose(x[:3, 0, 7:], 0, atol=1e-12)
    np.testing.assert_allclose(x[:, -1, 7:], 0, atol=1e-12)
    # velocities are those of the positions
    slopes = np.gradient(x[:3, :, :7], PERIOD, axis=1)
    np.testing.assert_allclose(slopes[:, 1:-1], x[:3, 1:-1, 7:], atol=1e-3)
    np.testing.assert_allclose(x[0, 0, :7], x[0, int(LAP / PERIOD) + 1, :7], atol=1e-9)
    share, rate = eased(np.array([0.0, 0.5, 1.0, 2.0]), 1.0)
    np.testing.assert_allclose(share, [0, 0.5, 1, 1])
    np.testing.assert_allclose(rate, [0, 1.875, 0, 0])


def masses(delay: int) -> tuple[Controller, np.ndarray]:
    """Two loops of a unit mass that is to be at 1 and at −1."""
    horizon = Horizon(knots=11, every=4, period=0.01)
    x = np.zeros((2, 500, 2))
    x[:, :, 0] = [[1.0], [-1.0]]
    reference = Reference(x, np.zeros((2, 500, 1)), np.tile([10.0, 0.1], (2, 11, 1)), 1e-3)
    robot = Robotics(lambda q, qd, tau: tau, lambda q: np.ones((len(q), 1, 1)))
    zeros = side_by_side([lambda at: (0 * at.Minv, 0 * at.Minv)] * 2)
    return Controller(reference, horizon, robot, zeros, delay, np.array([5.0])), np.zeros((2, 2))


@pytest.mark.parametrize("delay", [0, 2])
def test_masses_come_where_they_are_to_be(delay: int) -> None:
    """Without noise a delay that is known only shifts what is done."""
    controller, x = masses(delay)
    under_way = [np.zeros((2, 1))] * delay
    for k in range(300):
        under_way.append(controller(k, x))
        u = under_way.pop(0)
        assert np.abs(u).max() <= 5.0
        v = x[:, 1:] + 0.01 * u
        x = np.concatenate([x[:, :1] + 0.01 * v, v], axis=1)
    np.testing.assert_allclose(x, [[1, 0], [-1, 0]], atol=1e-3)


def test_gradients_side_by_side_get_their_own_loops() -> None:
    def marked(value: float) -> Gradient:
        return lambda at: (at.Minv * value, at.Minv * at.q[:, :, None])

    q = np.arange(4.0).reshape(4, 1)
    at = Points(q, q, q, q, np.ones((4, 1, 1)))
    dq, dqd = side_by_side([marked(1.0), marked(2.0)])(at)
    assert dq.ravel().tolist() == [1, 1, 2, 2]
    assert dqd.ravel().tolist() == [0, 1, 2, 3]


def loop(choice: Choice | None, bits: float, rms: float, lost: bool = False) -> Loop:
    tracks = tuple(
        Track(f"task {k}", kind, rms + k, 2 * rms, 0.1, 0.2, 0.3, 0.0, lost)
        for kind in KINDS
        for k in range(2)
    )
    size = Size(bits, 20) if choice else None
    return Loop("difd" if choice else "float64", choice, size, 2, tracks, 0, 0)


def test_tables_and_picture() -> None:
    widths = ((10, 1.0), (12, 1.2), (16, 1.02), (20, 1.0))
    loops = [loop(None, 0, 1.0), *(loop(Choice(width=w), w, rms) for w, rms in widths)]
    loops += [loop(Choice(error=e), b, rms) for e, b, rms in ((0.1, 9.0, 1.3), (0.01, 11.7, 1.01))]
    found = enough(loops, "planned")
    assert {kind: own and own.choice for kind, own in found.items()} == {
        ONE_WIDTH: Choice(width=16),
        PROMISED: Choice(error=0.01),
    }
    runaway = loop(Choice(width=32), 32, 1.0, lost=True)
    assert enough([*loops, runaway], "planned")[ONE_WIDTH] is None
    rows = cells(loops, "followed")
    assert [len(row) for row in rows] == [len(HEAD)] * 7
    ratios = ["+0.0 %", "+0.0 %", "+20.0 %", "+2.0 %", "+0.0 %", "+30.0 %", "+1.0 %"]
    assert [row[3] for row in rows] == ratios
    assert [row[:2] for row in rows][-1] == ["error 0.01", "11.7"]
    page = ET.fromstring(drawn(loops))
    hints = [e.text for e in page.iter() if e.tag.endswith("title")]
    assert sum("difd, one width: RMS error" in (hint or "") for hint in hints) == 8
    assert sum("difd, error per coordinate: from" in (hint or "") for hint in hints) == 4


def test_the_closed_loop_is_of_004_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "003", "004", "--closed"]) == 1
    assert "closed: 003 has no controller" in capsys.readouterr().err


@pytest.mark.slow
def test_words_do_what_float64_does() -> None:
    """60 ms: followed, the tool stays within half a millimetre of it; the same comes out again."""
    choices = Choice(error=1e-3), Choice(width=16)
    first, none, *words = run(("difd",), choices, (2,), 60, lambda _: None)
    assert (first.function, none.function) == ("float64", "none")
    assert [loop.choice for loop in words] == list(choices)
    for loop in words:
        for own, other in zip(loop.tracks, first.tracks, strict=True):
            assert own.rms_mm == pytest.approx(other.rms_mm, abs=0.5, rel=0.02)
            assert own.apart_mm < (0.5 if own.kind == "followed" else 20.0)  # of 600 to go
            assert own.stuck < 0.1
    assert run(("difd",), choices, (2,), 60, lambda _: None)[2:] == words
