"""The Verilated core of a design, for the Python API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..compiler import Core
from ..rtl.emit import emit
from ..simulate.model import Model
from ..simulate.ports import Ports
from ..simulate.verilate import build
from .manifest import manifest

Progress = Callable[[str], None]


def build_core(
    core: Core, folder: Path, progress: Progress = lambda _: None
) -> tuple[Model, list[str]]:
    """Emit and Verilate a core in ``folder``; the model and the names of its outputs."""
    progress("Verilog")
    made = emit(core.plan, "core")
    (folder / "core.v").write_text(made.files["core.v"])
    entry: dict[str, Any] = manifest(core, made, {})["ports"]
    model = build(
        [folder / "core.v"], "core", folder, ports=Ports.from_manifest(entry), progress=progress
    )
    return model, list(made.core.outputs)


def load_core(
    folder: Path, entry: dict[str, Any], trace: bool = False, progress: Progress = lambda _: None
) -> Model:
    """Verilate the core of a generated folder; the library is kept in it.

    One that can ``trace`` is for short runs: it is compiled sooner and runs slower.
    """
    name = entry["name"]
    return build(
        [folder / f"{name}.v"],
        name,
        folder / "simulation",
        ports=Ports.from_manifest(entry["ports"]),
        trace=trace,
        opt="-O0" if trace else "-O1",
        progress=progress,
    )
