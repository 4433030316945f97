"""The integer model of a design for any number of states, in NumPy, C and C++ for HLS, and its
Verilated core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..codegen import hls_program as hls_library
from ..codegen.c_file import GRAPH, core_function, sources
from ..codegen.compiled import Compiled, CompiledModel, CSources, Results
from ..codegen.hls_program import hls_files
from ..compile.product import Product
from ..design import manifest
from ..design.design import is_looped
from ..design.manifest import HardwareManifest
from ..design.target import Ports, RegisterPorts
from ..graph.fixed import FixedGraph, Integers, evaluate_fixed, parameter_words
from ..graph.node import Node
from ..graph.visits import Program
from ..robot.model import RobotError
from ..system.compiler import FLAGS, c_library
from ..system.quoting import Progress
from ..system.records import NamedWord
from ..tasks.c import tasks_source
from ..tasks.model import Specification, evaluate_task
from ..tools.model import Model
from ..tools.toolchain import OF_LONG_RUNS, OPTIMISATION
from ..tools.verilate import build
from .output_paths import design_name
from .program_folder import about


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
    from .facts import port_facts

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


ABOUT = {"robot": "", "functions": "functions", "graph": ""}


def integer_results(made: Specification, words: Mapping[str, Integers], task: str = "") -> Results:
    """Output words (N,) by name, and overflow flags (N, flags), of N tasks of one kind.

    ``words``: the task's, by name, see `Accelerator.tasks`. A core has a flag for each output, an
    accelerator one for all.
    """
    if not made.is_core:
        found, flags = evaluate_task(made.accelerator, task, words, held=made.held)
        return found, flags[:, None]
    result = evaluate_fixed(made.fixed, {**words, **made.held})
    n = len(next(iter(words.values()))) if words else 0
    flags = np.zeros((n, len(result.outputs)), np.bool_)
    for node, states in result.overflowed.items():
        flags[:, list(made.flagged.get(node, ()))] |= states[:, None]
    return result.outputs, flags


class IntegerModel:
    """``integer_results``, in compiled C where that takes less time than NumPy."""

    def __init__(self, made: Specification, progress: Progress = lambda _: None) -> None:
        self.made, self._progress = made, progress
        self._model = self._of_source()

    def __call__(self, words: Mapping[str, Integers], task: str = "") -> Results:
        """Output words (N,) by name and flags (N, flags), of words that fit their formats."""
        made, place = self.made, self.made.accelerator.word_of
        brought = {place(name): values for name, values in words.items()}
        words = {name: brought[place(name)] for name in made.accelerator.tasks[task]}
        if made.is_core:
            n = len(next(iter(words.values())))
            held = parameter_words(made.graphs) | dict(made.held)
            words |= {name: np.full(n, word) for name, word in held.items()}
        return self._model.run(task, words, lambda own: integer_results(self.made, own, task))

    def hold(self, words: Mapping[str, int]) -> None:
        """Other words in the registers for many tasks."""
        held = {name: np.array(word) for name, word in words.items()}
        self.made = replace(self.made, held=held)
        if not self.made.is_core:  # in whose C they are constants
            self._model = self._of_source()

    def _of_source(self) -> CompiledModel:
        nodes = sum(len(fixed.graph.nodes) for fixed in self.made.graphs.values())
        return CompiledModel(lambda: integer_source(self.made), nodes, self._progress)


def integer_source(made: Specification) -> CSources:
    """The model in C, with a function for each kind of task."""
    if made.is_core:
        return c_source(made, "model", ABOUT)
    return tasks_source(made.accelerator, made.held)


def c_source(core: Specification, name: str, about: Mapping[str, str]) -> CSources:
    """The model in C, with a flag for each output. ``about``: ``robot`` and so on, in words."""
    flags = len(core.fixed.graph.outputs)
    file, function, word = core_function(core.fixed, core.flagged, flags, name)
    return CSources(sources(file, [function], word, about), (function,), word)


def hls_program(core: Product, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of its functions, and what a manifest says of them."""
    plan = core.plan
    resources = _resources(core)
    # in logic too, they are multiplications to the tool, which limits all of them together
    shared = plan.interval > 1 and "fabric" not in resources.values()
    return hls_files(
        core.fixed,
        core.flagged,
        {} if shared else resources,
        plan.interval,
        plan.multipliers if shared else 0,
        name,
        about(core.front),
        _program(core),
        plan.turns is not None,
    )


def _program(core: Product) -> tuple[Program, Mapping[str, FixedGraph]] | None:
    """The program that a core computes, if its design asks for loops."""
    if not is_looped(core.design):
        return None
    turns = core.plan.turns
    if turns is None or turns.what != "joints":
        raise RobotError("code: loops: in hls only with time-multiplexed joints; add --fold joints")
    return turns.program.real, turns.program.templates


def _resources(core: Product) -> dict[tuple[str, Node], str]:
    """The resource (DSP or fabric) of each product, by kind and node; none for shared datapaths."""
    if core.plan.turns is not None:
        return {}
    binding, words = core.plan.binding, {"dsp": "dsp", "logic": "fabric"}
    kinds = {"mul": binding.style, "sincos": binding.sincos, "reciprocal": binding.recip}
    return {(kind, node): words[own] for kind, of in kinds.items() for node, own in of.items()}


def word_source(core: Product, language: str) -> tuple[CSources, tuple[str, ...]]:
    """The function in ``c`` or ``hls`` for states in rows, and the flags to compile it with.

    Of hls NoHeaders.
    """
    front = core.front
    name = design_name(front.robot.name, front.design)
    if language == "c":
        return c_source(core, name, {**about(front), "graph": GRAPH}), FLAGS
    return hls_library.batch_source(*hls_program(core, name), name), hls_library.flags()


def word_program(
    core: Product, language: str, progress: Progress
) -> Callable[[Mapping[str, Integers]], Results]:
    """The function in ``c`` or ``hls``: what `IntegerModel` gives, of the same words.

    NoCompiler, CompilerError; of hls NoHeaders, too.
    """
    source, flags = word_source(core, language)
    progress(f"{language}: {source.functions[0].name}, {len(core.fixed.graph.nodes)} nodes")
    library = c_library(source.files, flags=flags)
    assert library is not None
    compiled = Compiled(source, library)
    held = parameter_words({"": core.fixed}) | dict(core.held)

    def run(words: Mapping[str, Integers]) -> Results:
        n = len(next(iter(words.values())))
        return compiled.run("", {**words, **{k: np.full(n, word) for k, word in held.items()}})

    return run
