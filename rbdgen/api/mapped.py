"""A design as cells of an FPGA family, as Yosys counts them; nothing is placed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..rtl.emit import Emitted
from ..rtl.multiplier_cells import emit_cells
from ..rtl.owned import owned
from ..synthesize import families, parts, yosys
from ..synthesize.tool import YOSYS, Tool
from ..system.records import Record
from .result_cache import kept

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MappedCells(Record):
    """Type → how many, and how long it took."""

    cells: Mapping[str, int]
    seconds: float


def mapped(
    made: Emitted[Any, Any], family: str, place: Path, progress: Progress, by_module: bool = False
) -> MappedCells:
    """The cells of a design. ``family``: ecp5, gowin, nexus, xcup, xc7.

    ``by_module``: each module by itself on ECP5 too, for designs that are larger than any part.
    Kept in ``place``, by the RTL's text and what maps it. Raises SynthesisError.
    """
    top = made.top
    if family in families.FAMILIES:
        cells = owned(emit_cells(made.multipliers, family), top)
        files = {f"{top}.il": made.files[f"{top}.il"], f"{top}_{family}.il": cells}
    else:
        files = {f"{top}.v": made.files[f"{top}.v"]}
    text = "".join(files.values())

    def compute() -> Any:
        with tempfile.TemporaryDirectory(prefix="rbdgen-map-") as name:
            folder = Path(name)
            sources = [folder / name for name in files]
            for source in sources:
                source.write_text(files[source.name], "utf-8")
            found: yosys.Cells
            if family not in families.FAMILIES:
                found = yosys.synth_xilinx(sources, top, family, progress=progress)
            elif family == "ecp5" and by_module:
                found = yosys.count_ecp5(sources, top, progress=progress)
            else:
                netlist = folder / "netlist.json"
                found = yosys.synth(family, sources, top, netlist, progress=progress)
        return MappedCells(found.count, round(found.seconds, 1)).to_json()

    what = f"cells-{family}" + ("-by-module" if by_module else "")
    files_of = (yosys.__file__, parts.__file__, families.__file__)
    by = [yosys_version(), *(Path(file).read_text("utf-8") for file in files_of)]
    return MappedCells.from_json(kept(place, what, " ".join([*by, text]), compute, progress))


def yosys_version() -> str:
    """The version of the package that maps; empty where it is not installed."""
    return version_of(YOSYS)


def version_of(tool: Tool) -> str:
    """The version of a tool's package; empty where it is not installed."""
    try:
        return version(tool.package.replace("_", "-"))
    except PackageNotFoundError:
        return ""
