"""A robot that carries a payload is Pinocchio's with that body's inertia added to the model's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import ArrayLike

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Robot, RobotError
from rbdgen.robot.variations import carrying, checked_body, inertia_of, payload_of
from tests.support.comparison import check, golden_answers, random_question
from tests.support.pinocchio_models import peer_from_urdf

CASES = [("iiwa14", "link_7", "fixed"), ("gantry", "tool", "fixed"), ("hyq", "lf_shin", "floating")]
MASS, COM = 2.5, [0.05, -0.03, 0.12]
INERTIA = [[0.02, 0.002, -0.001], [0.002, 0.03, 0.003], [-0.001, 0.003, 0.025]]


@pytest.mark.parametrize(("name", "link", "base"), CASES, ids=str)
def test_like_pinocchio(name: str, link: str, base: str) -> None:
    """Every function, of the robot as read and of the one whose rewrites carry the link along."""
    design, robot = load(name, base=base, payload=link)
    peer = peer_from_urdf(Path(design.robot), robot)
    plain = peer.rnea(question := random_question(robot, 5, seed=1))
    frame = peer.model.frames[peer.model.getFrameId(link)]
    body = pin.Inertia(MASS, np.array(COM), np.array(INERTIA))
    peer.model.inertias[frame.parentJoint] += frame.placement.act(body)
    assert np.abs(peer.rnea(question) - plain).max() > 1.0
    payload = payload_of(checked_body(MASS, COM, INERTIA))
    np.testing.assert_allclose(payload, body.toDynamicParameters(), rtol=1e-15)
    for carrier in (robot, canonicalize(robot)):
        loaded = carrying(carrier, link, payload)
        check(question, golden_answers(loaded, question), peer.answers(question))


def test_each_state_has_its_own() -> None:
    _, robot = load("gantry")
    state = golden.random_state(robot, 6, np.random.default_rng(2))
    some = np.array([payload_of(checked_body(m, COM, INERTIA)) for m in (0.5, 3.0)])
    payload = some[[0, 1, 1, 0, 1, 0]]
    found = golden.for_each_payload(golden.rnea, robot, "tool", payload, *state)
    for k in range(6):
        (alone,) = golden.rnea(carrying(robot, "tool", payload[k]), *(x[k : k + 1] for x in state))
        np.testing.assert_allclose(found[k], alone, rtol=1e-13)
    none = [x[:0] for x in state]
    assert golden.for_each_payload(golden.rnea, robot, "tool", payload[:0], *none).shape == (0, 5)


def test_ten_numbers_are_a_body() -> None:
    body = checked_body(MASS, COM, INERTIA)
    again = inertia_of(payload_of(body))
    assert again.mass == body.mass
    np.testing.assert_array_equal(again.h, body.h)
    np.testing.assert_array_equal(again.J, body.J)


@pytest.mark.parametrize(
    ("mass", "com", "inertia", "said"),
    [
        (-1.0, COM, INERTIA, "not below 0"),
        (np.nan, COM, INERTIA, "finite"),
        (1.0, COM[:2], INERTIA, r"expected a number, \(3,\) and \(3, 3\)"),
        (1.0, COM, np.diag([1.0, 1.0, 2.1]), "none above the two others together"),
        (1.0, COM, np.diag([1.0, -1.0, 1.0]), "none is below 0"),
        (1.0, COM, [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "not symmetric"),
    ],
)
def test_what_no_body_has(mass: float, com: ArrayLike, inertia: ArrayLike, said: str) -> None:
    with pytest.raises(RobotError, match=said):
        checked_body(mass, com, inertia)


def test_a_link_that_nothing_moves() -> None:
    robot: Robot = load("gantry")[1]
    with pytest.raises(RobotError, match='payload: "rails" is on the base'):
        carrying(robot, "rails", np.zeros(10))
