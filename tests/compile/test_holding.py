"""Words of `cfd` hold robots that stand and trot; states and the search's graph are of these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.api.results import Results
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.samples import domain_of, sample_states
from rbdgen.design.bounds import bounds, random_states
from rbdgen.design.loading import load
from rbdgen.design.payload import DEFAULT_MASS
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.robot.model import Array
from tests.support.cores import batch, check
from tests.support.icarus import Icarus, binary, written
from tests.support.marks import slow
from tests.support.standing import balanced, biped, crouched, hopper, monoped, standing, trotting

HELD: dict[str, Any] = {"functions": ("cfd",), "contact_damping": 0.01, "fit": False}
HOPPER: dict[str, Any] = {**HELD, "frames": ("only_foot",)}
BIPED: dict[str, Any] = {**HELD, "base": "floating", "frames": ("left_foot", "right_foot")}
LEGS = ("lf_foot", "rf_foot", "lh_foot", "rh_foot")
MONOPED: dict[str, Any] = {**HELD, "base": "floating", "frames": ("only_foot",)}
HYQ: dict[str, Any] = {**HELD, "base": "floating", "target": "xcup"}
G = 9.81


def near(found: Results, exact: Results, forces: float, accelerations: float) -> None:
    """No state is flagged, and relative RMS errors are no larger."""
    assert not found["overflow"].any()
    for name, most in (("lambda_c", forces), ("qdd_c", accelerations)):
        error = np.sqrt(np.mean((found[name] - exact[name]) ** 2) / np.mean(exact[name] ** 2))
        assert error < most, f"{name} off by {error:.1e}"


def both(*states: dict[str, Array]) -> dict[str, Array]:
    return {k: np.concatenate([own[k] for own in states]) for k in ("q", "qd", "tau")}


@pytest.mark.parametrize("model", ["fixed", "c"])
def test_a_hopper_stands_and_hops(model: str, tmp_path: Path) -> None:
    path = hopper(tmp_path)
    _, robot = load(path, **HOPPER)
    weight, feet = 6.8 * G, HOPPER["frames"]
    stands = standing(robot, feet, crouched(robot))
    states = both(stands, trotting(robot, feet, 50, weight, 0.01, 1))
    exact = api.evaluate(path, states, "golden", **HOPPER)
    np.testing.assert_allclose(exact["lambda_c"][0, 0, 2], weight, rtol=1e-2)
    near(api.evaluate(path, states, model, **HOPPER), exact, 1e-3, 0.1)


@pytest.mark.rtl
@pytest.mark.slow
def test_every_bit_of_a_hopper(tmp_path: Path) -> None:
    binary("iverilog")
    core = compile_front(front_end(hopper(tmp_path), **HOPPER))
    robot, inputs = core.front.robot, core.fixed.inputs
    stands = standing(robot, HOPPER["frames"], crouched(robot))
    moves = trotting(robot, HOPPER["frames"], 8, 6.8 * G, 0.01, 2)
    columns = to_columns(core.front.canonical, list(inputs), both(stands, moves))
    words = {name: word.quantize(columns[name]) for name, word in inputs.items()}
    expected = batch(core, words)
    assert not expected.flags.any()
    source, ports = written(core, "hopper", tmp_path)
    check(Icarus(source, "hopper", ports, tmp_path / "run").run(expected.tasks), expected)


@pytest.mark.parametrize(
    ("width", "forces", "accelerations"), [(18, 3e-3, 0.2), slow((22, 2e-4, 1e-2))]
)
def test_a_monoped_stands_and_trots(
    width: int, forces: float, accelerations: float, tmp_path: Path
) -> None:
    path, choices = monoped(tmp_path), {**MONOPED, "width": width}
    _, robot = load(path, **choices)
    feet, weight = MONOPED["frames"], 11.6 * G
    stands = standing(robot, feet, balanced(robot, feet))
    moves = trotting(robot, feet, 100, weight, 0.01, 1)
    states = both(stands, moves)
    exact = api.evaluate(path, states, "golden", **choices)
    np.testing.assert_allclose(exact["lambda_c"][0, 0, 2], weight, rtol=2e-2)
    np.testing.assert_allclose(exact["lambda_c"][1:, :, :3], moves["forces"], atol=1e-8)
    near(api.evaluate(path, states, "fixed", **choices), exact, forces, accelerations)


@pytest.mark.slow
@pytest.mark.parametrize("feet", [LEGS, ("lf_foot", "rh_foot")], ids=["stands", "trots"])
def test_a_quadruped(feet: tuple[str, ...]) -> None:
    choices = {**HYQ, "frames": feet, "width": 18}
    _, robot = load("hyq", **choices)
    weight = sum(joint.inertia.mass for joint in robot.joints) * G
    states = trotting(robot, feet, 100, weight / (len(feet) // 2), 0.01, 1)
    if len(feet) == 4:
        states = both(standing(robot, feet, crouched(robot, bend=0.75)), states)
        forces = api.evaluate("hyq", states, "golden", **choices)["lambda_c"][0, :, 2]
        assert np.abs(forces - weight / 4).max() < 0.2 * weight / 4
    states = both(states)
    exact = api.evaluate("hyq", states, "golden", **choices)
    near(api.evaluate("hyq", states, "fixed", **choices), exact, 3e-3, 0.2)
    assert np.abs(exact["lambda_c"]).max() > 0.9 * weight / (len(feet) // 2)


@pytest.mark.parametrize(
    ("robot", "choices", "force"),
    [
        ("pendulum", {"frames": ("lower_rod",)}, 200.0),
        ("pendulum", {"frames": ("lower_rod",), "contact": "surface"}, 200.0),
        ("gantry", {"frames": ("tool",)}, 1.5 * 62.7 * G),
        ("gantry", {"frames": ("tool",), "gravity": (0.0, 0.0, 0.0)}, 200.0),
        ("gantry", {"frames": ("tool",), "payload": "tool"}, 1.5 * (62.7 + DEFAULT_MASS) * G),
        ("hyq", {"frames": ("lf_foot", "rh_foot"), "base": "floating"}, 1.5 * 86.774 * G),
    ],
)
def test_forces_have_room_for_the_weight(robot: str, choices: dict[str, Any], force: float) -> None:
    design, read = load(robot, **HELD, **choices)
    own = bounds(design, read).contact
    assert own.force == pytest.approx(force)
    assert own.moment == pytest.approx(force / 4)
    front = front_end(robot, **HELD, **choices)
    (note,) = (note for note in front.notes if note.startswith("contact_force"))
    assert f"up to {force:.4g} N" in note
    assert bounds(front.design, front.canonical).contact.force == pytest.approx(force)


def test_a_design_may_say_how_much(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(
        f"robot: {biped(tmp_path)}\nbase: floating\nfunctions: [cfd]\nframes: [left_foot]\n"
        "contact: surface\nlimits: {contact_force: 300, contact_moment: 12}\n"
    )
    design, robot = load(str(file))
    assert bounds(design, robot).contact.components(6).tolist() == [300.0] * 3 + [12.0] * 3


def test_states_are_of_frames_that_stay(tmp_path: Path) -> None:
    """And `cfd` of their efforts gives forces within the limits."""
    path = biped(tmp_path)
    design, robot = load(path, **BIPED)
    box = bounds(design, robot)
    state = sample_states(design, robot, 300, 3, extremes=0.5)
    J = golden.frame_jacobians(robot, state["q"], design.frames)[:, :, :3]
    moved = np.einsum("nfaj,nj->nfa", J, state["qd"])
    free = np.einsum("nfaj,nj->nfa", J, random_states(robot, box, 300, 3, extremes=0.5)["qd"])
    assert np.median(np.abs(moved)) < 0.15 * np.median(np.abs(free))
    assert (np.abs(state["qd"]) <= box.qd).all()
    found = golden.constraint_dynamics(
        robot, state["q"], state["qd"], state["tau"], design.frames, 3, 0.01
    )
    most = np.abs(found.forces[..., :3]).max(axis=(1, 2))
    assert np.median(most) < 1.05 * box.contact.force
    assert (most > 0.95 * box.contact.force).sum() > 100


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"contact": "surface", "contact_damping": 0.1},
        {"functions": ("cfd", "fd")},
    ],
    ids=["point", "surface", "beside"],
)
def test_the_search_has_the_same_states(choices: dict[str, Any], tmp_path: Path) -> None:
    """Its efforts are those of the motion and the forces that are in its coordinates."""
    front = front_end(hopper(tmp_path), **{**HOPPER, **choices})
    design, robot, names = front.design, front.canonical, front.graph.inputs
    state = sample_states(design, robot, 40, 4)
    domain = domain_of(design, robot, names, state)
    derived = evaluate(domain.derived, domain.samples)
    axes = 6 if design.contact == "surface" else 3
    forces = np.stack(
        [domain.samples.get(f"hold[0,{a}]", np.zeros(40)) for a in range(axes)], axis=1
    )[:, None]
    q = np.stack([domain.samples[f"q[{k}]"] for k in range(robot.nq)], axis=1)
    own = front.design.functions == ("cfd",)
    given = derived if own else domain.samples
    qd = np.stack([given[f"qd[{k}]"] for k in range(robot.nv)], axis=1)
    tau = np.stack([derived[f"tau[{k}]"] for k in range(robot.nv)], axis=1)
    found = golden.constraint_dynamics(
        robot, q, qd, tau, design.frames, axes, design.contact_damping
    )
    assert np.isfinite(found.qdd).all()
    J = golden.frame_jacobians(robot, q, design.frames)[:, :, :axes]
    taken = tau + np.einsum("nfaj,nfa->nj", J, forces)
    if own:
        drawn = np.stack([domain.samples[f"drawn[{k}]"] for k in range(robot.nv)], axis=1)
        along, free = (np.einsum("nfaj,nj->nfa", J, x)[..., [0, 2]] for x in (qd, drawn))
        assert np.median(np.abs(along)) < 0.15 * np.median(np.abs(free))
        near_drawn = np.abs(found.forces[:, :, [0, 2]] - forces[..., [0, 2]]).max(axis=(1, 2))
        assert np.median(near_drawn) < 0.2 * bounds(design, robot).contact.force
    else:
        qdd = np.stack([domain.samples[f"qdd[{k}]"] for k in range(robot.nv)], axis=1)
        np.testing.assert_allclose(taken, golden.rnea(robot, q, qd, qdd), atol=1e-9)


def test_efforts_stay_within_limits(tmp_path: Path) -> None:
    path = biped(tmp_path)
    choices = {**BIPED, "effort": 40.0}
    design, robot = load(path, **choices)
    state = sample_states(design, robot, 200, 3, extremes=0.5)
    assert np.abs(state["tau"][:, 6:]).max() <= 40.0 + 1e-9
