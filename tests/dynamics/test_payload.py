"""Graphs that take a payload: what the golden model gives of robots that carry it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.api import evaluate, states
from rbdgen.compile.flow import front_end
from rbdgen.design.functions import OF_FRAMES, OF_MASSES
from rbdgen.robot.model import RobotError

ROBOTS: dict[str, dict[str, Any]] = {
    "iiwa14": {"payload": "link_7"},
    "gantry": {"payload": "tool"},  # which is fixed to the link that a joint moves
    "hyq": {"base": "floating", "payload": "lf_shin"},
    "spot_arm_like": {"base": "floating", "root": "given", "payload": "front_left_foot"},
}
FUNCTIONS = [("id",), ("did", "m"), ("fd", "dfd", "minv"), ("difd",), ("g", "nle")]
RECURSIVE, SUMS = {"formulation": "recursive"}, {"formulation": "logarithmic"}
HERE = [
    *(({}, functions) for functions in FUNCTIONS),
    pytest.param(RECURSIVE, ("did", "m"), marks=pytest.mark.slow),
    *((SUMS, functions) for functions in (("id",), ("did", "m"), ("g", "nle"))),
    pytest.param(SUMS, ("dfd",), marks=pytest.mark.slow),
    ({"frames": "all", "contact_damping": 0.1}, (*OF_MASSES, "osim")),
    ({"formulation": "linear"}, ("id",)),
    ({"angles": "sincos"}, ("id",)),
]
ROUNDING = {"qdd": 1e-11, "dqdd_dq": 1e-11, "dqdd_dqd": 1e-11, "Minv": 1e-11}


@pytest.mark.parametrize(("way", "functions"), HERE[::2], ids=str)
def test_an_arm_like_golden(way: dict[str, Any], functions: tuple[str, ...]) -> None:
    compare("iiwa14", {**ROBOTS["iiwa14"], **way, "functions": functions})


@pytest.mark.parametrize(("way", "functions"), HERE[1::2], ids=str)
def test_a_gantry_like_golden(way: dict[str, Any], functions: tuple[str, ...]) -> None:
    compare("gantry", {**ROBOTS["gantry"], **way, "functions": functions})


@pytest.mark.parametrize(
    "functions", [("id",), pytest.param(("dfd", "m"), marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("robot", ["hyq", "spot_arm_like"])
def test_like_golden_on_a_floating_base(robot: str, functions: tuple[str, ...]) -> None:
    compare(robot, {**ROBOTS[robot], "functions": functions})


def test_second_derivatives_like_golden() -> None:
    compare("gantry", {**ROBOTS["gantry"], "functions": ("ddid",)})


@pytest.mark.parametrize("factorisation", ["mminvgen", "blocks"])
def test_like_golden_in_every_factorisation(factorisation: str) -> None:
    choices = {**ROBOTS["iiwa14"], "factorisation": factorisation, "functions": ("minv", "fd")}
    compare("iiwa14", choices)


def compare(robot: str, choices: dict[str, Any]) -> None:
    given = dict(states(robot, 20, **choices))
    assert given["payload"].any(axis=1).sum() > 10
    expected, found = (evaluate(robot, given, kind, **choices) for kind in ("golden", "float"))
    without = evaluate(robot, {**given, "payload": 0 * given["payload"]}, "golden", **choices)
    for name, array in found.items():
        if name == "joint_names":
            continue
        size = np.abs(expected[name]).max()
        assert np.abs(without[name] - expected[name]).max() > 1e-4 * size, name
        assert np.abs(array - expected[name]).max() < ROUNDING.get(name, 1e-12) * size, name


def test_inputs() -> None:
    """Ten words, of designs with a function that they change."""
    words = [f"payload[{k}]" for k in range(10)]
    for functions, there in ((("m",), words), (("pose", "id"), words), (("pose", "drift"), [])):
        frames = () if functions[0] == "m" else ("tool",)
        front = front_end("gantry", functions=functions, frames=frames, payload="tool", fit=False)
        assert [name for name in front.graph.inputs if name.startswith("payload")] == there
    assert not any(n.startswith("payload") for n in front_end("gantry", fit=False).graph.inputs)


def test_nothing_is_divided_by_a_payload() -> None:
    """id and did stay without reciprocals, and have no product of two of its words."""
    for functions in (("id",), ("did", "m", "g", "nle")):
        graph = front_end("iiwa14", functions=functions, payload="link_7", fit=False).graph
        assert graph.operations()["recip"] == 0
        degree: dict[Any, int] = {}
        for node in graph.nodes:
            of = [degree[arg] for arg in node.args]
            if node.op.value == "mul":
                degree[node] = sum(of)
            else:
                degree[node] = max(of, default=int(node.name.startswith("payload")))
        assert max(degree.values()) == 1


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"formulation": "lathrop-log"}, "formulation: lathrop-log takes no payload"),
        ({"formulation": "lathrop-linear"}, "formulation: lathrop-linear takes no payload"),
        ({"payload": "link_8"}, 'payload: no link "link_8"; did you mean'),
        ({"payload": "link_0"}, 'payload: "link_0" is on the base; no joint moves it'),
        ({"payload": ""}, "payload: a link's name"),
    ],
)
def test_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(RobotError, match=said):
        front_end("iiwa14", **{"payload": "link_7", "functions": ("id",), **choices})


def test_frames_of_a_robot_with_a_payload_are_as_without() -> None:
    front = front_end("gantry", functions=OF_FRAMES, frames=("tool",), payload="tool", fit=False)
    plain = front_end("gantry", functions=OF_FRAMES, frames=("tool",), fit=False)
    assert front.graph.operations() == plain.graph.operations()
    assert any("no payload changes pose, twist, jac, drift" in note for note in front.notes)
