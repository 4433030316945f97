"""A generated folder's design read back: its robot, its integer graphs, its integer models in C.

Folders of designs, and of those models, are kept in a cache.
"""

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
    from ..tasks.model import Specification
import re
from collections.abc import Iterable

from ..compile.front import of_bodies
from ..compile.product import Product
from ..design.arrays import given_coordinates
from ..design.design import canonical_of
from ..design.loading import load
from ..design.manifest import HardwareManifest
from ..design.target import find_target
from ..graph.fixed import FixedGraph, Flagged, Format
from ..graph.text import TextError, fixed_from_text, is_whole
from ..schedule.partition import Piece
from ..tasks.model import DesignedRobot, Specification
from ..tasks.stage import Stage, of_limbs
from ..tasks.stages import Accelerator
from .compilation import recompiled
from .design_file import DESIGN, graph_file
from .folder import ANEW, OutputError, text_of, unlisted

GRAPHS = re.compile(r"graph(_(?P<stage>\w+))?\.txt")
Graphs = dict[str, tuple[FixedGraph, Flagged]]


def filed_design(
    place: Path, entry: HardwareManifest, progress: Progress = lambda _: None
) -> Specification:
    """The design in the folder ``place``, whose manifest is ``entry``, as its files say it.

    Nothing is compiled, but for folders of version 0.1. OutputError for a graph that is none.
    """
    graphs = filed_graphs(place, entry.files)
    if graphs is None:
        return compiled_again(place, progress)
    progress(f"reading {place}")
    return specified(place, entry.tasks, graphs)


def specified(place: Path, tasks: TaskFacts, graphs: Graphs) -> Specification:
    """The design in a folder, of these ``tasks`` and `filed_graphs`; OutputError where one is not
    listed."""
    front, own = filed_robot(place), Graphs()
    for stage in tasks.stages:
        name = stage if tasks.slots else ""
        if name not in graphs:
            raise unlisted(place, graph_file(name))
        own[stage] = graphs[name]
    given = given_coordinates(front.design, front.robot)
    return Specification(front, _accelerator(tasks, own, given))


def filed_graphs(place: Path, files: Iterable[str]) -> Graphs | None:
    """The graphs in fixed point among the ``files`` of a folder, by stage; a core's has no name.

    None for those of version 0.1, which do not say all. OutputError for a text that is no graph.
    """
    found: Graphs = {}
    for name in files:
        if match := GRAPHS.fullmatch(name):
            text = text_of(place, name)
            if not is_whole(text):
                return None
            try:
                found[match["stage"] or ""] = fixed_from_text(text)
            except TextError as error:
                raise OutputError(f"{place / name}: {error}; {ANEW}") from None
    return found


def compiled_again(place: Path, progress: Progress) -> Product:
    """The design of a folder of version 0.1, with a note; errors as those of `recompiled`."""
    progress(f"note: {place}: made by an older rbdgen, so its design is compiled again")
    return recompiled(place, progress)


def filed_robot(place: Path) -> DesignedRobot:
    """The design and the robot in a folder; RobotError."""
    design, robot = load(place / DESIGN)
    canonical = canonical_of(design, of_bodies(design))(robot)
    return DesignedRobot(design, find_target(design.target), robot, canonical)


def _accelerator(tasks: TaskFacts, graphs: Graphs, given: int) -> Accelerator:
    """The stages of these ``graphs``; ``given``: entries of v that are of a base whose motion is
    given."""
    pieces = {
        name: Piece(fixed, tasks.stages[name].reads or {}) for name, (fixed, _) in graphs.items()
    }
    limbs = of_limbs(pieces) if tasks.slots else {}
    stages = {
        name: Stage(name, piece, None, given, limbs, tasks.stages[name], graphs[name][1])
        for name, piece in pieces.items()
    }
    inputs = {own.name: Format(own.width, own.fraction) for own in tasks.inputs or ()}
    if not tasks.slots:
        ((fixed, _),) = graphs.values()
        inputs = dict(fixed.inputs)
    results = {
        name: tuple(own.name for own in function.outputs)
        for name, function in tasks.functions.items()
    }
    in_order = tasks.order == "issued"
    return Accelerator(tuple(results), stages, results, inputs, tasks.slots, in_order)


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
