"""Choices that nothing reads: refused, or a note, from Python and from the command line alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.choices import LANGUAGES, OF_NUMBERS, VERILOG
from rbdgen.design.effects import notes_of_effects, notes_of_use, refused, unread_in
from rbdgen.design.loading import load
from rbdgen.design.rule import IDLE
from rbdgen.robot.model import RobotError
from rbdgen_benchmarks.compare import comparison
from rbdgen_host.driver import Dynamics

UNMET: list[tuple[dict[str, Any], str]] = [  # choice, what it is for
    ({"network": "brent-kung"}, "formulation logarithmic"),
    ({"frame": "lower_rod"}, "formulation logarithmic"),
    ({"nearby": 0.1}, "inverse near"),
    ({"frames": ("lower_rod",)}, "functions of them, pose, "),
    ({"reference": "local"}, "functions of frames' motions, twist, jac, drift"),
    ({"contact": "surface"}, "the function cfd"),
    ({"contact_damping": 0.1}, "the function cfd"),
    ({"step": 0.01}, "the function step"),
    ({"integrator": "rk4"}, "the function step"),
    ({"tolerance": 0.1}, "parameters in registers"),
    ({"functions": ("gravity",), "kp": 10}, "controllers, computed_torque or impedance"),
    ({"kd": 10}, "controllers, computed_torque, impedance or gravity"),
    ({"gains": "inputs"}, "controllers, computed_torque, impedance or gravity"),
    ({"watchdog": 2}, "controllers with ticks"),
    ({"knots": 8}, "controller ilqr"),
    ({"clock": 20}, "style latency"),
    ({"slots": 4}, "an accelerator"),
    ({"mix": "id=1"}, "an accelerator"),
    ({"order": "issued"}, "an accelerator"),
    ({"factorisation": "ltdl"}, "functions that invert the mass matrix, fd, "),
    ({"formulation": "logarithmic", "products": "winograd"}, "gradients, of did, "),
    ({"scheduler": "exact", "fit": False}, "folded designs"),
    ({"scheduler": "exact", "ii": 1}, "folded designs"),
    ({"width": 20, "error": 1e-3}, "designs whose words have one width"),
    ({"fit": False, "ii": 2}, "designs without ii, multipliers or fold"),
    ({"fit": False, "fold": "none"}, "designs without ii, multipliers or fold"),
    ({"formulation": "recursive"}, "gradients, of did, "),
    ({"functions": ("m", "jac"), "frames": ("lower_rod",), "gravity": (0, 0, 1)}, "functions that"),
    ({"functions": ("g",), "friction": False}, "functions that friction changes"),
    ({"functions": ("m",), "friction_width": 0.2}, "functions that friction changes"),
    ({"functions": ("g",), "velocity": 3}, "functions of velocities, qd"),
    ({"functions": ("nle",), "acceleration": "elbow=3"}, "functions of accelerations or efforts"),
]


@pytest.mark.parametrize(("choices", "serves"), UNMET, ids=str)
def test_a_choice_without_effect_is_said_to_be(choices: dict[str, Any], serves: str) -> None:
    notes: list[str] = []
    try:
        load("pendulum", notes=notes, **choices)
    except RobotError as error:
        notes.append(str(error))
    (line,) = [line for line in notes if f" is for {serves}" in line]
    assert line.partition(":")[0] in choices


@pytest.mark.parametrize(
    "choices",
    [
        {"accelerator": True, "slots": 4, "mix": "id=1", "order": "issued"},
        {"functions": ("fd",), "factorisation": "ltdl"},
        {"scheduler": "exact", "ii": 2},
        {"functions": ("did",), "formulation": "logarithmic", "products": "winograd"},
        {"width": 20},
        {"parameters": "registers", "tolerance": 0.1},
        {},
    ],
    ids=str,
)
def test_one_with_an_effect_is_not(choices: dict[str, Any]) -> None:
    assert not notes_of_effects(*load("pendulum", **choices))


LOOP = "<loop_joint name='c' type='fixed'/>"
RUBS = "<dynamics friction='1'/>"
FOLLOWS = "<mimic joint='a'/>"


def chain(place: Path, kind: str, one: str = "", two: str = "", loop: str = "") -> str:
    """The file of two joints of a kind, ``a`` and ``b``, with what stands in each."""
    moments = "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    mass = f"<inertial><mass value='1'/>{moments}</inertial>"
    links = "".join(f"<link name='{name}'>{mass}</link>" for name in ("l0", "l1", "l2"))
    limit = "<axis xyz='0 0 1'/><limit lower='-1' upper='1' velocity='1' effort='1'/>"
    joints = "".join(
        f"<joint name='{name}' type='{kind}'><parent link='l{k}'/><child link='l{k + 1}'/>"
        f"{limit}{own}</joint>"
        for k, (name, own) in enumerate({"a": one, "b": two}.items())
    )
    file = place / "chain.urdf"
    file.write_text(f"<robot name='chain'>{links}{joints}{loop}</robot>")
    return str(file)


@pytest.mark.parametrize(
    ("parts", "choices", "line"),
    [
        ({}, {"mimic": "independent"}, "mimic: independent is for robots with mimic joints"),
        ({"two": FOLLOWS}, {"mimic": "independent"}, ""),
        ({}, {"open_loops": True}, "open_loops: True is for robots with loops"),
        ({"loop": LOOP}, {"open_loops": True}, ""),
        ({}, {"friction": False}, "friction: False is for joints with damping or friction"),
        ({"one": RUBS}, {"friction": False}, ""),
        ({}, {"friction_width": 0.2}, "friction_width: 0.2 is for joints' friction"),
        ({"one": RUBS}, {"friction_width": "0.2,a=0.1"}, ""),
        ({"one": RUBS}, {"friction_width": "b=0.1"}, 'friction_width: 0.1 of "b" is for joints'),
        ({"one": RUBS}, {"friction_width": 1, "friction": False}, "friction_width: 1 is for "),
        ({"kind": "prismatic"}, {"rotation": 3}, "rotation: 3 is for robots with rotating joints"),
        (
            {"kind": "prismatic"},
            {"angles": "sincos"},
            "angles: sincos is for robots with rotating joints",
        ),
        ({}, {"angles": "sincos", "rotation": 3}, ""),
    ],
    ids=str,
)
def test_what_a_robot_does_not_have(
    parts: dict[str, str], choices: dict[str, Any], line: str, tmp_path: Path
) -> None:
    notes: list[str] = []
    load(chain(tmp_path, **{"kind": "revolute", **parts}), notes=notes, **choices)
    found = [note for note in notes if " is for " in note]
    assert [note.startswith(line) for note in found] == ([True] if line else [])


def test_a_driver_and_a_manifest_say_it(tmp_path: Path) -> None:
    line = "mimic: independent is for robots with mimic joints, and this one has none; leave it out"
    assert line in Dynamics("pendulum", "golden", mimic="independent").notes
    said: list[str] = []
    choices: dict[str, Any] = {"mimic": "independent", "scheduler": "exact", "ii": 2}
    folders = api.generate(
        "pendulum", tmp_path / "made", said.append, to=("verilog", "c", "hls"), **choices
    )
    for folder in folders:
        notes = json.loads((Path(folder) / "manifest.json").read_text())["notes"]
        language = Path(folder).name
        other = f"{language} has no schedule: no effect of scheduler"
        assert line in notes and (other in notes) == (language != "verilog")
        assert all(f"note: {note}" in said for note in notes)


def test_every_need_has_a_case() -> None:
    of_robots = {"rotation", "angles"}  # which `test_what_a_robot_does_not_have` has
    assert {rule.key for rule in IDLE} - of_robots == {
        "inverse",
        *(key for own, _ in UNMET for key in own),
    } - {*("functions", "ii", "fold", "error")}


def test_a_scheduler_of_what_need_not_fold() -> None:
    """Which is known once the fastest that fits is."""
    core = compile_front(front_end("pendulum", scheduler="exact"))
    said = [note for note in core.notes if note.startswith("scheduler: exact is for folded")]
    assert len(said) == core.plan.interval == 1


def test_what_has_no_words_and_what_is_no_program() -> None:
    given = {"width": 20, "float_error": 1e-3, "functions": ("id",)}
    of_words, of_texts = "no effect of width", "no effect of float_error"
    lines = notes_of_use("golden", given)
    assert [line.rpartition(": ")[2] for line in lines] == [of_words, of_texts]
    assert notes_of_use("fixed", given, words=True)[0].endswith(of_texts)
    assert notes_of_use("cpp", given, texts=True)[0].endswith(of_words)
    assert not notes_of_use("cpp", {"functions": ("id",)})
    assert any(of_texts in note for note in api.info("pendulum", float_error=1e-3)["notes"])
    said: list[str] = []
    states = {name: [[0.1, 0.2]] for name in ("q", "qd", "qdd")}
    api.evaluate("pendulum", states, "golden", said.append, width=20)
    assert said == ["note: model golden has neither words nor hardware: no effect of width"]


def test_what_another_base_costs_is_said() -> None:
    notes: dict[str, list[str]] = {}
    for link in ("shoulder", None):
        found = front_end("spot_arm_like", base="floating", base_link=link).notes
        notes[str(link)] = [note for note in found if note.startswith("base_link: ")]
    assert not notes["None"]
    (note,) = notes["shoulder"]
    assert "base_link: shoulder: 504 products of signals as traced, and 502 with" in note


def test_default_intervals_that_do_not_fit_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that are asked for are refused."""
    monkeypatch.setattr(comparison, "INTERVALS", (2,))
    choices: dict[str, Any] = {"functions": ("did",), "target": "ecp5-25f", "cpu": False}
    found = comparison.compare("gantry", **choices)
    assert [note.partition(",")[0] for note in found["side"]["notes"][:1]] == ["Left out is II 2"]
    with pytest.raises(RobotError, match="ii: 2 takes more than"):
        comparison.compare("gantry", intervals=(2,), **choices)


SAID: dict[str, Any] = {  # a value of each option that not all languages read
    "accelerator": True,
    "clock": 20.0,
    "code": "loops",
    "error": 1e-4,
    "fit": False,
    "float_error": 1e-3,
    "real": "float",
    "fold": "none",
    "guard": 1,
    "ii": 4,
    "multipliers": 50,
    "proven": "all",
    "scheduler": "exact",
    "style": "latency",
    "target": "xcup",
    "tick": 100,
    "watchdog": 2,
    "width": 20,
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_language_does_not_read_is_refused_or_noted(language: str, tmp_path: Path) -> None:
    """And what it reads is neither; options of accelerators are for those alone."""
    unread = unread_in(language)
    of_accelerators = {"slots", "mix", "order"}
    assert unread <= {*SAID, *of_accelerators}
    for key, value in SAID.items():
        needs = {"style": "latency"} if key == "clock" else {"ii": 4} if key == "scheduler" else {}
        if key == "code" and language == "hls":
            needs = {"fold": "joints", "ii": 16}
        if key in ("tick", "watchdog"):
            needs = {"tick": 100, "functions": "impedance"}
        design, _ = load("pendulum", **{**needs, key: value})
        lines = [refused(design, to=[language])]
        if language != VERILOG:
            words = language not in OF_NUMBERS
            lines += notes_of_use(language, {key: value}, words, True, not words, language == "c")
        assert any(lines) == (key in unread), (key, lines)
