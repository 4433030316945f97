"""Yosys: a design as cells of an FPGA family."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rbdgen.synthesize.tool import YOSYS, Progress, SynthesisError, run_tool

STEPS = r"^\d+\.\d+\. (Executing (SYNTH|TECHMAP|ABC9?) pass|Printing statistics)"


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
        f"synth_ecp5 -top {top} -no-rw-check",
        "write_json netlist.json",
    ]
    return _synthesize(sources, top, script, {"netlist.json": out_json}, progress)


def synth_xilinx(
    sources: Sequence[Path],
    top: str,
    family: Literal["xcup", "xc7"] = "xcup",
    *,
    progress: Progress | None = None,
) -> Cells:
    """Map ``top`` to UltraScale+ or 7-series cells, for the counts: LUTs, FFs, carries, DSPs."""
    script = [*_read(sources), f"synth_xilinx -family {family} -top {top} -flatten -noiopad"]
    return _synthesize(sources, top, script, {}, progress)


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
    results: dict[str, Path],
    progress: Progress | None,
) -> Cells:
    """Run ``script`` on copies of the sources; count cells; move the results into place."""
    with tempfile.TemporaryDirectory(prefix="rbdgen-yosys-") as name:
        folder = Path(name)
        for n, source in enumerate(sources):
            if not source.is_file():
                raise SynthesisError(f"no such source: {source}")
            shutil.copy(source, folder / f"{n}-{source.name}")
        lines = [*script, "tee -q -o cells.json stat -json", ""]
        (folder / "script.ys").write_text("\n".join(lines))
        seconds = run_tool(
            YOSYS, ["-s", "script.ys"], folder, interesting=STEPS, progress=progress
        )
        count = json.loads((folder / "cells.json").read_text())["design"]["num_cells_by_type"]
        for produced, wanted in results.items():
            place(folder / produced, wanted)
    return Cells(top, count, seconds)


def place(produced: Path, wanted: Path) -> None:
    """Move a finished file to where it was asked for, in one step."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    near = wanted.with_name(f".{wanted.name}.part")
    shutil.move(produced, near)
    near.replace(wanted)
