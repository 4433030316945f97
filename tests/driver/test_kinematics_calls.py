"""Calls of named frames and masses: shapes, the integer model's errors, another base, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.api import states
from rbdgen.design.functions import OF_FRAMES, OF_MASSES
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics

SEEN = (*OF_FRAMES, *OF_MASSES)
CHOICES: dict[str, Any] = {
    "functions": ("g", "nle", *SEEN),
    "frames": ("lower_rod", "upper_rod"),
    "accelerator": False,
}
SHAPES = {
    "g": (2,),
    "nle": (2,),
    "p": (2, 3),
    "R": (2, 3, 3),
    "twist": (2, 6),
    "J": (2, 6, 2),
    "drift": (2, 6),
    "com": (3,),
    "Jcom": (3, 2),
    "kinetic": (),
    "potential": (),
    "Ag": (6, 2),
    "hg": (6,),
}


def test_words_are_nearly_golden() -> None:
    given = states("pendulum", 200, functions=("id",))
    q, v = given["q"], given["qd"]
    golden, integer = (Dynamics("pendulum", kind, **CHOICES) for kind in ("golden", "integer"))
    expected, found = golden.everything(q, v), integer.everything(q, v)
    assert {name: array.shape[1:] for name, array in found.items()} == SHAPES
    for name, array in found.items():
        size = np.sqrt((expected[name] ** 2).mean())
        assert np.sqrt(((array - expected[name]) ** 2).mean()) < 1e-3 * size, name
    p, R = integer.pose(q[3])
    np.testing.assert_array_equal(p, found["p"][3])
    np.testing.assert_array_equal(R, found["R"][3])
    for name in ("twist", "drift", "hg", "nle"):
        np.testing.assert_array_equal(getattr(integer, name)(q, v), found[name])
    for name, array in (("jac", "J"), ("com", "com"), ("jcom", "Jcom"), ("ag", "Ag"), ("g", "g")):
        np.testing.assert_array_equal(getattr(integer, name)(q), found[array])
    np.testing.assert_array_equal(integer.energy(q, v)[0], found["kinetic"])


@pytest.mark.parametrize("call", SEEN)
def test_another_base_changes_nothing(call: str) -> None:
    choices = {"functions": SEEN, "frames": ("lf_shin", "rh_shin"), "base": "floating"}
    given = states("hyq", 3, functions=("id",), base="floating")
    own = Dynamics("hyq", "golden", accelerator=False, **choices)
    other = Dynamics("hyq", "golden", accelerator=False, base_link="lf_shin", **choices)
    arrays = [given["q"], given["qd"]][: 2 if call in ("twist", "drift", "energy", "hg") else 1]
    expected, found = (driver.submit(call, *arrays).result() for driver in (own, other))
    pairs = zip(expected, found, strict=True) if isinstance(found, tuple) else [(expected, found)]
    for right, ours in pairs:
        np.testing.assert_allclose(ours, right, rtol=0, atol=1e-9 * max(np.abs(right).max(), 1.0))


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"functions": ("pose",)}, "functions: pose needs frames; name their links: --frames LINK"),
    ({"functions": ("com",), "frames": ("lower_rod",)}, "lower_rod is for functions of them, pose"),
    (
        {"functions": ("jac",), "frames": ("lower",)},
        'frames: no link "lower"; did you mean "lower_rod"',
    ),
    (
        {"functions": ("id", "ag"), "accelerator": True},
        "functions: ag is no task of an accelerator, which has id, fd, m",
    ),
]


@pytest.mark.parametrize(("choices", "message"), REFUSALS)
def test_refusals(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        load("pendulum", **choices)
