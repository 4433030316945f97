"""Mutation score of the arithmetic core, or of a folder: do its tests see a change of one thing?

    make mutants                          # of the core
    make mutants FOLDER=rbdgen/schedule   # of another folder, a file, or a line: shell/axi.py:328

or: python -m tests.mutants [--jobs N] [--sample N] [FOLDER …]

Each mutant is a module with one operator, number, argument or string changed as mutmut changes it,
anywhere but in annotations and decorators: in tables made at import and in functions that are
cached, too. It is imported in a process of its own, which has the tests of `make fast`: the
module's own, then the others that ``seen_by`` names, until one fails. So the score is one of tests
of less than a second; what they let through the longer ones may still see, and what tests start as
``python -m rbdgen`` is not changed. What was found is kept in ``VERDICTS``, and holds while module
and tests are the same; a killed one stays killed.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import math
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from multiprocessing.connection import wait
from pathlib import Path

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import deep_replace
from mutmut.mutation.mutators import mutation_operators

from tests.support.mirror import CORE, ROOT, modules_of, seen_by

VERDICTS = ROOT / "build/mutants.json"
FAST = ["-q", "-x", "--assert=plain", "-p", "no:cacheprovider", "-m", "not slow and not seconds"]
SECONDS = 60  # of processor time, after which a test file hangs, as after ten times as long: seen
BYTES = 8 << 30  # of memory
# once, for all processes
LOADED = ("amaranth.sim", "apytypes", "hypothesis", "jinja2", "numpy", "scipy.linalg", "yaml")
KILLED = "killed"
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Mutant:
    """The ``number``-th change of a module; what stood in a ``line`` ``before`` and ``after``."""

    module: str
    number: int
    where: str
    line: int
    before: str
    after: str

    @property
    def key(self) -> str:
        text = f"{self.number} {self.before} {self.after} {_source(self.module)}"
        return f"{self.module} {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def text(self) -> str:
        """The module's source with this change."""
        module, changes = _changes(self.module)
        node, changed, *_ = changes[self.number]
        found = deep_replace(module, node, changed)
        assert isinstance(found, cst.Module)
        return found.code

    def __str__(self) -> str:
        place = f"{self.module}.py:{self.line} {self.where}"
        return f"{place}: {' '.join(self.before.split())} → {' '.join(self.after.split())}"


class Changes(cst.CSTVisitor):
    """Every change of a module: node, changed node, function and line."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, str, int]] = []
        self.within: list[str] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.within.append(node.name.value)
        if self._left_alone(node):
            return False
        for kind, operator in mutation_operators:
            for changed in operator(node) if isinstance(node, kind) else ():
                line = self.get_metadata(PositionProvider, node).start.line
                self.found.append((node, changed, ".".join(self.within) or "table", line))
        return True

    def on_leave(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.within.pop()

    def _left_alone(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Decorator):
            return True
        if isinstance(node, cst.Assign) and not self.within:
            return isinstance(node.value, cst.Subscript)  # a name for an annotation
        # whose argument has but one type that works: mutmut leaves these out, too
        return (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Name)
            and node.func.value in ("len", "isinstance")
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="*", default=[*CORE], metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--sample", type=int, help="the first so many of all mutants in their seeded order"
    )
    chosen = parser.parse_args(arguments)
    os.chdir(ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a third of the time of a mutant
    for name in LOADED:
        importlib.import_module(name)
    try:
        every = [mutant for place in chosen.places for mutant in mutants_of(place)]
        modules = list(dict.fromkeys(mutant.module for mutant in every))
        _check_tests(modules, kept := _verdicts())
    except ValueError as error:
        parser.error(str(error))
    # in any order, so that those of an hour are a sample of all
    mutants = random.Random(0).sample(every, len(every))[: chosen.sample]
    left = [m for m in mutants if kept.get(m.key) not in (KILLED, _digest(m.module))]
    left.sort(key=lambda m: m.key not in kept)  # a new test may see what survived
    gc.freeze()  # what processes share is no garbage of theirs
    with suppress(KeyboardInterrupt):  # reports what has been tried till then
        for done, (mutant, seen) in enumerate(_tried(left, chosen.jobs), 1):
            kept[mutant.key] = KILLED if seen else _digest(mutant.module)
            VERDICTS.parent.mkdir(exist_ok=True)
            VERDICTS.write_text(json.dumps(kept, indent=0))
            if not seen or done % 100 == 0:
                said = "killed" if seen else f"survived {mutant}"
                print(f"{done} of {len(left)}: {said}", file=sys.stderr, flush=True)
    tried = {m for m in mutants if m.key in kept}
    print(f"{len(tried)} of {len(every)} mutants")
    _report([m for m in every if m in tried], {m for m in tried if kept[m.key] != KILLED})


def _verdicts() -> dict[str, str]:
    found: dict[str, str] = json.loads(VERDICTS.read_text()) if VERDICTS.is_file() else {}
    return found


def mutants_of(place: str) -> list[Mutant]:
    """The mutants of a folder's modules, of one module, or of one line of it after a colon."""
    path, _, line = place.partition(":")
    every = [mutant for module in modules_of(path) for mutant in _mutants_of(module)]
    found = [mutant for mutant in every if not line or mutant.line == int(line)]
    if not found:
        raise ValueError(f"{place}: nothing that could be changed")
    return found


def _mutants_of(module: str) -> list[Mutant]:
    tree, changes = _changes(module)
    return [
        Mutant(module, n, where, line, tree.code_for_node(old), tree.code_for_node(new))
        for n, (old, new, where, line) in enumerate(changes)
    ]


@cache
def _changes(module: str) -> tuple[cst.Module, list[tuple[cst.CSTNode, cst.CSTNode, str, int]]]:
    wrapper, visitor = MetadataWrapper(cst.parse_module(_source(module))), Changes()
    wrapper.visit(visitor)
    return wrapper.module, visitor.found


@cache
def _source(module: str) -> str:
    return (ROOT / f"rbdgen/{module}.py").read_text()


@cache
def _digest(module: str) -> str:
    """Of the tests."""
    text = "".join(Path(file).read_text() for file in sorted(seen_by(module)))
    return hashlib.sha256(text.encode()).hexdigest()


def _check_tests(modules: Sequence[str], kept: dict[str, str]) -> None:
    """Tests that fail without a change say nothing of one."""
    for module in modules:
        files, digest = seen_by(module), _digest(module)
        if digest not in kept:
            process = FORK.Process(target=_pass, args=(files,))
            process.start()
            process.join()
            if process.exitcode:
                sys.exit(f"these fail without a change: {' '.join(files)}")
            kept[digest] = "pass"


def _tried(mutants: Sequence[Mutant], jobs: int) -> Iterator[tuple[Mutant, bool]]:
    """Each, and whether a test saw it, as they end."""
    waiting, running = deque(mutants), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.popleft()
            process = FORK.Process(target=_trial, args=(mutant,))
            process.start()
            running[process.sentinel] = process, mutant
        for sentinel in wait(list(running)):
            process, mutant = running.pop(sentinel)
            process.join()
            yield mutant, process.exitcode != 0


def _trial(mutant: Mutant) -> None:
    """In its own process, which ends with 0 if all tests pass."""
    sys.meta_path.insert(0, Changed(mutant))
    _pass(seen_by(mutant.module))


def _pass(files: Sequence[str]) -> None:
    """Ends the process if a test fails, hangs or takes more memory than ``BYTES``."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    for file in files:
        end = math.ceil(time.process_time()) + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
        signal.alarm(10 * SECONDS)
        code = pytest.main([*FAST, file])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            os._exit(int(code))


class Changed(MetaPathFinder, SourceLoader):
    """Imports the mutant in place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = f"rbdgen.{mutant.module.replace('/', '.')}"
        assert self.name not in sys.modules
        self.path, self.source = str(ROOT / f"rbdgen/{mutant.module}.py"), mutant.text

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname == self.name else None

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str) -> bytes:
        return self.source.encode()


def _report(mutants: Sequence[Mutant], survivors: set[Mutant]) -> None:
    """What survives, and the score of each module."""
    for mutant in mutants:
        if mutant in survivors:
            print(mutant)
    for module in [*dict.fromkeys(m.module for m in mutants), ""]:
        own = [m for m in mutants if m.module.startswith(module)]
        killed = sum(m not in survivors for m in own)
        print(f"{module or 'all':16} {killed:5} of {len(own):5} {100 * killed / len(own):6.1f} %")


if __name__ == "__main__":
    main()
