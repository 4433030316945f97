"""An accelerator of a robot is generated once, and a model compiled once, whoever asks next."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from rbdgen.api import compilation as ways
from rbdgen.api import simulate, verilog
from rbdgen.api.filed_design import cached_design
from rbdgen.api.folder import MARK, sealed
from rbdgen.codegen import compiled
from rbdgen.system.cache import CacheError
from rbdgen.tools.toolchain import Toolchain
from rbdgen_host.driver import Dynamics
from tests.support.driver_designs import states

CHOICES: dict[str, Any] = {"accelerator": True, "functions": ("m",), "width": 12}
NOTHING_MADE = mock.patch.object(ways, "compile_front", side_effect=AssertionError)
NOTHING_VERILATED = mock.patch.object(Toolchain, "verilate", side_effect=AssertionError)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rbdgen"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The choices of each folder that was generated, in the wink of an eye."""
    found: list[dict[str, Any]] = []

    def files(asked: ways.Compilation) -> dict[str, str]:
        found.append(dict(asked.choices))
        asked.progress("note: of the robot")
        return {MARK: sealed({"notes": ["of the robot"]}), "pendulum.v": "module pendulum;\n"}

    monkeypatch.setattr(verilog, "verilog", files)
    return found


def test_generated_once(cache: Path, made: list[dict[str, Any]]) -> None:
    """The notes on the design are told each time."""
    said: list[str] = []
    folder = cached_design("pendulum", said.append, CHOICES)
    assert said == ["note: of the robot"]
    said.clear()
    assert cached_design("pendulum", said.append, CHOICES) == folder
    assert said == [f"generated before: {folder}", "note: of the robot"]
    assert made == [CHOICES]


@pytest.mark.parametrize("name", ["pendulum.v", MARK, "digests.json"])
def test_a_damaged_folder_is_made_again(cache: Path, made: list[dict[str, Any]], name: str) -> None:
    folder = cached_design("pendulum", lambda _: None, CHOICES)
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    said: list[str] = []
    assert cached_design("pendulum", said.append, CHOICES) == folder
    assert said == [f"{folder}: damaged, or without digests; made again", "note: of the robot"]
    assert (folder / name).read_bytes() == whole
    assert len(made) == 2


def test_each_design_has_its_folder(
    cache: Path, made: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each compiler."""
    others: list[dict[str, Any]] = [{"width": 13}, {"functions": ("m", "id")}, {"target": "xcup"}]
    designs = [CHOICES, *({**CHOICES, **other} for other in others)]
    for robot, choices in (*(("pendulum", own) for own in designs), ("gantry", CHOICES)):
        cached_design(robot, lambda _: None, choices)
    name = "rbdgen.api.filed_design.compiler_digest"
    monkeypatch.setattr(name, lambda besides: "another")
    cached_design("pendulum", lambda _: None, CHOICES)
    assert made == [*designs, CHOICES, CHOICES]
    assert len(list(cache.iterdir())) == len(made)


def test_a_cache_that_cannot_be_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CacheError, match=r"Not a directory; XDG_CACHE_HOME can name"):
        Dynamics("pendulum", "rtl", **CHOICES)


@pytest.mark.rtl
@pytest.mark.slow
def test_nothing_is_made_the_second_time(cache: Path) -> None:
    """Neither of a robot, nor of a folder that was simulated: one model serves all."""
    q = states("pendulum", 100, 14)["q"]
    first = Dynamics("pendulum", "rtl", **CHOICES).crba(q)
    with NOTHING_MADE, NOTHING_VERILATED:
        np.testing.assert_array_equal(Dynamics("pendulum", "rtl", **CHOICES).crba(q), first)
        (folder,) = cache.glob("design-*")
        said: list[str] = []
        np.testing.assert_array_equal(Dynamics(folder, "rtl", progress=said.append).crba(q), first)
        assert not said
        simulate(folder, 100)


@pytest.mark.parametrize("accelerator", [False, True])
def test_the_integer_model_is_made_once(
    cache: Path, monkeypatch: pytest.MonkeyPatch, accelerator: bool
) -> None:
    """What was compiled before needs no design; NumPy reads the graphs of what was not."""
    choices = {"functions": ("id", "m"), "width": 12, "accelerator": accelerator}
    choices |= {"ii": 8} if accelerator else {}
    q, v, a = (states("pendulum", 40, 3)[name] for name in "qva")

    def found() -> list[np.ndarray]:
        model = Dynamics("pendulum", "integer", progress=said.append, **choices)
        return [model.rnea(q, v, a), model.crba(q)]

    said: list[str] = []
    first = found()
    notes = [line for line in said if line.startswith("note: ")]
    assert notes
    said.clear()
    with NOTHING_MADE:
        again = found()
    assert said[0].startswith("compiled before: ") and said[1 : 1 + len(notes)] == notes
    monkeypatch.setattr(compiled, "COMPILING", 0.0)
    in_c = found()
    with NOTHING_MADE:
        kept = found()
    for others in (again, in_c, kept):
        for one, other in zip(first, others, strict=True):
            np.testing.assert_array_equal(one, other)
