"""Yosys: a design as cells of an FPGA family."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rbdgen.synthesize.block_rams import pack_output_registers
from rbdgen.synthesize.carries import trim_carries
from rbdgen.synthesize.tool import YOSYS, Progress, SynthesisError, run_tool

STEPS = r"^\d+\.\d+\. (Executing (MEMORY|ALUMACC|TECHMAP|ABC9) pass|Printing statistics)"
# Registers that the source marks so are not merged with equal ones.
NOT_SHARED = "setattr -set keep 1 a:rbdgen_not_shared %ci1:+[Q] t:$*dff* %i"
XILINX = ("xcup", "xc7")
MEMORIES = "rbdgen_ram_*"  # modules that hold one memory each


@dataclass(frozen=True)
class Cells:
    """A mapped design: how many cells of which type, and how long Yosys took."""

    top: str
    count: dict[str, int]
    seconds: float

    def __getitem__(self, cell: str) -> int:
        return self.count.get(cell, 0)


def synth_ecp5(
    sources: Sequence[Path], top: str, out_json: Path, *, progress: Progress | None = None
) -> Cells:
    """Map ``top`` to ECP5 cells and write the flat netlist for nextpnr.

    Args:
        sources: RTLIL (``.il``) or Verilog; later files replace modules of earlier ones. Modules
            that hold vendor cells should come as RTLIL.
        out_json: the netlist; it appears whole or not at all.

    Raises:
        SynthesisError: what Yosys said.
    """
    script = [
        *_read(sources),
        "proc",
        NOT_SHARED,
        f"synth_ecp5 -top {top} -no-rw-check",
        "write_json netlist.json",
    ]
    with tempfile.TemporaryDirectory(prefix="rbdgen-yosys-") as name:
        folder = Path(name)
        cells = _synthesize(sources, top, script, folder, progress)
        document = json.loads((folder / "netlist.json").read_text())
        module = document["modules"][top]
        trim_carries(module)
        packed = pack_output_registers(module)
        write_json(document, out_json)
    count = dict(cells.count)
    if packed:
        count["TRELLIS_FF"] -= packed
    return Cells(cells.top, count, cells.seconds)


def synth_xilinx(
    sources: Sequence[Path],
    top: str,
    family: str = "xcup",
    *,
    progress: Progress | None = None,
) -> Cells:
    """Map ``top`` to UltraScale+ or 7-series cells, for the counts: LUTs, FFs, carries, DSPs.

    Memories are mapped before their modules are dissolved, each module once: Yosys's time for one
    grows with all that is around it.

    Raises:
        ValueError: a ``family`` that is neither xcup nor xc7.
        SynthesisError: what Yosys said.
    """
    if family not in XILINX:
        raise ValueError(f"no Xilinx family {family!r}: there are {', '.join(XILINX)}")
    synth = f"synth_xilinx -family {family} -top {top} -flatten -noiopad -noclkbuf -run"
    script = [
        *_read(sources),
        f"hierarchy -top {top}",
        f"setattr -mod -set keep_hierarchy 1 {MEMORIES}",
        f"{synth} begin:map_ffram",
        f"setattr -mod -unset keep_hierarchy {MEMORIES}",
        "flatten",
        "opt_clean",
        f"{synth} map_ffram:",
    ]
    with tempfile.TemporaryDirectory(prefix="rbdgen-yosys-") as name:
        return _synthesize(sources, top, script, Path(name), progress)


def _read(sources: Sequence[Path]) -> list[str]:
    """Commands that read the copies of ``sources`` in the working folder."""
    commands = []
    for n, source in enumerate(sources):
        reader = "read_rtlil" if source.suffix == ".il" else "read_verilog -defer -sv"
        commands.append(f"{reader} {'-overwrite ' if n else ''}{n}-{source.name}")
    return commands


def _synthesize(
    sources: Sequence[Path],
    top: str,
    script: Sequence[str],
    folder: Path,
    progress: Progress | None,
) -> Cells:
    """Run ``script`` in ``folder`` on copies of the sources, and count cells."""
    for n, source in enumerate(sources):
        if not source.is_file():
            raise SynthesisError(f"no such source: {source}")
        shutil.copy(source, folder / f"{n}-{source.name}")
    lines = [*script, "tee -q -o cells.json stat -json", ""]
    (folder / "script.ys").write_text("\n".join(lines))
    seconds = run_tool(YOSYS, ["-s", "script.ys"], folder, interesting=STEPS, progress=progress)
    count = json.loads((folder / "cells.json").read_text())["design"]["num_cells_by_type"]
    return Cells(top, {cell: n for cell, n in count.items() if not cell.startswith("$")}, seconds)


def write_json(document: Any, wanted: Path) -> None:
    """Write a netlist; the file appears whole or not at all."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    part = wanted.with_name(f".{wanted.name}.part")
    part.write_text(json.dumps(document))
    part.replace(wanted)
