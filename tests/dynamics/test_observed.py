"""Functions of named frames and of the bodies' masses, traced, against the golden model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.functions import GIVES, OF_FRAMES, OF_MASSES, REFERRED
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.canonical import stages
from rbdgen.robot.frames import ALIGNED, LOCAL, WORLD, frame_of
from rbdgen.robot.model import BASE, Array, Robot
from tests.support.random_robots import ALL_KINDS, SINGLE, geared
from tests.support.traced import links_of, simplified, some_robot

TOLERANCE = 1e-12


def expected(
    robot: Robot, state: golden.State, links: list[str], reference: str = ALIGNED
) -> dict[str, Array]:
    (q, qd, _), seen = state, (links, reference)
    return {
        **golden.frame_poses(robot, q, links)._asdict(),
        "twist": golden.frame_velocities(robot, q, qd, *seen),
        "J": golden.frame_jacobians(robot, q, *seen),
        "drift": golden.frame_drifts(robot, q, qd, *seen),
        "com": golden.center_of_mass(robot, q),
        "subcom": golden.subtree_centers(robot, q, links),
        "Jcom": golden.center_of_mass_jacobian(robot, q),
        **golden.energies(robot, q, qd)._asdict(),
        "Ag": golden.centroidal_map(robot, q),
        "hg": golden.centroidal_momentum(robot, q, qd),
    }


def bodies(robot: Robot) -> Robot:
    """The canonical robot whose inertias are those of bodies."""
    return [rewritten for _, rewritten in stages(robot, bodies=True)][-1]


def check(robot: Robot, functions: tuple[str, ...], seed: int, **choices: Any) -> None:
    canonical, links = bodies(robot), links_of(robot)
    frames = [frame_of(canonical, link) for link in links]
    graph = simplified(trace(canonical, functions, frames=frames, **choices), canonical)
    state = golden.random_state(robot, 3, np.random.default_rng(seed), 3.0)
    values = evaluate(graph, to_columns(canonical, graph.inputs, {"q": state.q, "qd": state.qd}))
    base = BASE if choices.get("root") == "given" else 0
    found = from_columns(values, robot.nv, base, frames=len(links))
    wanted = expected(robot, state, links, choices.get("reference", ALIGNED))
    wanted |= {name: wanted[name][..., base:] for name in ("J", "Jcom", "Ag")}
    for name in (name for function in functions for name in GIVES[function]):
        array = found.get(name, np.zeros_like(wanted[name]))  # what is zero is left out
        scale = max(np.abs(wanted[name]).max(), 1.0)
        np.testing.assert_allclose(array, wanted[name], rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("function", [*OF_FRAMES, *OF_MASSES])
@pytest.mark.parametrize("seed", range(6))
def test_any_joints(function: str, seed: int) -> None:
    """Every kind of joint anywhere, links that are fixed, several trees on the base."""
    robot = some_robot(seed, kinds=ALL_KINDS if seed % 2 else SINGLE, fixed=0.3)
    check(robot, (function,), seed)


@pytest.mark.parametrize("reference", [LOCAL, WORLD])
@pytest.mark.parametrize("seed", range(4))
def test_frames_of_reference(reference: str, seed: int) -> None:
    """Of one function, and of those that share its arithmetic; on every kind of base."""
    robot = some_robot(seed, kinds=ALL_KINDS, fixed=0.3, floating_base=seed == 3)
    for functions in (*((name,) for name in REFERRED), OF_FRAMES):
        check(robot, functions, seed, reference=reference)


@pytest.mark.parametrize("function", [*OF_FRAMES, *OF_MASSES])
def test_columns_of_a_given_base_are_left_out(function: str) -> None:
    """Whatever else depends on how the base moves is as of one that moves freely."""
    check(some_robot(2, floating_base=True, fixed=0.2), (function,), 2, root="given")


@pytest.mark.parametrize("seed", range(3))
def test_all_in_one_graph(seed: int) -> None:
    """Rotors have kinetic energy, too."""
    check(some_robot(seed, floating_base=True, fixed=0.2), (*OF_FRAMES, *OF_MASSES), seed)
    driving = geared(some_robot(seed + 3, mimic=0.4), np.random.default_rng(seed))
    check(driving, (*OF_FRAMES, *OF_MASSES), seed, sincos_inputs=True)
