"""The Verilated core of a design, for the Python API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..compile.flow import Core
from ..design import manifest
from ..design.manifest import AcceleratorManifest, CoreManifest
from ..rtl.emit import emit
from ..simulate.model import Model
from ..simulate.ports import Ports
from ..simulate.verilate import build
from .manifest import core_ports

Progress = Callable[[str], None]
FEW = 10_000  # tasks for which a C++ compiler that optimises takes longer than it saves


def ports_of(said: manifest.Ports) -> Ports:
    """What is simulated, of what a manifest says."""
    return Ports.of(said.input.fields, said.output.fields)


def build_core(
    core: Core,
    folder: Path,
    name: str = "core",
    opt: str = "-O1",
    progress: Progress = lambda _: None,
) -> tuple[Model, list[str]]:
    """Emit and Verilate a core in ``folder``, no shells; the model and the names of its outputs."""
    progress("Verilog")
    made = emit(core.plan, name, shells=False)
    source = folder / f"{name}.v"
    source.write_text(made.files[source.name])
    ports = ports_of(core_ports(core, made.core))
    model = build([source], name, folder, ports=ports, opt=opt, progress=progress)
    return model, list(made.core.outputs)


def load_core(
    folder: Path,
    entry: CoreManifest | AcceleratorManifest,
    *,
    tasks: int | None = None,
    trace: bool = False,
    progress: Progress = lambda _: None,
) -> Model:
    """Verilate the core of a generated folder; the library is kept in it.

    For few ``tasks``, and to ``trace``, it is compiled sooner and runs slower; None: many.
    """
    name = entry.name
    return build(
        [folder / f"{name}.v"],
        name,
        folder / "simulation",
        ports=ports_of(entry.ports),
        trace=trace,
        opt="-O0" if trace or (tasks is not None and tasks <= FEW) else "-O1",
        progress=progress,
    )
