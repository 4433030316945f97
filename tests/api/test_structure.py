"""``rbdgen topology`` and ``rbdgen.api.topology``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rbdgen import api
from rbdgen.cli.main import main

SPOT = """\
spot_arm_like: 18 joints on a floating base, root body (spherical + translation), depth 7, \
153 columns

array  size  limbs  of                                 after  columns  work
-----  ----  -----  ---------------------------------  -----  -------  ----
    1     3      2  front_left_foot, front_right_foot  root   7-9        48
    2     3      2  hind_left_foot, hind_right_foot    root   7-9        48
    3     6      1  hand                               root   7-12       57

14 modules built of 20 needed; pace 57
best root shoulder: depth 7 → 6, columns 153 → 160

front_left_foot: front_left_hip_roll, front_left_hip_pitch, front_left_knee
"""


def test_the_table_and_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["topology", "spot_arm_like", "--base", "floating", "-o", str(tmp_path / "spot.svg")]
    assert main(given) == 0
    assert capsys.readouterr().out.startswith(SPOT)
    first = (tmp_path / "spot.svg").read_bytes()
    assert main(given) == 0
    assert (tmp_path / "spot.svg").read_bytes() == first


def test_plain_data(capsys: pytest.CaptureFixture[str]) -> None:
    facts = api.topology("hyq", turns=2)
    assert [array["branches"] for array in facts["arrays"]] == [
        ["lf_shin", "rf_shin"],
        ["lh_shin", "rh_shin"],
    ]
    capsys.readouterr()
    assert main(["topology", "hyq", "--turns", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == facts


def test_rerooted(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["topology", "humanoid", "--base", "floating", "--tolerance", "0.01", "--reroot"]
    assert main(given) == 0
    out = capsys.readouterr().out
    assert "root middle_torso (spherical + translation), depth 9, 322 columns" in out
    assert "19 modules built of 32 needed" in out
    assert "rooted at middle_torso: depth 11 → 9, columns 330 → 322" in out


def test_what_nearly_shares_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "humanoid"]) == 0
    out = capsys.readouterr().out
    assert "the base is fixed, so that pelvis stays the root" in out
    said = "alike with --tolerance 0.00039, and to generate with --alike 0.00039\n"
    assert f"left_foot and right_foot differ by 3.8e-04: {said}" in out


def test_the_best_root_may_be_the_present_one() -> None:
    facts = api.topology("hyq", base="floating", reroot=True)
    assert facts["root_note"] == "trunk is the best root"
    assert facts["best_root"] == facts["file_root"]
