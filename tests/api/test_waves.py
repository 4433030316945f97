"""Waves: the dump has a design's words as real numbers, which the layouts of viewers name."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import numpy as np
from vcd.reader import TokenKind, tokenize

from rbdgen import api, golden
from rbdgen.api.wave_dump import Waves
from rbdgen.api.wave_numbers import BITS, REALS
from rbdgen.design.loading import load

FOREIGN = re.compile(rb"\$var \w+ \d+ \S+ \$")


def test_signals_are_there_and_read_as_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "design"
    api.generate("pendulum", folder, functions=("id",), ii=4)
    said = api.waves(folder, 50)
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


def test_each_region_s_numbers_are_those_of_its_joint(tmp_path: Path) -> None:
    """Of a core with a task a clock; a joint's effort is among what its regions compute."""
    folder = tmp_path / "design"
    api.generate("pendulum", folder, functions=("id",), fit=False)
    said = api.waves(folder, 30)
    check_commands(said, [str(folder / f"simulation.{kind}") for kind in ("vcd", "gtkw", "sucl")])
    surfer = (folder / "simulation.sucl").read_text().splitlines()
    shown = [line.split()[1] for line in surfer if line.startswith("variable_add ")]
    top = f"TOP.{api.read_manifest(folder).facts.name}"
    rows = at_clock(folder / "simulation.vcd", f"{top}.clk", shown)
    given = [row for row in rows if row[f"{top}.o__valid"] and row[f"{top}.o__ready"]]
    assert len(given) == 30
    for k, joint in enumerate(("shoulder", "elbow")):
        efforts = {row[f"numbers.{joint}.tau_{k}"] for row in given}
        own = [name for name in shown if re.match(rf"numbers\.(for|back)ward_{k}\.n", name)]
        assert len(efforts) > 20
        assert any(efforts <= {row[name] for row in rows} for name in own)


def test_an_accelerator_s_numbers_are_of_functions(tmp_path: Path) -> None:
    folder = tmp_path / "design"
    api.generate("pendulum", folder, accelerator=True, functions=("id", "m"), ii=4)
    said = api.waves(folder, 40, seed=2)
    entry = api.read_manifest(folder).facts
    files = [*(f"simulation.{kind}" for kind in ("vcd", "gtkw", "sucl")), "timeline.svg"]
    check_commands(said, [str(folder / own) for own in files])
    surfer = (folder / "simulation.sucl").read_text().splitlines()
    shown = [line.split()[1] for line in surfer if line.startswith("variable_add ")]
    assert len([own for own in shown if own.startswith("numbers.")]) == said["numbers"]
    assert any(own.startswith("numbers.rnea_backward_0.n") for own in shown)
    top = f"TOP.{entry.name}"
    payloads = [f"{top}.{way}__payload.{own}" for way in "io" for own in ("function", "tag")]
    rows = at_clock(folder / "simulation.vcd", f"{top}.clk", [*shown, *payloads])
    joints, tasks = ("shoulder", "elbow"), dict[tuple[str, float], list[np.ndarray]]()
    codes = {own.code: function for function, own in entry.tasks.functions.items()}
    of = {"i": {"id": ("q", "qd", "qdd"), "m": ("q",)}, "o": {"id": ("tau",), "m": ()}}
    for row in rows:
        for way, arrays in of.items():
            if row[f"{top}.{way}__valid"] and row[f"{top}.{way}__ready"]:
                function = codes[int(row[f"{top}.{way}__payload.function"])]
                found = tasks.setdefault((function, row[f"{top}.{way}__payload.tag"]), [])
                for array in arrays[function]:
                    names = (f"numbers.{j}.{function}_{array}_{k}" for k, j in enumerate(joints))
                    found.append(np.array([row[name] for name in names]))
    of_id = [np.array(own) for (function, _), own in tasks.items() if function == "id"]
    assert len(tasks) == 40 and 10 < len(of_id) < 30
    *state, tau = np.swapaxes(of_id, 0, 1)
    off = tau - golden.rnea(load("pendulum")[1], *state)
    assert np.abs(off).max() < 0.01 * np.abs(tau).max()


def check_commands(said: Waves, files: list[str]) -> None:
    dump, gtkwave, surfer = files[:3]
    assert said["files"] == files and not said["left_out"]
    commands = [f"gtkwave {dump} {gtkwave}", f"surfer {dump} --command-file {surfer}"]
    assert [said["gtkwave"], said["surfer"]] == commands
    assert said.as_text().splitlines()[-3:] == [f"files: {', '.join(files)}", *commands]


def at_clock(file: Path, clock: str, names: list[str]) -> list[dict[str, float]]:
    """Each name's value before each rising edge, as a reader that is not ours finds it."""
    codes: dict[str, str] = {}
    scopes: list[str] = []
    value: dict[str, float] = {}
    found, new = list[dict[str, float]](), dict[str, float]()
    # of names that the reader does not take, as Amaranth has them
    lines = (line for line in file.read_bytes().splitlines(True) if not FOREIGN.search(line))
    with BytesIO(b"".join(lines)) as dump:
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
                        found.append({name: value.get(codes[name], np.nan) for name in names})
                    value |= new
                    new = {}
                case TokenKind.CHANGE_SCALAR:
                    new[token.scalar_change.id_code] = int(token.scalar_change.value)
                case TokenKind.CHANGE_VECTOR:
                    new[token.vector_change.id_code] = int(token.vector_change.value)
                case TokenKind.CHANGE_REAL:
                    new[token.real_change.id_code] = token.real_change.value
    return found
