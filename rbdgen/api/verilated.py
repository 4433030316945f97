"""The Verilated core of a design, for the Python API."""

from __future__ import annotations

from pathlib import Path

from ..compile.product import Product
from ..design import manifest
from ..design.manifest import HardwareManifest
from ..design.ports import Ports, RegisterPorts
from ..system.messages import Progress
from ..system.records import NamedWord
from ..tools.model import Model
from ..tools.toolchain import OF_LONG_RUNS, OPTIMISATION
from ..tools.verilate import build


def ports_of(said: manifest.ManifestPorts) -> Ports:
    """The ports to simulate, as a manifest lists them."""
    own = said.registers
    registers = RegisterPorts(NamedWord(own.word, own.width), own.write) if own else None
    return Ports.of(said.input.fields, said.output.fields, registers)


def build_core(
    made: Product,
    folder: Path,
    name: str = "core",
    progress: Progress = lambda _: None,
) -> tuple[Model, list[str]]:
    """Emit and Verilate a core in ``folder``, no shells; the model and the names of its outputs."""
    from ..shell.emit import emit  # a folder that was generated needs none of it
    from .verilog import port_facts

    progress("Verilog")
    source = folder / f"{name}.v"
    source.write_text(emit(made.accelerator, name).files[source.name], "utf-8")
    ports = ports_of(port_facts(made))
    model = build([source], name, ports=ports, progress=progress)
    return model, list(made.fixed.graph.outputs)


def load_core(
    folder: Path,
    entry: HardwareManifest,
    *,
    trace: bool = False,
    long: bool = False,
    progress: Progress = lambda _: None,
) -> Model:
    """Verilate the core of a generated folder; ``trace``: for waves, too; ``long``: for many
    cycles, which is compiled longer."""
    name = entry.name
    return build(
        [folder / f"{name}.v"],
        name,
        ports=ports_of(entry.ports),
        trace=trace,
        optimisation=OF_LONG_RUNS if long else OPTIMISATION,
        progress=progress,
    )
