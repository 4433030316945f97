"""The numbers in a design's waves, by joint and by datapath, and viewers' files that show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..design.coordinates import Field
from ..design.manifest import HardwareManifest
from ..graph.fixed import FixedGraph
from ..graph.word import indices, kind_of, spell
from ..rtl.limbs import LIMB
from ..tasks.model import Specification
from ..tasks.routes import UNREAD
from ..tools.dump import NUMBERS, Number
from .hdl_types import identifier

STREAM = ("clk", "i__valid", "i__ready", "o__valid", "o__ready")
# Flags of traces in GTKWave's files: bits of a stream; a number in decimals, a real number; a
# group's name, its end.
BITS, WORDS, REALS, GROUP, ENDS = "@28", "@24", "@420", "@c00200", "@1401200"


def shown_numbers(made: Specification, entry: HardwareManifest, verilog: str) -> list[Number]:
    """Every word of tasks and results, those of a joint together, and what each region or datapath
    of ``verilog``, the text of the design, computes.

    A number of an accelerator belongs to a function, and stays as it is during other tasks.
    """
    found = list(_of_core(made, entry) if made.is_core else _of_functions(made, entry))
    for module, path, fixed in _graphs(made, entry.name):
        graph = fixed.graph
        for part, signal, width, rows in _datapaths(verilog, module):
            fractions = {fixed.formats[graph.nodes[row]].fraction for row in rows}
            if len(fractions) == 1:  # else it has no one binary point
                own = f"{path}/{part.replace('.', '/')}/{signal}"
                scope = _scope(" ".join([*path.split("/")[2:3], part]))
                found.append(Number(scope, signal, own, width, fractions.pop()))
    return found


def _graphs(made: Specification, name: str) -> Iterator[tuple[str, str, FixedGraph]]:
    """A stage's module, its path in the dump, and its graph; of a core itself and its limb's."""
    if made.is_core:
        yield name, f"TOP/{name}", made.fixed
        yield f"{name}_{LIMB}", f"TOP/{name}/{LIMB}", made.fixed
        return
    for stage, own in made.accelerator.stages.items():
        yield f"{name}_{stage}", f"TOP/{name}/{stage}/core", own.fixed


def _of_core(core: Specification, entry: HardwareManifest) -> Iterator[Number]:
    graph = core.fixed.graph
    words = [("i__payload", own, core.fixed.inputs[own]) for own in graph.inputs]
    words += [("o__payload", own, core.fixed.formats[node]) for own, node in graph.outputs.items()]
    for port, own, word in words:
        signal = f"TOP/{entry.name}/{port}.{own}"
        yield Number(_owner(core, own), identifier(own), signal, word.width, word.fraction)


def _of_functions(made: Specification, entry: HardwareManifest) -> Iterator[Number]:
    sides = ("i__payload", "o__payload")
    widths = [
        {field.name: field.width for field in side.fields}
        for side in (entry.ports.input, entry.ports.output)
    ]
    for function, own in entry.tasks.functions.items():
        read = [word for word in own.inputs if kind_of(word.name) != UNREAD]
        words: list[tuple[int, str, str, Field]] = [
            *((0, word.word, f".{word.word}", word) for word in read),
            *((1, spell("w", k), f"[{k}]", word) for k, word in enumerate(own.outputs)),
        ]
        for side, field, place, word in words:
            payload = f"TOP/{entry.name}/{sides[side]}"
            yield Number(
                _owner(made, word.name),
                f"{function}_{identifier(word.name)}",
                f"{payload}.words{place}",
                widths[side][field],
                word.fraction,
                (f"{payload}.function", own.code),
            )


def _owner(made: Specification, word: str) -> str:
    """The scope of a word: its joint's where it has one, else its array's."""
    at, robot = indices(word), made.front.canonical
    joint = len(at) == 1 and at[0] < len(robot.joints) == made.front.robot.nv
    return _scope(robot.joints[at[0]].name if joint else kind_of(word))


def _scope(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def gtkwave_layout(dump: str, name: str, numbers: Sequence[Number]) -> str:
    """A file of GTKWave that shows the streams of the module ``name`` in ``dump``, then the
    numbers."""
    lines = [f'[dumpfile] "{dump}"', BITS, *(f"TOP.{name}.{own}" for own in STREAM)]
    if selecting := _selecting(numbers):
        lines += [WORDS, *selecting]
    for scope, traces in _by_scope(numbers).items():
        lines += [GROUP, f"-{scope}", REALS, *traces, ENDS, f"-{scope}"]
    return "\n".join([*lines, ""])


def surfer_layout(name: str, numbers: Sequence[Number]) -> str:
    """A command file of Surfer that shows the same."""
    shown = [*(f"TOP.{name}.{own}" for own in STREAM), *_selecting(numbers)]
    lines = [f"variable_add {own}" for own in shown]
    for scope, traces in _by_scope(numbers).items():
        lines += [f"divider_add {scope}", *(f"variable_add {own}" for own in traces)]
    return "\n".join([*lines, ""])


def _selecting(numbers: Collection[Number]) -> list[str]:
    """The signals that say whose numbers are there, such as a task's function."""
    names = dict.fromkeys(own.where[0] for own in numbers if own.where)
    return [name.replace("/", ".") for name in names]


def _by_scope(numbers: Sequence[Number]) -> dict[str, list[str]]:
    """Scope → the numbers' names in the dump."""
    found: dict[str, list[str]] = {}
    for own in numbers:
        found.setdefault(own.scope, []).append(f"{NUMBERS}.{own.scope}.{own.name}")
    return found


def _datapaths(verilog: str, name: str) -> Iterator[tuple[str, str, int, list[int]]]:
    """(module, signal, bits, lines of the graph's text) of the values in a core's datapaths and
    regions."""
    head = rf"^module (?:\\{name}\.(\w+) |{name}_([a-z]+_\d+)\().*?^endmodule"
    for module in re.finditer(head, verilog, re.M | re.S):
        inputs = set(re.findall(r"^  input.* (n\d+);", module[0], re.M))
        for own in re.finditer(r" \[(\d+):0\] (n\d+);(?: .*;)?  // (.*)$", module[0], re.M):
            if own[2] not in inputs:
                yield (
                    module[1] or module[2],
                    own[2],
                    int(own[1]) + 1,
                    [int(k) for k in re.findall(r"%(\d+)", own[3])],
                )
