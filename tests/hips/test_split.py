"""Limbs on a trunk that moves: cut at the hips, the parts compute what the whole does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.compiler import Front, front_end
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.hips.cut import FIRST, INNER, owners
from rbdgen.hips.names import groups
from rbdgen.hips.split import Split, split
from rbdgen.passes.limbs import LimbError
from tests.limbs import WALKER

TOLERANCE = 1e-11  # of an output's largest value


def front_of(robot: str, *functions: str, **choices: Any) -> Front:
    return front_end(robot, accelerator=True, functions=functions, **choices)


def hips_of(front: Front) -> Split:
    states = random_inputs(front.canonical, front.graph.inputs, 8, 3)
    return split(front.graph, front.canonical, states, owners(front.graph), INNER, FIRST)


def together(hips: Split, states: dict[str, Array]) -> dict[str, Array]:
    """Every output, from the parts."""
    words = states | evaluate(hips.trunk, states)
    found: dict[str, Array] = {}
    for limb in hips.limbs.limbs:
        own = {name: sign * words[word] for name, (word, sign) in limb.inputs.items()}
        for name, values in evaluate(hips.limbs.template, own).items():
            word, sign = limb.outputs[name]
            found[word] = sign * values
    # the effort that comes in is called as the one that goes out
    return found | evaluate(hips.rest, words | found | states)


@pytest.mark.parametrize(
    ("robot", "functions", "limbs", "most"),
    [
        (str(WALKER), ("id", "fd", "m", "minv", "did", "dfd"), 2, None),
        ("hyq", ("id",), 4, 260),
        ("hyq", ("m",), 4, 200),
        ("hyq", ("did",), 4, 1200),
    ],
)
def test_the_parts_compute_what_the_whole_does(
    robot: str, functions: tuple[str, ...], limbs: int, most: int | None
) -> None:
    """In other states than those that the limbs were compared in; and with few additions."""
    front = front_of(robot, *functions, base="floating")
    hips = hips_of(front)
    assert len(hips.limbs.limbs) == limbs
    states = random_inputs(front.canonical, front.graph.inputs, 20, 4)
    exact, found = evaluate(front.graph, states), together(hips, states)
    assert found.keys() >= exact.keys()
    for name, values in exact.items():
        largest = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * largest)
    parts = (hips.trunk, hips.limbs.template, hips.rest)
    count = sum(part.operations()["add"] for part in parts)
    if most is not None:
        assert count <= most < front.graph.operations()["add"] / 1.5


def test_most_of_a_quadruped_is_one_leg() -> None:
    """RNEA of HyQ: nothing is multiplied but in the trunk and in one leg."""
    hips = hips_of(front_of("hyq", "id", base="floating"))
    assert hips.rest.operations()["mul"] == 0
    assert 4 * hips.limbs.template.operations()["mul"] + hips.trunk.operations()["mul"] == 346
    mirrored = [sum(s < 0 for _, s in limb.inputs.values()) for limb in hips.limbs.limbs]
    assert mirrored[0] == 0
    assert min(mirrored[1:]) > 0


def test_which_limbs() -> None:
    """The most joints on one link, in limbs whose joints are of the same kinds."""
    hyq = front_of("hyq", "m", base="floating").canonical
    assert groups(hyq) == ((1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12))
    assert groups(front_of("iiwa14", "m").canonical) == ()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('<mass value="2"/>', '<mass value="2.1"/>'), "differs from the same of the first limb"),
        (('type="continuous"', 'type="fixed"'), "no link carries two limbs"),
    ],
)
def test_limbs_that_differ(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    place = tmp_path / "other.urdf"
    place.write_text(WALKER.read_text().replace(*change, 1))
    with pytest.raises(LimbError, match=says):
        hips_of(front_of(str(place), "id", base="floating"))
