"""A design with force inputs is simulated, whatever its functions make of forces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import ON_ACCELERATORS, UNFORCED
from rbdgen.design.loading import load
from rbdgen_benchmarks.compare.integer_errors import integer_errors
from tests.support.coordinates import worst_in, worst_of
from tests.support.made import accelerate
from tests.support.marks import fast_at, slow

FORCES = [("all",), ("gripper_mount",)]
NOTE = "external_forces: no force changes "


@pytest.mark.parametrize(
    ("function", "forces"),
    fast_at(range(4), [(function, FORCES[k % 2]) for k, function in enumerate(ON_ACCELERATORS)]),
    ids=str,
)
def test_plain(function: str, forces: tuple[str, ...]) -> None:
    """Random states are inputs of the hardware; its outputs are near the golden model's."""
    front = front_end("gantry", functions=(function,), external_forces=forces)
    core = compile_front(front)
    inputs = [name for name in core.fixed.inputs if name.startswith("f_ext")]
    assert len(inputs) == (0 if function in UNFORCED else 6 * len(front.design.external_forces))
    assert any(note.startswith(NOTE) for note in front.notes) == (function in UNFORCED)
    report = integer_errors(core, 50)
    assert report.overflows == 0
    assert all(error < 0.02 for error in worst_of(report.coordinates).values())


@pytest.mark.parametrize("forces", FORCES, ids=str)
@pytest.mark.parametrize(
    "functions", [("m",), ("minv", "m"), ("id", "m"), slow((ON_ACCELERATORS,))], ids=str
)
def test_accelerator(functions: tuple[str, ...], forces: tuple[str, ...]) -> None:
    made = accelerate(
        "gantry", functions=functions, external_forces=forces, accelerator=True, ii=16
    )
    state = within_limits(made, 50, 0)
    traffic = Traffic(made, inputs_of(made, state))
    for function in functions:
        assert all(error < 0.02 for error in worst_in(traffic, function, state).values())
    note = f"external_forces: no force changes {', '.join(f for f in functions if f in UNFORCED)}"
    none = ", so the design has no force inputs" if "id" not in functions else ""
    assert note + none in made.front.notes


def test_all_stands_among_names() -> None:
    """It is every link that a joint moves, wherever it stands, and none twice."""
    named = ("gripper_mount", "all")
    design, robot = load("gantry", functions=("id", "pose"), frames=named, external_forces=named)
    bodies = {robot.joints[i].body for i in robot.moving}
    for links in (design.frames, design.external_forces):
        assert links[0] == "gripper_mount" and len(links) == len(bodies) and {*links} == bodies


def test_evaluate() -> None:
    """A force that changes nothing is taken; one that the design has no input for is not."""
    states = {"q": np.zeros((2, 5)), "f_ext": np.ones((2, 5, 6))}
    found, right = (
        api.evaluate("gantry", states, model, functions=("m",))["M"]
        for model in ("fixed", "golden")
    )
    assert np.allclose(found, right, rtol=1e-3, atol=1e-3 * right.max())
    states |= {"qd": states["q"], "qdd": states["q"]}
    with pytest.raises(api.InputError, match="has no force input; add it to external_forces"):
        api.evaluate("gantry", states, "fixed")


@pytest.mark.rtl
@pytest.mark.slow
def test_hardware(tmp_path: Path) -> None:
    said: list[str] = []
    place = api.generate(
        "gantry", tmp_path / "made", said.append, functions=("m",), external_forces=("all",)
    )
    note = f"{NOTE}m, so the design has no force inputs"
    assert f"note: {note}" in said
    assert note in place.manifest["notes"]
    assert api.simulate(place, 20)["bit_exact"]
