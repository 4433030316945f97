"""Multipliers and block RAMs get sites that nextpnr has, close to what they are wired to."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.design.target import TARGETS, find_target
from rbdgen.tools.floorplan import DIES, UNIT, annealed, floorplan, springs
from rbdgen.tools.toolchain import NEXTPNR, run_tool

DIE = DIES["--25k"]


def wired(nets: list[list[str]], blocks: list[str], kind: str = "MULT18X18D") -> dict[str, Any]:
    """A module whose nets join the cells named."""
    names = sorted({name for net in nets for name in net} | set(blocks))
    return {
        "attributes": {"top": "1"},
        "ports": {},
        "netnames": {},
        "cells": {
            name: {
                "type": kind if name in blocks else "LUT4",
                "attributes": {},
                "parameters": {},
                "port_directions": {},
                "connections": {f"P{k}": [k] for k, net in enumerate(nets) if name in net},
            }
            for name in names
        },
    }


def test_wires_in_a_row_pull_like_springs_in_series() -> None:
    nets = [["a", "x"], ["x", "y"], ["y", "b"]]
    found = springs(wired(nets, ["a", "b"]), ["a", "b"])
    assert found.tolist() == pytest.approx(np.array([[0, 1], [1, 0]]) * UNIT / 3, abs=1)


def test_a_net_between_three_pulls_each_two_alike() -> None:
    blocks = ["a", "b", "c"]
    found = springs(wired([["a", "b", "c", "x"]], blocks), blocks)
    # four pins: six springs of 1/3; without x, the star of three of them adds 1/9 to each other
    assert found[np.triu_indices(3, 1)] == pytest.approx(UNIT * (1 / 3 + 1 / 9), abs=1)


def test_nets_with_many_ends_say_nothing() -> None:
    many = [f"x{k}" for k in range(60)]
    blocks = ["a", "b"]
    assert not springs(wired([["a", "b", *many]], blocks), blocks).any()


def test_a_chain_lies_in_a_row() -> None:
    kinds, count = ["MULT18X18D"] * 20, 20
    between = np.zeros((count, count), dtype=np.int64)
    order = np.random.default_rng(5).permutation(count)
    between[order[:-1], order[1:]] = between[order[1:], order[:-1]] = UNIT
    sites = annealed(between, kinds, DIE, seed=1)
    assert len(set(sites)) == count
    assert set(sites) <= set(DIE["MULT18X18D"].sites)
    along = [sites[k][0] for k in order]
    # each next one is at the next site, or the one after: the row is 28 sites in 62 columns
    assert sum(abs(a - b) for a, b in itertools.pairwise(along)) < 60


def test_the_seed_chooses_the_places() -> None:
    between = np.random.default_rng(2).integers(0, UNIT, size=(8, 8))
    between = between + between.T
    kinds = ["MULT18X18D"] * 6 + ["DP16KD"] * 2
    first, again, other = (annealed(between, kinds, DIE, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert set(first[6:]) <= set(DIE["DP16KD"].sites)


def test_a_design_without_blocks_stays_as_it_is() -> None:
    module = wired([["x", "y"]], [])
    assert floorplan(module, find_target("ecp5-25f")) == 0


def test_more_than_the_part_has_are_left_to_nextpnr() -> None:
    blocks = [f"m{k}" for k in range(29)]
    module = wired([blocks], blocks)
    assert floorplan(module, find_target("ecp5-25f")) == 0
    assert not any(cell["attributes"] for cell in module["cells"].values())


@pytest.mark.parametrize(
    "target",
    [pytest.param(t, id=t.name) for t in TARGETS.values() if t.flag in DIES],
)
@pytest.mark.slow
def test_nextpnr_has_every_site(target: Any, tmp_path: Path) -> None:
    die = DIES[target.flag]
    assert len(die["MULT18X18D"].sites) == target.multipliers
    assert len(die["DP16KD"].sites) == target.block_rams
    module = wired([], [])
    for kind, blocks in die.items():
        for x, y, name in blocks.sites:
            cell = {"type": kind, "attributes": {"BEL": f"X{x}/Y{y}/{name}"}}
            empty = {"parameters": {}, "port_directions": {}, "connections": {}}
            module["cells"][f"{kind}_{x}_{y}"] = cell | empty
    (tmp_path / "all.json").write_text(json.dumps({"creator": "", "modules": {"top": module}}))
    arguments = [target.flag, "--package", target.package, "--json", "all.json", "--no-route"]
    run_tool(NEXTPNR, [*arguments, "--write", "placed.json"], tmp_path)
    (placed,) = json.loads((tmp_path / "placed.json").read_text())["modules"].values()
    for name, cell in module["cells"].items():
        assert placed["cells"][name]["attributes"]["NEXTPNR_BEL"] == cell["attributes"]["BEL"]
