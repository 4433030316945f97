"""A controller with ticks: every bit of every cycle equal to the integer model, in bad traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.integer_model import IntegerModel
from rbdgen.design.gains import gains_of
from rbdgen.shell.emit import CoreInstance, emit, ports_of, shell_files
from rbdgen.shell.tick_model import TickedModel, slowest, ticks_of
from rbdgen.shell.ticked_controller import TickedController
from rbdgen.tools.cycles import CycleSession
from tests.support.made import compiled
from tests.support.ticks import Compared, Core, Traffic, compare

LAWS = {"computed-torque": {}, "impedance": {"gains": "inputs"}}
WATCHDOG = 3


def integers(made: Any) -> Core:
    """The core's integer model."""
    model = IntegerModel(made)

    def core(tasks: list[dict[str, int]]) -> tuple[list[dict[str, int]], list[bool]]:
        words = {name: np.array([own[name] for own in tasks]) for name in tasks[0]}
        found, flags = model(words)
        results = zip(*(own.tolist() for own in found.values()), strict=True)
        return [dict(zip(found, own, strict=True)) for own in results], flags.any(axis=1).tolist()

    return core


def run(law: str, place: Path, ticks: int) -> Compared:
    made = compiled("pendulum", functions=law, ii=4, width=18, **LAWS[law])
    gains = gains_of(made.design, made.front.robot)
    assert gains is not None
    busy = slowest(made.plan)
    own = ticks_of(busy + 2, WATCHDOG, gains, made.fixed)
    emitted = emit(made.accelerator, "law")
    shell = TickedController(CoreInstance(emitted.core, "law"), own)
    for name, text in (emitted.files | shell_files(shell, "law_control")).items():
        (place / name).write_text(text, "utf-8")
    ports = [port for port in ports_of(shell) if port.name not in ("clk", "rst")]
    session = CycleSession(
        [place / "law.v", place / "law_control.v"],
        "law_control",
        {port.name: port.width for port in ports if port.taken},
        {port.name: port.width for port in ports if not port.taken},
    )
    return compare(session, TickedModel(own), Traffic(own, busy, 7), integers(made), ticks)


@pytest.mark.rtl
@pytest.mark.parametrize("law", LAWS)
def test_every_bit_of_ticks(law: str, tmp_path: Path) -> None:
    """Of every output in every cycle; each cause of a trip occurs."""
    found = run(law, tmp_path, 1000)
    assert found.ticks >= 1000 and 100 < found.safe < found.ticks - 100
    assert all(found.trips[:3])


@pytest.mark.rtl
@pytest.mark.slow
def test_every_bit_of_many_ticks(tmp_path: Path) -> None:
    found = run("computed-torque", tmp_path, 100_000)
    assert found.ticks >= 100_000 and all(found.trips)
