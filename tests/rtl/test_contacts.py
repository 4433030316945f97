"""Contacts in hardware: every bit that of the integer model, which is near; calls, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen.system.templates import data_folder
from rbdgen_host.driver import Dynamics
from tests.support.cores import any_words, check
from tests.support.icarus import Icarus, binary, written

HELD: dict[str, Any] = {"functions": ("cfd",), "frames": ("lower_rod",), "contact_damping": 0.1}
CASES: dict[str, dict[str, Any]] = {
    "pipelined": HELD,
    "beside_fd": {**HELD, "functions": ("fd", "cfd"), "ii": 4},
    "surface": {**HELD, "contact": "surface", "style": "latency", "clock": 20.0},
}


@pytest.mark.rtl
@pytest.mark.parametrize("case", CASES)
def test_every_bit(case: str, tmp_path: Path) -> None:
    binary("iverilog")
    core = compile_front(front_end("pendulum", **CASES[case]))
    source, ports = written(core, case, tmp_path)
    expected = any_words(core, 40, 1)
    simulated = Icarus(source, case, ports, tmp_path / "run")
    check(simulated.run(expected.tasks), expected)


@pytest.mark.parametrize(
    ("robot", "choices", "within"),
    [
        ("pendulum", HELD, 2e-3),
        ("pendulum", {**HELD, "error": 1e-4}, 1e-4),
        pytest.param(
            "hyq",
            {**HELD, "base": "floating", "frames": ("lf_foot", "rh_foot"), "width": 22},
            1e-3,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["pendulum", "error", "hyq"],
)
def test_words_are_near(robot: str, choices: dict[str, Any], within: float) -> None:
    states = api.states(robot, 500, 3, **choices)
    found, golden = (api.evaluate(robot, states, m, **choices) for m in ("fixed", "golden"))
    assert not found["overflow"].any()
    for name in ("qdd_c", "lambda_c"):
        error = np.sqrt(np.mean((found[name] - golden[name]) ** 2) / np.mean(golden[name] ** 2))
        assert error < within, name


def test_another_base_changes_nothing() -> None:
    feet = ("lf_foot", "rf_foot", "lh_foot", "rh_foot")
    choices = {"functions": ("cfd",), "frames": feet, "base": "floating", "accelerator": False}
    given = api.states("hyq", 3, functions=("fd",), base="floating")
    arrays = given["q"], given["qd"], given["tau"]
    own = Dynamics("hyq", "golden", **choices).constraintDynamics(*arrays)
    other = Dynamics("hyq", "golden", base_link="lf_shin", **choices).cfd(*arrays)
    for right, ours in zip(own, other, strict=True):
        np.testing.assert_allclose(ours, right, rtol=0, atol=1e-8 * np.abs(right).max())


@pytest.mark.parametrize("function", ["cfd", "osim"])
def test_undamped_contacts_are_spoken_of(function: str) -> None:
    choices: dict[str, Any] = {"functions": (function,), "frames": ("tool",)}
    undamped, damped = (
        [n for n in front_end("gantry", contact_damping=x, **choices).notes if "damping" in n]
        for x in (0.0, 0.1)
    )
    assert "forces and inertias have no bound and words no room" in undamped[0]
    assert not damped


@pytest.mark.parametrize("axis", ["0 1 0", "0.6 0 0.8", "0.48 -0.6 0.64"])
def test_what_never_moves_is_not_held(axis: str, tmp_path: Path) -> None:
    """In a plane, along the world's axes or across them: no entry of J is zero then."""
    text = (data_folder("robots") / "pendulum.urdf").read_text()
    file = tmp_path / "pendulum.urdf"
    file.write_text(text.replace('axis xyz="0 1 0"', f'axis xyz="{axis}"'))
    message = "cfd: 3 directions are held, and lower_rod can only move in 1 of them, so what holds"
    with pytest.raises(RobotError, match=message):
        front_end(str(file), functions=("cfd",), frames=("lower_rod",))


def test_golden_refuses_what_is_not_determined() -> None:
    choices = {"functions": ("cfd",), "frames": ("lower_rod",)}
    with pytest.raises(RobotError, match="pendulum: cfd: the held directions are dependent in"):
        api.evaluate("pendulum", api.states("pendulum", 3, 3, **choices), "golden", **choices)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"functions": ("cfd",)}, "functions: cfd needs frames; name their links: --frames LINK"),
    ({"contact": "surface"}, "contact: surface is for the function cfd, "),
    ({"contact_damping": 0.1}, "contact_damping: 0.1 is for the function cfd, "),
    ({**HELD, "contact_damping": -1}, "contact_damping: 1/kg from 0 to 1, not -1"),
    ({**HELD, "contact": "line"}, 'contact: "line" is unknown; one of point, surface'),
    ({**HELD, "factorisation": "blocks"}, "factorisation: blocks: cfd uses the factors of"),
    ({**HELD, "base": "floating", "root": "given"}, "root: given: cfd has no base with prescribed"),
    ({**HELD, "accelerator": True}, "functions: cfd is no task of an accelerator, which has id"),
]


@pytest.mark.parametrize(("choices", "message"), REFUSALS)
def test_refusals(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        load("pendulum", **choices)
