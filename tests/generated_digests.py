"""Digests of generated designs: ``python -m tests.generated_digests`` says what a change changed.

A refactoring makes the digests before it with ``-o before.jsonl``, and after it compares::

    python -m tests.generated_digests --quick -o before.jsonl
    python -m tests.generated_digests --quick --compare before.jsonl

A row is a robot, a function, a way of sharing (`WAYS`) and a language, generated in this process.
It has a SHA-256 of each file, one of the bits, and counts: operations, cycles, multipliers, LUTs by
the area model. Bits are the integer model's results for the test vectors, and the real graph's for
random states; these depend on NumPy, so compare on one machine. Of Verilog the row has the RTLIL
from which Yosys makes it; ``--yosys`` runs Yosys, too. A refusal is a row as well.

All rows take hours. ``--robots``, ``--functions``, ``--ways`` and ``--languages`` choose some,
``--quick`` a few of three robots in less than a minute. The rows of ``-o`` are not generated again
while the package is the same. The exit status is 1 where bits, counts or refusals changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from rbdgen.api.compilation import Compilation, Files
from rbdgen.api.design_file import FOLDER, compiler_digest
from rbdgen.api.facts import area_of
from rbdgen.api.folder import MARK
from rbdgen.api.generation import writer
from rbdgen.api.programs import cuda_program
from rbdgen.compile.front import Front
from rbdgen.compile.product import Product
from rbdgen.compile.samples import sample_states
from rbdgen.compile.visits import visits_of
from rbdgen.design.choices import LANGUAGES, OF_NUMBERS
from rbdgen.design.functions import AT_FRAMES, FUNCTIONS, OF_CONTACTS, WHOLE
from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.visits import inlined
from rbdgen.shell import emit
from rbdgen.system.quoting import Refusal
from rbdgen.tasks.latency import latency_of
from tests.durations import spent

WORDS = tuple(own for own in LANGUAGES if own not in OF_NUMBERS)
TASKS = ("verilog", "c")  # the languages of accelerators
JOINTS = {"fold": "joints", "ii": 64}
# Way of sharing → the languages whose text it changes, and its choices.
WAYS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "auto": (LANGUAGES, {}),
    "plain": (WORDS, {"fit": False}),
    "ii4": (WORDS, {"ii": 4}),
    "limbs": (WORDS, {"fold": "limbs"}),
    "joints": (WORDS, JOINTS),
    "loops": (OF_NUMBERS, {"code": "loops"}),
    "joint-loops": (("hls",), {"code": "loops", **JOINTS}),
    "floating": (LANGUAGES, {"base": "floating"}),
    "floating-loops": (OF_NUMBERS, {"base": "floating", "code": "loops"}),
    "float-c": (("c",), {"real": "float"}),
    "registers": (LANGUAGES, {"parameters": "registers"}),
    "accelerator": (TASKS, {"accelerator": True}),
    "accelerator-ii4": (TASKS, {"accelerator": True, "ii": 4}),
    "accelerator-joints": (TASKS, {"accelerator": True, **JOINTS}),
}
QUICK = (
    ("pendulum", ("id", "did"), tuple(WAYS)),
    ("iiwa14", ("minv",), ("auto", "joints")),
    ("hyq", ("id",), ("limbs", "floating-loops")),
)
STATES, SEED = 16, 7


@dataclass(frozen=True)
class Row:
    """A generated design in one language, or the line that refuses it or says how it failed.

    ``files``: name → digest; ``bits``: digest of results; ``counts``: name → number or numbers.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    bits: str = ""
    counts: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""

    @property
    def sha256(self) -> str:
        """A digest of all files."""
        return digest(json.dumps(self.files, sort_keys=True).encode())


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Case:
    """A robot's functions with the choices of a way; its rows are those of ``languages``."""

    robot: str
    functions: tuple[str, ...]
    way: str
    languages: tuple[str, ...]

    def key(self, language: str) -> str:
        """The name of a row."""
        return f"{self.robot} {'+'.join(self.functions)} {self.way} {language}"

    def rows(self, yosys: bool = False) -> Iterator[tuple[str, Row]]:
        """Generate each language's row; what fails is a row, too."""
        choices = {"functions": self.functions, **WAYS[self.way][1]}
        if set(self.functions) & set(AT_FRAMES):
            choices["frames"] = (load(self.robot)[1].joints[-1].body,)
        if set(OF_CONTACTS) & set(self.functions):  # or a tip with few joints has no solution
            choices["contact_damping"] = 0.01
        made = Compilation(self.robot, lambda _: None, choices)
        for language in self.languages:
            try:
                yield self.key(language), row(made, language, yosys)
            except Refusal as error:
                yield self.key(language), Row(refused=str(error))
            except Exception as error:  # to be seen in the row, and the next one is generated
                yield self.key(language), Row(refused=f"failed: {type(error).__name__}: {error}")


def row(made: Compilation, language: str, yosys: bool) -> Row:
    """Generate a design in a language."""
    with ExitStack() as stack:
        if not yosys:
            stack.enter_context(patch.object(emit, "to_verilog", str))
        if language == "cuda":  # by the graph alone, whether or not there is an nvcc
            files = cuda_program(made.front_of(language), measured=False)
        else:
            files = writer(language)(made)
    entry = json.loads(files[MARK])
    own = {
        name.replace(entry["name"], "NAME"): digest(without_digests(name, text, entry).encode())
        for name, text in files.items()
        if yosys or not name.endswith(".v")
    }
    if language in OF_NUMBERS or made.design.real == "float":
        return Row(own, real_bits(made.front_of(language)), counts_of_program(entry))
    return Row(own, word_bits(writer("c")(made)), counts_of_hardware(made.product))


def without_digests(name: str, text: str, entry: Mapping[str, Any]) -> str:
    """A file's text; of the manifest what does not depend on the other files."""
    if name != MARK:
        return text
    left = {key: value for key, value in entry.items() if key not in ("files", "digest")}
    return json.dumps(left, sort_keys=True)


def word_bits(files: Files) -> str:
    """A digest of the test vectors of a design in C, their results and flags."""
    return digest("\n".join(text for name, text in files.items() if "words" in name).encode())


def real_bits(front: Front) -> str:
    """A digest of the real graph's results (float64) in random states."""
    program = visits_of(front)
    graph = inlined(program, front.graph.inputs) if program else front.graph
    state = sample_states(front.design, front.canonical, STATES, SEED)
    held = front.parameters.nominal if front.parameters else {}
    columns = to_columns(front.canonical, [n for n in graph.inputs if n not in held], state)
    columns |= {name: np.full(STATES, value) for name, value in held.items()}
    found = evaluate(graph, columns)
    return digest(b"".join(np.broadcast_to(own, STATES).tobytes() for own in found.values()))


def counts_of_program(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Operations and sizes of a program in real numbers, as its manifest has them."""
    errors = ("float", "parameters", "ptxas")
    return entry["operations"] | {k: v for k, v in entry["facts"].items() if k not in errors}


def counts_of_hardware(product: Product) -> dict[str, Any]:
    """Operations, cycles by function, multipliers, and LUTs by the area model."""
    tasks = product.accelerator
    area = area_of(product)
    return product.front.graph.operations() | {
        "nodes": sum(len(fixed.graph.nodes) for fixed in product.graphs.values()),
        "latency": {name: latency_of(tasks, name) for name in tasks.functions},
        "interval": {name: tasks.interval(name) for name in tasks.functions},
        "multipliers": tasks.multipliers,
        "luts": area.luts if area else None,
    }


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """The cases that the command line asks for."""
    every = tuple((name, FUNCTIONS, tuple(WAYS)) for name in shipped_robots())
    for robot, functions, ways in QUICK if options.quick else every:
        functions = tuple(own for own in functions if own in (options.functions or functions))
        for way in ways:
            languages, choices = WAYS[way]
            languages = tuple(own for own in languages if own in (options.languages or languages))
            if robot not in (options.robots or [robot]) or way not in (options.ways or [way]):
                continue
            together = tuple(own for own in functions if own in WHOLE)
            alone = [(own,) for own in functions]
            groups = [together] * bool(together) if "accelerator" in choices else alone
            yield from (Case(robot, own, way, languages) for own in groups if languages)


def differences(before: Row, after: Row) -> list[str]:
    """The kinds of change, the gravest first: refusal, counts, bits, bytes of files."""
    if before.refused != after.refused:
        return [f"refusal: {before.refused or 'none'} → {after.refused or 'none'}"]
    found = [
        f"counts: {name} {before.counts.get(name)} → {after.counts.get(name)}"
        for name in (before.counts | after.counts if before.counts != after.counts else {})
        if before.counts.get(name) != after.counts.get(name)
    ]
    found += ["bits"] * (before.bits != after.bits)
    names = sorted(before.files.keys() | after.files.keys())
    changed = [name for name in names if before.files.get(name) != after.files.get(name)]
    return found + [f"bytes: {', '.join(changed)}"] * bool(changed)


def compared(before: Mapping[str, Row], after: Mapping[str, Row]) -> tuple[list[str], bool]:
    """A line for each row that changed, then a summary; whether more than bytes changed."""
    lines, count = [], Counter[str]()
    for name, own in after.items():
        said = differences(before[name], own) if name in before else ["new"]
        kinds = {line.partition(":")[0] for line in said}
        only = "bytes only" if kinds == {"bytes"} else " and ".join(sorted(kinds)) or "same"
        count[only] += 1
        lines += [f"{name}: {'; '.join(said)}"] * bool(said)
    summary = ", ".join(f"{n} {kind}" for kind, n in sorted(count.items()))
    grave = bool(set(count) - {"same", "bytes only", "new"})
    return [*lines, f"{len(after)} rows: {summary}"], grave


def read(file: Path) -> tuple[str, dict[str, Row]]:
    """The package's digest, and the rows of a file, by name."""
    first, *others = file.read_text("utf-8").splitlines()
    rows = {}
    for line in others:
        own = json.loads(line)
        name = own.pop("row")
        own.pop("sha256")
        rows[name] = Row(**own)
    return json.loads(first)["package"], rows


def written(name: str, own: Row) -> str:
    """A row as a line of JSON."""
    return json.dumps({"row": name, "sha256": own.sha256, **vars(own)}, ensure_ascii=False) + "\n"


def generated(asked: Iterable[Case], place: Path | None, yosys: bool) -> dict[str, Row]:
    """Generate all rows, those in ``place`` excepted; each is appended there, with progress."""
    package, known = compiler_digest(FOLDER), {}
    if place and place.exists():
        made_by, known = read(place)
        if made_by != package:
            raise SystemExit(f"{place}: rows of the package in another state; give another -o")
    elif place:
        place.write_text(json.dumps({"package": package}) + "\n", "utf-8")
    rows = {}
    for case in asked:
        names = [case.key(language) for language in case.languages]
        if set(names) <= known.keys():
            rows |= {name: known[name] for name in names}
            continue
        start = spent()
        own = dict(case.rows(yosys))
        rows |= own
        if place:
            with place.open("a", encoding="utf-8") as file:
                file.writelines(written(*each) for each in own.items() if each[0] not in known)
        refusals = sorted({f"; {one.refused}" for one in own.values() if one.refused})
        said = f"{names[0]} …: {spent() - start:.1f} s{''.join(refusals)}"
        print(said, file=sys.stderr, flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.generated_digests",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="append rows to FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="rows of before")
    parser.add_argument("--quick", action="store_true", help="a few rows of three robots")
    parser.add_argument("--yosys", action="store_true", help="digest Verilog besides RTLIL")
    for name, known in (
        ("robots", shipped_robots()),
        ("functions", FUNCTIONS),
        ("ways", WAYS),
        ("languages", LANGUAGES),
    ):
        parser.add_argument(f"--{name}", nargs="+", choices=[*known], metavar=name[:-1].upper())
    options = parser.parse_args(arguments)
    before = read(options.compare)[1] if options.compare else {}
    after = generated(cases(options), options.output, options.yosys)
    if not options.compare:
        print(f"{len(after)} rows, {sum(bool(own.refused) for own in after.values())} refused")
        return 0
    lines, grave = compared(before, after)
    print("\n".join(lines))
    return int(grave)


if __name__ == "__main__":
    sys.exit(main())
