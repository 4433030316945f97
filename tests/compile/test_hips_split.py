"""Limbs on a trunk that moves: split at the hips, the parts compute what the whole does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.limbs.names import LimbError, seen_quaternion
from rbdgen.compile.limbs.pieces import FIRST, INNER, owners
from rbdgen.compile.limbs.split import Split, split
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.visits import LIMB
from rbdgen.graph.word import kind_of
from rbdgen.robot.limb_similarity import SIGNS
from rbdgen.robot.limbs import limbs_of
from tests.support.limbs import (
    BODY,
    TURN,
    WALKER,
    urdf_of_biped,
    urdf_of_carousel,
    urdf_of_faun,
    urdf_of_hexapod,
    urdf_of_pairs,
)
from tests.support.marks import slow

TOLERANCE = 1e-11  # of an output's largest value


def front_of(robot: str, *functions: str, **choices: Any) -> Front:
    return front_end(robot, accelerator=True, functions=functions, **choices)


def named(robot: str, folder: Path) -> str:
    """A robot's name, or a file with the URDF that it is."""
    if not robot.startswith("<"):
        return robot
    place = folder / "robot.urdf"
    place.write_text(robot)
    return str(place)


def hips_of(front: Front) -> Split:
    states = random_inputs(front.canonical, front.graph.inputs, 8, 3)
    return split(front.graph, front.canonical, states, owners(front.graph), INNER, FIRST)


def together(hips: Split, states: dict[str, Array]) -> dict[str, Array]:
    """Every output, from the parts."""
    words = states | evaluate(hips.trunk, states)
    found: dict[str, Array] = {}
    for limbs in hips.groups:
        (template,) = limbs.templates.values()
        for limb in limbs.reads:
            own = {name: sign * words[word] for name, (word, sign) in limbs.read(limb).items()}
            given = limbs.given(limb)
            for name, values in evaluate(template, own).items():
                word, sign = given[name]
                found[word] = sign * values
    # the effort that comes in is called as the one that goes out
    return found | evaluate(hips.rest, words | found | states)


@pytest.mark.parametrize(
    ("robot", "base", "functions", "limbs", "most"),
    [
        (WALKER.read_text(), "floating", ("id", "fd", "m", "minv", "did", "dfd"), (2,), None),
        slow(("hyq", "floating", ("id",), (4,), 260)),
        ("hyq", "floating", ("m",), (4,), 200),
        slow(("hyq", "floating", ("did",), (4,), 1120)),
        slow((urdf_of_biped(), "floating", ("id", "m", "did"), (2,), 1850)),
        (urdf_of_carousel(3), "fixed", ("id", "m", "did"), (3,), 330),
        (urdf_of_hexapod(), "floating", ("id", "m"), (2, 2, 2), 880),
        slow((urdf_of_faun(), "floating", ("id", "fd", "m", "minv", "did", "dfd"), (2, 2), None)),
    ],
    ids=["walker", "hyq-id", "hyq-m", "hyq-did", "biped", "carousel", "hexapod", "faun"],
)
def test_the_parts_compute_what_the_whole_does(
    robot: str,
    base: str,
    functions: tuple[str, ...],
    limbs: tuple[int, ...],
    most: int | None,
    tmp_path: Path,
) -> None:
    """In other states than those that the limbs were compared in; and with few additions."""
    front = front_of(named(robot, tmp_path), *functions, base=base)
    hips = hips_of(front)
    assert tuple(len(group.reads) for group in hips.groups) == limbs
    states = random_inputs(front.canonical, front.graph.inputs, 20, 4)
    exact, found = evaluate(front.graph, states), together(hips, states)
    assert found.keys() >= exact.keys()
    for name, values in exact.items():
        largest = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * largest)
    parts = (hips.trunk, *(t for group in hips.groups for t in group.templates.values()), hips.rest)
    count = sum(part.operations()["add"] for part in parts)
    if most is not None:
        assert count <= most < front.graph.operations()["add"] / 1.5


@pytest.mark.parametrize("base_link", ["pelvis", "best"])
def test_arms_and_legs_that_differ_by_little_take_turns(base_link: str) -> None:
    """Made alike; and held by a link in whose frame the one is the other's image along z."""
    choices: dict[str, Any] = {"base": "floating", "base_link": base_link}
    front = front_of("humanoid", "id", **choices, alike=0.01)
    hips = hips_of(front)
    assert [len(group.reads) for group in hips.groups] == [2, 2]
    own = [template for group in hips.groups for template in group.templates.values()]
    assert [template.operations()["sincos"] for template in own] == [7, 6]
    states = random_inputs(front.canonical, front.graph.inputs, 20, 4)
    exact, found = evaluate(front.graph, states), together(hips, states)
    for name, values in exact.items():
        largest = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * largest)
    # with the figures of the file fewer of their words are the same
    arms, *_ = hips_of(front_of("humanoid", "id", **choices)).groups
    assert arms.templates[LIMB].operations()["mul"] < own[0].operations()["mul"]


@pytest.mark.parametrize("along", SIGNS, ids=str)
def test_a_base_feels_gravity_as_seen_through_its_signs(along: Array) -> None:
    """Rotations from quaternions by SciPy."""
    rng = np.random.default_rng(2)
    quaternions = rng.normal(size=(5, 4))
    down = np.array([0.0, 0.0, -1.0])
    seen = np.stack(seen_quaternion(list(quaternions.T), along), axis=1)
    before, after = (Rotation.from_quat(q).inv().apply(down) for q in (quaternions, seen))
    np.testing.assert_allclose(after, before * along, atol=1e-12)


def test_most_of_a_quadruped_is_one_leg() -> None:
    """RNEA of HyQ: nothing is multiplied but in the trunk and in one leg."""
    hips = hips_of(front_of("hyq", "id", base="floating"))
    (legs,) = hips.groups
    assert hips.rest.operations()["mul"] == 0
    assert 4 * legs.templates[LIMB].operations()["mul"] + hips.trunk.operations()["mul"] == 346
    mirrored = [sum(s < 0 for _, s in legs.read(leg).values()) for leg in legs.reads]
    assert mirrored[0] == 0
    assert min(mirrored[1:]) > 0


def test_which_limbs(tmp_path: Path) -> None:
    """Limbs on one link whose joints are of the same kinds: those with
    the most joints that agree."""
    hyq = front_of("hyq", "m", base="floating").canonical
    assert limbs_of(hyq).turning == [((1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12))]
    assert limbs_of(front_of("iiwa14", "m").canonical).turning == []
    arms = "".join(
        BODY.format(name=f"{part}{k}", y=0, mass=1 + k, xy=0, yz=0)
        + f'<joint name="{part}{k}" type="revolute"><parent link="{on}"/><child link="{part}{k}"/>'
        f'<origin xyz="0 0 0.5"/><axis xyz="1 0 0"/>{TURN}'
        for k in (0, 1)
        for on, part in (("body", "upper"), (f"upper{k}", "lower"))
    )
    robot = named(WALKER.read_text().replace("</robot>", f"{arms}</robot>"), tmp_path)
    front = front_of(robot, "id", base="floating")
    assert limbs_of(front.canonical).turning == [((3, 4), (5, 6)), ((1,), (2,))]
    hips = hips_of(front)
    (limbs,) = hips.groups
    assert "differs from the same of another limb" in hips.apart[0]  # the other arms
    first, _ = limbs.reads
    assert ("tau[6]", 1) in limbs.given(first).values()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('<mass value="2"/>', '<mass value="2.1"/>'),
            "of joint .*, differs from the same of another limb",
        ),
        (('type="continuous"', 'type="fixed"'), "no link carries two limbs"),
    ],
)
def test_limbs_that_differ(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    other = WALKER.read_text().replace(*change, 1)
    with pytest.raises(LimbError, match=says):
        hips_of(front_of(named(other, tmp_path), "id", base="floating"))


def test_limbs_that_are_partly_alike() -> None:
    """The humanoid's legs differ in what one joint feels: they are time-multiplexed only where
    asked to."""
    front = front_of("humanoid", "id", base="floating")
    assert [len(group.reads) for group in hips_of(front).groups] == [2]
    states = random_inputs(front.canonical, front.graph.inputs, 8, 3)
    says = r"joint left_hip_.*, differs from the same of another limb by .*; --fold limbs shares"
    with pytest.raises(LimbError, match=says):
        split(front.graph, front.canonical, states, owners(front.graph), INNER, FIRST, partly=False)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_axes_that_differ(base: str, tmp_path: Path) -> None:
    """Of the last leg, or arm, the last joint turns about an axis between two."""
    before, after = (urdf_of_biped() if base == "floating" else urdf_of_carousel(2)).rsplit(
        '"1 0 0"', 1
    )
    other = f'{before}"1 1 0"{after}'
    with pytest.raises(LimbError, match="turn about other axes than"):
        hips_of(front_of(named(other, tmp_path), "id", base=base))


def test_pairs_of_limbs(tmp_path: Path) -> None:
    """Of four legs two are as heavy again: they are two groups, told by their geometry."""
    front = front_of(named(urdf_of_pairs(), tmp_path), "id", "m", base="floating")
    pairs = [((1,), (2,)), ((3,), (4,))]
    found = limbs_of(front.canonical).turning
    assert found == [tuple(limb for pair in pairs for limb in pair), *pairs]
    states = random_inputs(front.canonical, front.graph.inputs, 20, 4)
    of = owners(front.graph)
    hips = split(front.graph, front.canonical, states, of, INNER, FIRST, partly=False)
    assert [len(group.reads) for group in hips.groups] == [2, 2]
    assert not hips.apart
    exact, found = evaluate(front.graph, states), together(hips, states)
    for name, values in exact.items():
        largest = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * largest)


@pytest.mark.parametrize(
    ("robot", "base", "choices"),
    [
        ("hyq", "floating", {"external_forces": ("all",)}),
        ("hyq", "floating", {"angles": "sincos"}),
        (urdf_of_carousel(3), "fixed", {"external_forces": ("all",), "angles": "sincos"}),
    ],
    ids=["forces", "sines", "both"],
)
def test_signs_of_forces_and_sines(
    robot: str, base: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    """Forces on links have the signs of the links' frames; angles may differ by half a turn."""
    front = front_of(named(robot, tmp_path), "id", base=base, **choices)
    hips = hips_of(front)
    (limbs,) = hips.groups
    read = {kind_of(word) for limb in limbs.reads for word, _ in limbs.read(limb).values()}
    assert ("f_ext" in read, "sin" in read) == ("external_forces" in choices, "angles" in choices)
    assert hips.rest.operations()["mul"] == 0
    states = random_inputs(front.canonical, front.graph.inputs, 20, 4)
    exact, found = evaluate(front.graph, states), together(hips, states)
    for name, values in exact.items():
        largest = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * largest)


@pytest.mark.parametrize(("link", "limbs"), [("body", 2), ("torso", 2), ("left", 1)])
def test_a_payload(link: str, limbs: int, tmp_path: Path) -> None:
    """The trunk's changes no limb; of a pair of limbs one that carries it is unlike the other."""
    robot = named(urdf_of_faun(), tmp_path)
    front = front_of(robot, "id", base="floating", payload=link)
    states = random_inputs(front.canonical, front.graph.inputs, 20, 4)
    assert any(name.startswith("payload") for name in states)
    of = owners(front.graph)
    hips = split(front.graph, front.canonical, states, of, INNER, FIRST, partly=False)
    assert len(hips.groups) == limbs
    exact, found = evaluate(front.graph, states), together(hips, states)
    for name, values in exact.items():
        largest = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE * largest)
