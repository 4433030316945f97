"""The note of large errors: what words of one width make, measured here against golden models."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.evaluation import checked, fixed_model, to_words
from rbdgen.compile.expected import expected_errors, note_of_errors
from rbdgen.compile.flow import compile_design
from rbdgen.compile.samples import sample_states
from rbdgen.schedule.partition import Piece
from rbdgen.system.quoting import CHANGES
from rbdgen.tasks.stage import Stage

OFF = re.compile(r"(\w+)\[\d+[,:]*\][^;,]* off by ([\d.e-]+) at (the limits|a tenth)")


def note_of(robot: str, **choices: Any) -> str:
    made = compile_design(robot, **choices)
    note = note_of_errors(made, expected_errors(made))
    assert (note in made.notes) == bool(note)
    return note


def errors_of(note: str, scale: str = "the limits") -> dict[str, float]:
    """Array → the error of its worst coordinate at a scale."""
    return {array: float(error) for array, error, at in OFF.findall(note) if at == scale}


@pytest.mark.parametrize(("scale", "share"), [("the limits", 1.0), ("a tenth", 0.1)])
def test_light_wrists_are_told_of(scale: str, share: float) -> None:
    """The error of iiwa 14's worst q̈ in the note is that of other states, against golden ABA."""
    made = compile_design("iiwa14_fast", functions=("fd",), fit=False, width=18)
    robot = made.front.robot
    (note,) = (note for note in made.notes if note.startswith("width: 18 bits leave qdd"))
    drawn = sample_states(made.design, robot, 1000, 5, share=share)
    state = checked(made.design, robot, drawn)
    words = fixed_model(made, to_words(made, state))["qdd"]
    exact = golden.aba(robot, state["q"], state["qd"], state["tau"])
    error = np.sqrt(np.sum((words - exact) ** 2, axis=0) / np.sum(exact**2, axis=0))
    assert errors_of(note, scale) == {"qdd": pytest.approx(error.max(), rel=0.4)}
    assert f'qdd[{error.argmax()}] ("joint_{error.argmax() + 1}")' in note
    assert "--error 0.001" in note and "is time-multiplexed" not in note


def test_an_error_is_said_in_units_of_effort_too() -> None:
    """Of its own size, in N·m and of the effort limit that the file states."""
    note = note_of("iiwa14_fast", functions=("id",), ii=5, fold="none", width=12)
    found = re.search(r"off by (\S+) at a tenth \((\S+) N·m, (\S+) of its effort limit", note)
    assert found and float(found[1]) > 0.05 and float(found[3]) < 0.01
    assert note.endswith(CHANGES)


def test_nothing_is_said_of_small_errors() -> None:
    assert note_of("pendulum", functions=("id",), width=18, fit=False) == ""


def test_where_an_error_is_promised_all_arrays_are_told() -> None:
    note = note_of("pendulum", functions=("did", "fd"), fit=False, error=1e-4)
    assert note.startswith("error: words for 0.0001 leave ") and "overflow" not in note
    assert errors_of(note).keys() == {"tau", "dtau_dq", "dtau_dqd", "qdd"}
    small = max(errors_of(note, "a tenth").values()) / 10
    assert 2e-5 < max(small, *errors_of(note).values()) <= 1e-4


def test_who_takes_turns_in_an_accelerator_has_no_error_promised() -> None:
    choices = {"functions": ("fd",), "fold": "joints", "ii": 16, "width": 12}
    note = note_of("gantry", **choices)
    assert errors_of(note)["qdd"] > 1e-3
    assert note.removesuffix(CHANGES).endswith("that such an error takes")
    note = note_of("gantry", accelerator=True, **choices)
    assert errors_of(note)["qdd"] > 1e-3
    assert note.removesuffix(CHANGES).endswith("where nothing is time-multiplexed")


def test_an_accelerator_s_functions_are_told_apart() -> None:
    """q̈ of its `fd` is far off in words of 12 bits, M of the same stages is not."""
    choices = {"functions": ("m", "fd"), "ii": 4, "width": 12, "accelerator": True}
    assert errors_of(note_of("pendulum", **choices)).keys() == {"qdd"}


def test_overflow_is_told_of() -> None:
    """Of a word that is four bits too short."""
    made = compile_design("pendulum", functions=("id",), width=18, fit=False)
    assert note_of_errors(made, expected_errors(made)) == ""
    output = made.fixed.graph.outputs["tau[0]"]
    own = made.fixed.formats[output]
    formats = {**made.fixed.formats, output: replace(own, width=own.width - 4)}
    stage = Stage("core", Piece(replace(made.fixed, formats=formats), {}), made.plan)
    short = replace(made, accelerator=replace(made.accelerator, stages={"core": stage}))
    note = note_of_errors(short, expected_errors(short))
    assert re.search(r"overflow in \d+ of 768 states", note)
