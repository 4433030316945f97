"""Style latency chooses the formulation of the fewest cycles, and says which the others had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.compile.flow import compile_front, fixed_point, front_end
from rbdgen.compile.product import Product
from rbdgen.design.design import choice_of, formulation_of
from rbdgen.design.nested import FORMULATED
from rbdgen.graph.text import to_text
from rbdgen.robot.model import RobotError
from tests.support.made import compiled


def made(robot: str, **choices: Any) -> Product:
    return compiled(robot, style="latency", **choices)


@pytest.mark.parametrize(
    ("robot", "chosen", "said"),
    [
        (
            "pendulum",
            "linear",
            "linear 12 cycles, 6 products, the fewest cycles; composite 13 cycl",
        ),
        pytest.param(
            "iiwa14",
            "logarithmic",
            "logarithmic 40 cycles, 349 products, the fewest cycles; linear 67 cycles, 123 p",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_fewest_cycles(robot: str, chosen: str, said: str) -> None:
    """Of all three, each compiled, the one that was chosen has the fewest cycles."""
    core = made(robot, target="xcup")
    every = {
        name: made(robot, target="xcup", formulation=name).plan.latency
        for name in ("composite", "linear", "logarithmic")
    }
    assert formulation_of(core.front.design) == chosen == min(every, key=lambda n: every[n])
    assert core.plan.latency == every[chosen]
    (note,) = (note for note in core.notes if note.startswith("formulation"))
    assert note.startswith(f"formulation: {said}")
    assert ("its errors are larger" in note) == (chosen == "logarithmic")


def test_what_does_not_fit() -> None:
    """At a clock operations share no multipliers: what has too many of them gives way."""
    core = made("iiwa14", clock=18.0)
    assert formulation_of(core.front.design) == "composite"
    said = "349 products, more than the part or the budget has multipliers for"
    assert any(said in note for note in core.notes)


def test_folder(tmp_path: Path) -> None:
    """It stands for itself: compiled again it is the same, and so is what replaces it."""
    folder = tmp_path / "design"
    api.generate("pendulum", folder, style="latency")
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    entry = api.read_manifest(folder)
    assert any(note.startswith("formulation: linear 12 cycles") for note in entry["notes"])
    assert "formulation" not in entry["choices"]
    assert api.simulate(folder, 200)["bit_exact"] is True
    api.generate("pendulum", folder, style="latency")
    assert (
        before.items() <= {f.name: f.read_bytes() for f in folder.iterdir() if f.is_file()}.items()
    )
    again = tmp_path / "again"
    api.generate(str(folder / "design.yaml"), again)
    assert (again / "design.yaml").read_bytes() == before["design.yaml"]


def test_said_by_hand() -> None:
    core = made("pendulum", formulation="composite")
    assert choice_of(core.design, FORMULATED) is None
    assert not any(note.startswith("formulation") for note in core.notes)


def test_integer_model_alone() -> None:
    """Its words are those of the core, and the choice is the same."""
    front = front_end("pendulum", style="latency", functions=("did",))
    fixed = compile_front(front).fixed
    assert to_text(fixed_point(front)) == to_text(fixed)


@pytest.mark.parametrize("text", ["formulated: {formulation: linear}", "formulated: {note: why}"])
def test_half_a_choice(text: str, tmp_path: Path) -> None:
    file = tmp_path / "half.yaml"
    file.write_text(f"robot: arm.urdf\nstyle: latency\n{text}\n")
    with pytest.raises(RobotError, match="formulated: has formulation and note; leave it out"):
        front_end(str(file))
