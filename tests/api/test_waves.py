"""The layout for GTKWave: what it names is in the dump, and reads as the robot's numbers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from rbdgen import api, golden
from rbdgen.api.simulation import BITS
from rbdgen.design.loading import load
from rbdgen.tools.model import read_vcd

TRACE = re.compile(r"\[fpshift_count\] (\d+)\n(\S+)\[(\d+):0\]$", re.MULTILINE)


def test_signals_are_there_and_read_as_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "design"
    api.generate("pendulum", folder, functions=("id",), ii=4)
    said = api.simulate(folder, states=50, waves=True)
    files = [str(folder / f"simulation.{kind}") for kind in ("vcd", "gtkw")]
    assert said["waves"] == files and said["gtkwave"] == f"gtkwave {files[0]} {files[1]}"
    assert said.as_text().endswith(f"waves: {files[0]}, {files[1]}\n{said['gtkwave']}")
    (name,) = (path.stem for path in folder.glob("*_id.v"))
    layout = (folder / "simulation.gtkw").read_text()
    shown = {own[2]: (int(own[1]), int(own[3]) + 1) for own in TRACE.finditer(layout)}
    assert any(".forward_1.n" in signal for signal in shown)
    core = f"TOP/{name}"
    places = {signal: _path(signal, name) for signal in shown}
    stream = [f"{core}/{own}" for own in ("i__valid", "i__ready", "o__valid", "o__ready")]
    assert layout.splitlines()[1] == BITS
    dump = read_vcd(folder / "simulation.vcd", f"{core}/clk", [*stream, *places.values()])
    taken, given = (dump[a] & dump[b] == 1 for a, b in (stream[:2], stream[2:]))

    def real(word: str) -> np.ndarray:
        port = "o__payload" if word.startswith("tau") else "i__payload"
        signal = f"TOP.{name}.{port}.{word}"
        fraction, width = shown[signal]
        values = dump[places[signal]][given if port[0] == "o" else taken]
        return (values - (values >> (width - 1) << width)) / 2.0**fraction

    q, qd, qdd, tau = (
        np.stack([real(f"{of}[{k}]") for k in range(2)], axis=1) for of in ("q", "qd", "qdd", "tau")
    )
    assert len(q) == len(tau) == 50
    off = tau - golden.rnea(load("pendulum")[1], q, qd, qdd)
    assert np.abs(off).max() < 0.01 * np.abs(tau).max()


def _path(signal: str, name: str) -> str:
    """The name in the dump's scopes, joined by slashes."""
    inside = signal.removeprefix(f"TOP.{name}.")
    part = inside if inside.startswith(("i__", "o__")) else inside.replace(".", "/")
    return f"TOP/{name}/{part}"
