"""Designs of sums in one frame for each tree: hardware equal to the integer model in every bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.compile.flow import front_end
from rbdgen.design.choices import PRODUCTS
from rbdgen.robot.model import RobotError
from rbdgen_benchmarks.bench.chains import chain_urdf
from tests.support.marks import slow

LOGARITHMIC = {"formulation": "logarithmic", "ii": 1}


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        slow(("iiwa14", {"fit": False})),
        ("pendulum", {"functions": ("dfd", "m"), "network": "brent-kung", "frame": "upper_rod"}),
        slow(("pendulum", {"functions": ("did",), "ii": 4, "fold": "none", "guard": 2})),
    ],
)
def test_every_bit(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    place = api.generate(robot, tmp_path / "design", **(LOGARITHMIC | choices))
    report = api.simulate(place, 500)
    assert report["bit_exact"] is True


@pytest.mark.slow
def test_every_bit_of_products_in_pairs(tmp_path: Path) -> None:
    """And fewer products than without, if few: corrections of five joints serve few dots."""
    (tmp_path / "chain.urdf").write_text(chain_urdf(5))
    choices = LOGARITHMIC | {"functions": ("did",), "products": "winograd", "fit": False}
    place = api.generate(str(tmp_path / "chain.urdf"), tmp_path / "design", **choices)
    assert api.simulate(place, 200)["bit_exact"] is True
    graphs = [
        front_end(str(tmp_path / "chain.urdf"), **(choices | {"products": products})).graph
        for products in PRODUCTS
    ]
    plain, pairs = (graph.operations()["mul"] for graph in graphs)
    assert pairs < plain


@pytest.mark.slow
def test_accelerator(tmp_path: Path) -> None:
    """What both the bias and M need, rotations and places, is made where sines are."""
    choices = {"functions": ("id", "dfd", "m"), "formulation": "logarithmic", "accelerator": True}
    place = api.generate("pendulum", tmp_path / "design", **choices)
    assert api.simulate(place, 100)["bit_exact"] is True


@pytest.mark.parametrize("formulation", ["linear", slow("lathrop-linear"), slow("lathrop-log")])
def test_every_bit_of_the_others(formulation: str, tmp_path: Path) -> None:
    place = api.generate("pendulum", tmp_path / "design", formulation=formulation)
    assert api.simulate(place, 300)["bit_exact"] is True


def test_info_says_cost_and_gain() -> None:
    (note,) = [
        note for note in api.info("hyq", **LOGARITHMIC)["notes"] if note.startswith("formulation")
    ]
    assert "composite 156 products + 176 by constants" in note
    assert note.endswith("height 3: little or nothing gained, --formulation composite takes less")


def test_frames_are_links(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match='frame: "uper_rod" is no link that a joint moves; did'):
        front_end("pendulum", frame="uper_rod", **LOGARITHMIC)
