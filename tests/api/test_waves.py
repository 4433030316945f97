"""Waves of a core: the dump has its words as real numbers, which the layouts of viewers name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from vcd.reader import TokenKind, tokenize

from rbdgen import api, golden
from rbdgen.api.simulation import Simulation
from rbdgen.api.waves import BITS, REALS
from rbdgen.design.loading import load


def test_signals_are_there_and_read_as_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "design"
    api.generate("pendulum", folder, functions=("id",), ii=4)
    said = api.simulate(folder, states=50, waves=True)
    files = [str(folder / f"simulation.{kind}") for kind in ("vcd", "gtkw", "sucl")]
    check_commands(said, files)
    (name,) = (path.stem for path in folder.glob("*_id.v"))
    gtkwave = (folder / "simulation.gtkw").read_text().splitlines()
    surfer = (folder / "simulation.sucl").read_text().splitlines()
    shown = [line.split()[1] for line in surfer if line.startswith("variable_add ")]
    assert [line for line in gtkwave if line[0] not in "@-["] == shown
    groups = [line for line in surfer if line.startswith("divider_add ")]
    assert {"divider_add shoulder", "divider_add forward_1"} <= set(groups)
    assert gtkwave[1] == BITS and gtkwave.count(REALS) == len(groups)
    stream = [f"TOP.{name}.{own}" for own in ("i__valid", "i__ready", "o__valid", "o__ready")]
    rows = at_clock(folder / "simulation.vcd", f"TOP.{name}.clk", shown)
    taken = [row for row in rows if row[stream[0]] and row[stream[1]]]
    given = [row for row in rows if row[stream[2]] and row[stream[3]]]
    joints = "shoulder", "elbow"

    def numbers(rows: list[dict[str, float]], of: str) -> np.ndarray:
        names = [f"numbers.{joint}.{of}_{k}" for k, joint in enumerate(joints)]
        return np.array([[row[own] for own in names] for row in rows])

    q, qd, qdd = (numbers(taken, of) for of in ("q", "qd", "qdd"))
    tau = numbers(given, "tau")
    assert len(q) == len(tau) == 50
    off = tau - golden.rnea(load("pendulum")[1], q, qd, qdd)
    assert np.abs(off).max() < 0.01 * np.abs(tau).max()


def check_commands(said: Simulation, files: list[str]) -> None:
    dump, gtkwave, surfer = files
    assert said["waves"] == files
    commands = [f"gtkwave {dump} {gtkwave}", f"surfer {dump} --command-file {surfer}"]
    assert [said["gtkwave"], said["surfer"]] == commands
    assert said.as_text().splitlines()[-3:] == [f"waves: {', '.join(files)}", *commands]


def at_clock(file: Path, clock: str, names: list[str]) -> list[dict[str, float]]:
    """Each name's value before each rising edge, as a reader that is not ours finds it."""
    codes: dict[str, str] = {}
    scopes: list[str] = []
    value: dict[str, float] = {}
    found, new = list[dict[str, float]](), dict[str, float]()
    with file.open("rb") as dump:
        for token in tokenize(dump):
            match token.kind:
                case TokenKind.SCOPE:
                    scopes.append(token.scope.ident)
                case TokenKind.UPSCOPE:
                    scopes.pop()
                case TokenKind.VAR:
                    codes[".".join([*scopes, token.var.reference])] = token.var.id_code
                case TokenKind.CHANGE_TIME:
                    if new.get(codes[clock]) and not value.get(codes[clock], 1):
                        found.append({name: value[codes[name]] for name in names})
                    value |= new
                    new = {}
                case TokenKind.CHANGE_SCALAR:
                    new[token.scalar_change.id_code] = int(token.scalar_change.value)
                case TokenKind.CHANGE_REAL:
                    new[token.real_change.id_code] = token.real_change.value
    return found
