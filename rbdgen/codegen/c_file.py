"""A design as a folder of C: header, source, example, build files; in integers, or in float."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np

from ..graph.fixed import FixedGraph, Flagged, Integers
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.text import to_text
from ..system.records import NamedWord, Record, named_words
from ..system.templates import render
from .c_integers import File, function, word_type, words_of
from .interface import ArrayEntry, ArrayInterface
from .interface import rows as arguments_of
from .real import Part, Place, flops_of, identifier, in_parts
from .statement_order import LONGEST, PART, chunks_of, computed

GRAPH = "graph.txt"
COLUMNS = 88  # of a table
PER_LINE = 5  # terms of a sum
LEAST = 1e-6  # of an array's largest entry: an error that the example of float lets pass


@dataclass(frozen=True)
class CFunction(Record):
    """A function as its callers see it; ``flags``: how many it gives; ``short``: among others."""

    name: str
    inputs: tuple[NamedWord, ...]
    outputs: tuple[NamedWord, ...]
    flags: int
    words: str = "words.txt"
    expected: str = "expected_words.txt"
    short: str = ""
    what: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The manifest's entry of the function."""
        words = {
            way: [own.to_json() for own in getattr(self, way)] for way in ("inputs", "outputs")
        }
        return {"function": self.name, **words, "flags": self.flags}


def core_function(
    fixed: FixedGraph, flagged: Flagged, flags: int, name: str
) -> tuple[File, CFunction, str]:
    """A file with one function; its words are of the type that comes last.

    ``flagged``: for each node that can overflow, which of the ``flags`` that raises.
    """
    outputs = {own: fixed.formats[node] for own, node in fixed.graph.outputs.items()}
    function = CFunction(name, named_words(fixed.taken), named_words(outputs), flags)
    file, word = File(name), word_type(words_of(fixed))
    file.add(fixed, name, flagged, f"{name}_word", word, flags)
    return file, function, word


def c_files(
    fixed: FixedGraph, flagged: Flagged, name: str, about: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of one function, with a flag for each output, and what a manifest says of it.

    ``about``: ``robot`` and ``functions`` in words.
    """
    file, function, word = core_function(fixed, flagged, len(fixed.graph.outputs), name)
    files = folder(file, [function], word, {**about, "graph": GRAPH})
    facts = {"word": word, "functions": [function.facts], "nodes": len(fixed.graph.nodes)}
    return files | {GRAPH: to_text(fixed)}, facts


def sources(
    file: File, functions: Sequence[CFunction], word: str, about: Mapping[str, str]
) -> dict[str, str]:
    """Header and source."""
    given = {"name": file.prefix, "functions": functions, "word": word, "about": about}
    return {
        f"{file.prefix}.h": render("c/header.h.jinja", **given),
        f"{file.prefix}.c": render("c/source.c.jinja", text=file.text, **given),
    }


def folder(
    file: File, functions: Sequence[CFunction], word: str, about: Mapping[str, str]
) -> dict[str, str]:
    """All files but vectors."""
    name = file.prefix
    given = {"name": name, "functions": functions, "word": word, "about": about}
    tests = {
        own.name: [own.short] * (len(functions) > 1) + [own.words, own.expected]
        for own in functions
    }
    built = {
        "name": name,
        "headers": [f"{name}.h", f"{name}_real.h"],
        "tests": tests,
        "math": False,
    }
    return sources(file, functions, word, about) | {
        f"{name}_real.h": render("c/real.h.jinja", **given),
        "example.c": render("c/example.c.jinja", **given),
        "CMakeLists.txt": render("c/CMakeLists.txt.jinja", **built),
        "README.md": render("c/README.md.jinja", **given),
    }


def rows(columns: Sequence[Integers]) -> str:
    """Words (N,) of each column as text, a line for each state."""
    return "".join(" ".join(map(str, row)) + "\n" for row in np.stack(columns, axis=1).tolist())


class FloatPart(Part):
    """Statements of C: they read and write arrays by their names, and keep values in ``w``."""

    scalar = "float"

    def __init__(
        self, takes: Sequence[ArrayEntry], gives: Sequence[Sequence[ArrayEntry]], *given: Any
    ) -> None:
        super().__init__(*given)
        self._takes, self._gives = takes, gives

    def value(self, node: Node, operands: Sequence[str]) -> str:
        if node.op in (Op.MANTISSA, Op.EXPONENT, Op.SCALE):
            raise ValueError(f"{node.op.name} is of words, and C in float has none of it")
        if node.op is Op.MULC:
            return f"{self.constant(node.value)} * {operands[0]}"
        if node.op is Op.RECIP:
            return f"{self.constant(1.0)} / {operands[0]}"
        if node.op is Op.SATURATE:
            most, (x,) = self.constant(node.value), operands
            return f"{x} > {most} ? {most} : {x} < -{most} ? -{most} : {x}"
        if node.op is Op.SELECT:
            return "{} < {} ? {} : {}".format(operands[0], self.constant(0.0), *operands[1:])
        return super().value(node, operands)

    def constant(self, value: float, mixed: bool = True, double: bool = False) -> str:
        own = np.float32(value)
        if not math.isfinite(own):
            raise ValueError(f"no finite float, which a literal could say: {value}")
        return f"{own!s}F" if own >= 0 else f"({own!s}F)"

    def declare(self, double: bool, name: str, value: str) -> None:
        self.lines.append(f"const {self.scalar} {name} = {value};")

    def load(self, place: Place) -> str:
        return _entry(self._takes[int(place)])

    def put(self, place: Place, name: str, value: str) -> str:
        return " ".join(f"{_entry(own)} = {value};" for own in self._gives[int(place)])

    def keep(self, slot: int, value: str) -> str:
        return f"w[{slot}] = {value};"

    def kept(self, slot: int) -> str:
        return f"w[{slot}]"

    def pivot(self, value: str) -> str:
        return f"singular |= !({value} > 0.0F && {value} <= FLT_MAX);"

    def angle(self, call: str, name: str, double: bool = False) -> list[str]:
        return [f"{self.scalar} sin_{name}, cos_{name};", f"{call}, &sin_{name}, &cos_{name});"]


class DoublePart(FloatPart):
    """The same in double."""

    scalar = "double"

    def constant(self, value: float, mixed: bool = True, double: bool = False) -> str:
        if not math.isfinite(value):
            raise ValueError(f"no finite number, which a literal could say: {value}")
        return f"{value!r}" if value >= 0 else f"({value!r})"


def _entry(own: ArrayEntry) -> str:
    return f"{own.array}[{own.at}]"


def float_files(
    graph: Graph,
    interface: ArrayInterface,
    name: str,
    about: Mapping[str, str],
    error: float,
    states: int,
    longest: int = LONGEST,
    part: int = PART,
) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of one function of one state in float, and facts of it.

    ``about``: ``robot`` and ``functions`` in words; ``error``: the largest of results, relative to
    an array's largest entry, in so many ``states``. Graphs of more than ``longest`` nodes are split
    into functions of ``part``.
    ValueError for a name that is no identifier, and for a constant that is no finite float.
    """
    own = arguments_of(interface)
    called = {array.name: out for array, out in zip(interface.gives, own["given"], strict=True)}

    takes = [interface.inputs[own] for own in graph.inputs]
    gives = [
        [ArrayEntry(called[entry.array], entry.at) for entry in interface.outputs[own]]
        for own in graph.outputs
    ]
    nodes = computed(graph)
    lines = in_parts(graph, chunks_of(nodes, longest, part), part=partial(FloatPart, takes, gives))
    arrays = {array.name: "const float *" for array in interface.takes}
    arrays |= dict.fromkeys(called.values(), "float *")
    functions, calls = split_functions(lines.parts, arrays)
    written = {entry for entries in gives for entry in entries}
    zeros = []
    for array in interface.gives:
        out = called[array.name]
        if places := [at for at in range(array.size) if ArrayEntry(out, at) not in written]:
            zeros.append((out, len(places), wrap(", ".join(map(str, places)), COLUMNS)))
    values: dict[str, Any] = {
        **about,
        "name": identifier(name),
        "nodes": len(nodes),
        "flops": flops_of(nodes),
        "takes": interface.takes,
        "gives": interface.gives,
        "inputs": graph.inputs,
        "doubt": [
            " + ".join(f"0.0F * {_entry(entry)}" for entry in takes[k : k + PER_LINE])
            for k in range(0, len(takes), PER_LINE)
        ],
        "unread": [a for a in arrays if a not in {e.array for e in takes} | {*called.values()}],
        "functions_text": functions,
        "calls": calls,
        "slots": lines.slots,
        "divides": lines.divides,
        "turns": any(node.op in (Op.SIN, Op.COS) for node in nodes),
        "turned": any(node.op is Op.INPUT and node.value for node in graph.nodes),
        "zeros": zeros,
        "error": error,
        "states": states,
        "within": max(2 * error, LEAST),
        **own,
    }
    tests = {name: ["--check", "expected.txt", "states.txt"]}
    files = {
        f"{name}.h": render("c/float.h.jinja", **values),
        f"{name}.c": render("c/float.c.jinja", **values),
        "example.c": render("c/float_example.c.jinja", **values),
        "CMakeLists.txt": render(
            "c/CMakeLists.txt.jinja", name=name, headers=[f"{name}.h"], tests=tests, math=True
        ),
        "README.md": render("c/float_README.md.jinja", **values),
    }
    facts = {
        "real": "float",
        "nodes": len(nodes),
        "parts": len(lines.parts),
        "flops": values["flops"],
        "workspace_bytes": 4 * lines.slots,
    }
    return files, facts


def split_functions(
    parts: Sequence[Sequence[str]],
    arrays: Mapping[str, str],
    name: str = "part",
    scalar: str = "float",
) -> tuple[list[str], list[str]]:
    """The text of a function for each part, and the statement that calls it; of one part its
    statements alone. ``arrays``: name → type, of the arguments that parts read and write."""
    if len(parts) == 1:
        return [], list(parts[0])
    texts, calls = [], []
    for k, body in enumerate(parts, 1):
        names = set(re.findall(r"[A-Za-z_]\w*", " ".join(body)))
        given = {**arrays, "w": f"{scalar} *"}
        used = [own for own in given if own in names]
        taken = ", ".join(f"{given[own]}{own}" for own in used)
        looks = "singular" in names
        lines = [*["int singular = 0;"] * looks, *body, *["return singular;"] * looks]
        texts.append(function(f"static {'int' if looks else 'void'} {name}_{k}({taken})", lines))
        call = f"{name}_{k}({', '.join(used)});"
        calls.append(f"singular |= {call}" if looks else call)
    return texts, calls


def float_batch(name: str, interface: ArrayInterface) -> str:
    """A file with ``NAME_batch(n, takes, gives)``, of n states in rows, for C or C++."""
    return render("c/float_batch.c.jinja", name=name, **arguments_of(interface))
