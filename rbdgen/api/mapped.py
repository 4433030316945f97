"""A design as cells of an FPGA family, as Yosys counts them; nothing is placed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..rtl.emit import Emitted
from ..synthesize.tool import YOSYS
from ..synthesize.yosys import Cells, synth_ecp5, synth_xilinx
from .kept import kept

Progress = Callable[[str], None]


def mapped(made: Emitted, family: str, place: Path, progress: Progress) -> dict[str, Any]:
    """``cells``: type → how many, and the ``seconds`` that it took. ``family``: ecp5, xcup, xc7.

    Kept in ``place``, by the RTL's text and the version of Yosys. Raises SynthesisError.
    """
    top = made.top
    names = [f"{top}.il", f"{top}_ecp5.il"] if family == "ecp5" else [f"{top}.v"]
    text = "".join(made.files[name] for name in names)

    def compute() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="rbdgen-map-") as name:
            folder = Path(name)
            sources = [folder / name for name in names]
            for source in sources:
                source.write_text(made.files[source.name])
            if family == "ecp5":
                netlist = folder / "netlist.json"
                found: Cells = synth_ecp5(sources, top, netlist, progress=progress)
            else:
                found = synth_xilinx(sources, top, family, progress=progress)
        return {"cells": found.count, "seconds": round(found.seconds, 1)}

    return dict(kept(place, f"cells-{family}", f"{yosys_version()} {text}", compute))


def yosys_version() -> str:
    """Of the package that maps; empty where it is not installed."""
    try:
        return version(YOSYS.package.replace("_", "-"))
    except PackageNotFoundError:
        return ""
