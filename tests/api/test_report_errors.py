"""The report's errors: those of each coordinate by itself, in its table and in its pictures."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rbdgen.api.evaluation import to_words
from rbdgen.api.integer_model import IntegerModel
from rbdgen.api.report_errors import EIGHTHS, ArrayErrors, errors_of
from rbdgen.api.simulation import outputs_and_golden, scaled_batches
from rbdgen.compile.flow import compile_design
from rbdgen.compile.product import Product
from rbdgen.graph.accuracy import REPORTED

STATES, SEED = 800, 3
WRIST = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.3"/><mass value="20"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="hand"><inertial><origin xyz="0 0 -0.01"/><mass value="0.02"/>
<inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="100" velocity="2"/></joint>
<joint name="wrist" type="revolute"><parent link="upper"/><child link="hand"/>
<origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="1" velocity="2"/></joint></robot>"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Product:
    file = tmp_path_factory.mktemp("arm") / "arm.urdf"
    file.write_text(WRIST)
    return compile_design(str(file), width=14)


def numbers(picture: str) -> list[list[float]]:
    """Cells of a heat map by rows; a cell without a number is left out."""
    rows: dict[str, list[float]] = {}
    for own in ET.fromstring(picture).iter():
        if own.tag.endswith("text") and own.text and "e-0" in own.text:
            rows.setdefault(own.get("y", ""), []).append(float(own.text))
    return list(rows.values())


def darkest(picture: str) -> int:
    """The row with the darkest cell."""
    cells = [own for own in ET.fromstring(picture).iter() if own.tag.endswith("rect")][1:]
    top = max(cells, key=lambda own: float(own.get("fill-opacity", "1")))
    return sorted({float(own.get("y", "")) for own in cells}).index(float(top.get("y", "")))


def test_each_coordinate_beside_its_own_size(core: Product) -> None:
    (tau,) = errors_of(core, STATES, SEED, lambda _: None)
    assert tau.name == "tau"
    integers = IntegerModel(core)
    off: list[np.ndarray] = []
    for scale, state in scaled_batches(core, STATES, SEED):
        results, _ = integers(to_words(core, state))
        ((_, values, exact),) = outputs_and_golden(core, state, results)
        rms = np.sqrt(np.mean((values - exact) ** 2, axis=0) / np.mean(exact**2, axis=0))
        found = [own.relative(REPORTED[scale]) for own in tau.coordinates]
        assert found == pytest.approx(rms)
        off.append(np.abs(values - exact) / np.sqrt(np.mean(exact**2, axis=0)))
    assert [own.joint for own in tau.coordinates] == ["shoulder", "wrist"]
    sizes, speeds = tau.pictures
    parts = [np.percentile(own, (50, 99, 100), axis=0).T for own in off]
    assert numbers(sizes) == [pytest.approx(own, rel=0.05) for own in np.hstack(parts).tolist()]
    for row, own in zip(numbers(speeds), tau.coordinates, strict=True):
        assert len(row) == EIGHTHS
        together = np.sqrt(np.mean(np.square(row)))
        assert together == pytest.approx(own.relative(REPORTED[0]), rel=0.05)


def test_the_worst_joint_is_the_darkest(core: Product) -> None:
    """A light wrist, whose errors are the smallest in N·m."""
    (tau,) = errors_of(core, STATES, SEED, lambda _: None)
    shoulder, wrist = tau.coordinates
    limits = REPORTED[0]
    assert wrist.scales[limits.name].rms < shoulder.scales[limits.name].rms
    assert wrist.relative(limits) > 1.2 * shoulder.relative(limits)
    assert [darkest(picture) for picture in tau.pictures] == [1, 1]


def test_functions_of_an_accelerator() -> None:
    made = compile_design("pendulum", functions=("id", "m"), accelerator=True, ii=4)
    found: dict[str, ArrayErrors] = {}
    for own in errors_of(made, STATES, SEED, lambda _: None):
        found[own.name] = own
    assert list(found) == ["tau of id", "M of m"]
    assert [own.name for own in found["M of m"].coordinates] == ["M[0,:] of m", "M[1,:] of m"]
    assert [len(own.pictures) for own in found.values()] == [2, 1]  # no speed enters M
