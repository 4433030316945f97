"""A function in fixed point as a folder for high-level synthesis, and compiled for this machine.

The open headers of ``ap_int`` stand for AMD's where it is compiled.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..graph.fixed import FixedGraph, parameter_words
from ..graph.text import to_text
from ..graph.visits import Program
from ..system.quoting import Refusal
from ..system.records import NamedWord, named_words
from ..system.templates import render
from .c_file import GRAPH, CFunction
from .compiled import CSources
from .hls_functions import HlsText, Resources, write
from .hls_integers import units
from .hls_loops import looped_words

WORD = "int64_t"  # of the arrays: no word of a design is wider


class NoHeaders(Refusal, RuntimeError):
    """There is no ``ap_int.h``, in one line that says what to install."""


def headers() -> Path:
    """The folder of ap_int.h, which the package da4ml carries; NoHeaders."""
    found = importlib.util.find_spec("da4ml")
    if found is not None and found.origin is not None:
        place = Path(found.origin).parent / "codegen/hls/source/ap_types/include"
        if (place / "ap_int.h").is_file():
            return place
    raise NoHeaders("no ap_int.h; the package da4ml carries the open one: pip install da4ml")


def flags() -> tuple[str, ...]:
    """Compiler flags for the library; NoHeaders.

    Most of the time goes into the templates of ``ap_int``: -O1 takes half as long again as -Og, and
    saves a fifth of what a state takes; -O0 takes a fifth less, and fifteen times as long a state.
    """
    return ("-x", "c++", "-std=c++17", "-Og", "-w", "-isystem", str(headers()))


def batch_source(files: Mapping[str, str], facts: Mapping[str, Any], name: str) -> CSources:
    """The files of `hls_program`, with a function beside that takes states in rows, as C's does."""
    ways = ("inputs", "parameters", "outputs")
    inputs, held, outputs = (tuple(NamedWord.from_json(own) for own in facts[way]) for way in ways)
    function = CFunction(name, (*inputs, *held), outputs, len(outputs))
    fields = {way: [own["field"] for own in facts[way]] for way in ways}
    sources = {own: text for own, text in files.items() if own in (f"{name}.h", f"{name}.cpp")}
    sources[f"{name}_batch.cpp"] = render("hls/batch.cpp.jinja", name=name, word=WORD, **fields)
    return CSources(sources, (function,), WORD)


NARROWEST, WIDEST = 32, 512  # bits of a beat


@dataclass(frozen=True, kw_only=True)
class BeatWord(NamedWord):
    """A word, its bits in a beat, and the ``field`` of the struct that holds it."""

    field: str
    beat: int
    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class ParameterWord(NamedWord):
    """A word that is the same for many tasks, and its ``field``; ``word``: of the robot that this
    was made from."""

    field: str
    word: int


@dataclass(frozen=True)
class HlsStream:
    """Beats of ``bits`` bits."""

    bits: int
    beats: list[list[BeatWord]]


def stream(words: Sequence[NamedWord]) -> HlsStream:
    """Words from bit 0 on; one that does not fit begins a beat."""
    total = sum(word.width for word in words)
    bits = min(max(NARROWEST, 1 << (total - 1).bit_length()), WIDEST)
    beats: list[list[BeatWord]] = [[]]
    low = 0
    for word in words:
        if low + word.width > bits:
            beats.append([])
            low = 0
        at, high = len(beats) - 1, low + word.width - 1
        own = BeatWord(**vars(word), field=_field(word.name), beat=at, low=low, high=high)
        beats[-1].append(own)
        low += word.width
    return HlsStream(bits, beats)


def hls_files(
    fixed: FixedGraph,
    flagged: Mapping[Any, frozenset[int]],
    resources: Resources,
    interval: int,
    multipliers: int,
    name: str,
    about: Mapping[str, str],
    program: tuple[Program, Mapping[str, FixedGraph]] | None = None,
    turns: bool = False,
) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of a function, and what a manifest says of it.

    ``flagged``: for each node that can overflow, the outputs whose flag that raises. ``resources``:
    what products are made of, where the design says so of each. ``interval``: tasks come so many
    cycles apart. ``multipliers``: how many there are to be; 0: as many as the tool takes.
    ``program``: visits that make the graph, and its templates in words, written as loops in its
    place; an overflow anywhere flags every output that is flagged at all. ``turns``: in hardware,
    parts of the robot are time-multiplexed in one datapath.
    """
    graph = fixed.graph
    inner, unit = _placed(interval, multipliers, bool(program))
    made = units(name, unit)
    looped = looped_words(*program, fixed, made) if program else None
    written = HlsText((), (), ()) if looped else write(fixed, flagged, resources, made)
    formats = {own: fixed.formats[node] for own, node in graph.outputs.items()}
    into = stream(named_words(fixed.inputs))
    given = named_words(formats)
    flags = [NamedWord(f"overflow {own}", 1, signed=False) for own in formats]
    out_of = stream([*given, *flags])
    inputs = [word for beat in into.beats for word in beat]
    outputs = [word for beat in out_of.beats for word in beat][: len(given)]
    registers = _registers(fixed)
    styles = list(resources.values())
    values = {
        "name": name,
        "about": about,
        "inputs": inputs,
        "outputs": outputs,
        "registers": registers,
        "into": into,
        "out_of": out_of,
        "interval": interval,
        "axis_interval": max(interval, len(into.beats), len(out_of.beats)),
        "limit": multipliers,
        "inner": inner,
        "turns": turns,
        "bound": {own: styles.count(own) for own in ("dsp", "fabric")} if styles else None,
        "tables": made.tables.texts,
        "units": [unit.text for unit in made.made.values()],
        "functions": written.functions,
        "split": len(written.functions) > 1,
        "loops": looped,
        "raised": frozenset[int]().union(*flagged.values()),
        "results": written.results,
        "overflows": written.overflows,
    }
    names = {f"{name}.h": "header.h", f"{name}.cpp": "source.cpp", f"{name}_tb.cpp": "bench.cpp"}
    names |= {f"{name}.tcl": "script.tcl", "README.md": "README.md"}
    names |= {f"{name}_kernel.cpp": "kernel.cpp", f"{name}_host.cpp": "host.cpp"}
    names |= {f"{name}.cfg": "component.cfg", f"{name}_kernel.cfg": "kernel.cfg"}
    names |= {f"{name}.mk": "steps.mk", "CMakeLists.txt": "CMakeLists.txt"}
    files = {own: render(f"hls/{template}.jinja", **values) for own, template in names.items()}
    facts = {
        "interval": interval,
        "multipliers": multipliers,
        "code": "loops" if looped else "inlined",
        "functions": len(looped.functions if looped else written.functions),
        "beat_in": into.bits,
        "beat_out": out_of.bits,
        "inputs": [word.to_json() for word in inputs],
        "outputs": [word.to_json() for word in outputs],
        "parameters": [word.to_json() for word in registers],
    }
    return files | {GRAPH: to_text(fixed)}, facts


def _placed(interval: int, multipliers: int, loops: bool) -> tuple[list[str], list[str]]:
    """The pragmas of the functions of regions, and of units, by the rules of UG1399.

    ``ALLOCATION`` limits what is in its function: all are in-lined where it stands. In-lined
    functions lose their pragmas, so that others, whose products are bound, are not; each of them
    has a ``PIPELINE`` of its own, which its caller's does not give it.
    """
    if loops:
        return [], []
    if multipliers:
        return ["#pragma HLS INLINE"], ["#pragma HLS INLINE"]
    off, pipeline = "#pragma HLS INLINE off", "#pragma HLS PIPELINE II="
    return [off, f"{pipeline}{interval}"], [off, f"{pipeline}1"]


def _registers(fixed: FixedGraph) -> list[ParameterWord]:
    """The fields of registers, in the order of `FixedGraph.parameters`."""
    formats = {name: fixed.formats[node] for name, node in fixed.parameters.items()}
    values = parameter_words({"": fixed})
    return [
        ParameterWord(**vars(word), field=_field(word.name), word=int(values[word.name]))
        for word in named_words(formats)
    ]


def _field(name: str) -> str:
    """``M[1,0]`` → M_1_0."""
    return re.sub(r"\W+", "_", name).strip("_")
