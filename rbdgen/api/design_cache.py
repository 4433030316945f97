"""A cache of generated designs and of their integer models in C."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..codegen.compiled import CompiledModel, CSources, Results
from ..design.facts import TaskFacts
from ..graph.fixed import Integers
from ..system.cache import cached, named
from ..system.quoting import Progress
from ..system.records import Record
from .compilation import Compilation
from .design_file import FOLDER, compiler_digest, design_digest, filed_notes
from .folder import read_manifest

if TYPE_CHECKING:
    from ..compile.product import Product
    from ..compile.specification import Specification

FACTS = "integers.json"


def cached_design(robot: str, progress: Progress, choices: Mapping[str, Any]) -> Path:
    """The folder that `generate` makes of ``robot``, in the cache.

    ``progress`` is told the notes on the design in either case. Errors as those of `cached_folder`.
    """

    made = Compilation(robot, progress, choices)

    def make(work: Path) -> None:
        from . import verilog  # imports all that makes hardware

        for name, text in verilog.verilog(made).items():
            (work / name).write_bytes(text.encode("utf-8", "surrogateescape"))

    folder, new = cached_folder("design", made, make)
    if not new:
        progress(f"generated before: {folder}")
        made.say(read_manifest(folder)["notes"])
    return folder


def cached_folder(what: str, made: Compilation, make: Callable[[Path], None]) -> tuple[Path, bool]:
    """The folder ``what`` of a robot's design in the cache, and whether ``make`` wrote it now.

    It is found by a digest of robot, choices and compiler. CacheError where the cache cannot
    be written.
    """
    of = f"{compiler_digest(FOLDER)} {design_digest(made.design)}"
    new = False

    def make_now(work: Path) -> None:
        nonlocal new
        new = True
        make(work)

    return cached(named(what, of), make_now, made.progress), new


@dataclass(frozen=True)
class Facts(Record):
    """The cached description of a design's tasks, the source of its C model, and notes.

    ``whole``: a task computes all functions, and there is one flag for each output; else a task is
    of one function, with one flag.
    """

    tasks: TaskFacts
    whole: bool
    source: CSources
    nodes: int
    notes: tuple[str, ...]


class CachedIntegers:
    """The integer model of a robot's design: in C if that was compiled before, or is worth it.

    ``folder`` has the robot and the design, too, and the graphs, which NumPy takes: they are read
    only when NumPy is asked, which it is not where the C was compiled before.
    """

    def __init__(self, robot: str, progress: Progress, choices: Mapping[str, Any]) -> None:
        """Errors as those of `cached_folder`."""

        self._made = Compilation(robot, progress, choices)

        def make(work: Path) -> None:
            for name, text in _files(self._made.product).items():
                (work / name).write_bytes(text.encode("utf-8", "surrogateescape"))

        self.folder, new = cached_folder("integers-design", self._made, make)
        self.facts = Facts.from_json(json.loads((self.folder / FACTS).read_bytes()))
        if not new:
            progress(f"compiled before: {self.folder}")
            self._made.say(self.facts.notes)
        self._model = CompiledModel(self.facts.source, self.facts.nodes, progress)

    @cached_property
    def _graphs(self) -> Specification:
        from .filed_design import filed_graphs, specified

        graphs = filed_graphs(self.folder, [file.name for file in self.folder.iterdir()])
        assert graphs is not None  # of this version
        return specified(self.folder, self.facts.tasks, graphs)

    def run(self, words: Mapping[str, Integers], task: str = "") -> Results:
        """Evaluate N tasks of one kind: output words (N,) by name, and flags (N, flags).

        ``words``: by their place in a task.
        """

        def reference(words: Mapping[str, Integers]) -> Results:
            from .integer_model import integer_results

            return integer_results(self._graphs, words, task)

        if task:  # some inputs share a place
            inputs = self.facts.tasks.functions[task].inputs
            words = {own.name: words[own.word] for own in inputs}
        return self._model.run(task, words, reference)


def _files(product: Product) -> dict[str, str]:
    """The files of the folder, by name."""
    from .compilation import graph_files, sources_of
    from .facts import task_facts
    from .integer_model import integer_source

    facts = Facts(
        tasks=task_facts(product),
        whole=product.is_core,
        source=integer_source(product),
        nodes=sum(len(graph.graph.nodes) for graph in product.graphs.values()),
        notes=filed_notes(product.front.design, (*product.front.notes, *product.notes)),
    )
    return graph_files(product) | sources_of(product.front) | {FACTS: json.dumps(facts.to_json())}
