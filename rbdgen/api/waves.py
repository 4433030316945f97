"""The numbers in a core's waves, by joint and by datapath, and viewers' files that show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..graph.word import indices, kind_of
from ..tasks.model import Specification
from ..tools.dump import NUMBERS, Number
from .accelerator_simulation import WAVES
from .hdl_types import identifier

GTKWAVE, SURFER = "simulation.gtkw", "simulation.sucl"
STREAM = ("clk", "i__valid", "i__ready", "o__valid", "o__ready")
# Flags of traces in GTKWave's files: two bits of a stream; a real number; a group's name, its end.
BITS, REALS, GROUP, ENDS = "@28", "@420", "@c00200", "@1401200"


def shown_numbers(core: Specification, name: str, verilog: str) -> list[Number]:
    """Every word of the task and of its result, those of a joint together, and what each datapath
    of ``verilog``, the text of the module ``name``, computes."""
    top, robot, graph = f"TOP/{name}", core.front.canonical, core.fixed.graph
    words = [("i__payload", own, core.fixed.inputs[own]) for own in graph.inputs]
    words += [("o__payload", own, core.fixed.formats[node]) for own, node in graph.outputs.items()]
    found = []
    for port, own, word in words:
        at = indices(own)
        joint = len(at) == 1 and at[0] < len(robot.joints) == core.front.robot.nv
        scope = _scope(robot.joints[at[0]].name if joint else kind_of(own))
        signal = f"{top}/{port}.{own}"
        found.append(Number(scope, identifier(own), signal, word.width, word.fraction))
    for part, signal, width, rows in _datapaths(verilog, name):
        fractions = {core.fixed.formats[graph.nodes[row]].fraction for row in rows}
        if len(fractions) == 1:  # else it has no one binary point
            own = f"{top}/{part.replace('.', '/')}/{signal}"
            found.append(Number(_scope(part), signal, own, width, fractions.pop()))
    return found


def _scope(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def gtkwave_layout(name: str, numbers: Sequence[Number]) -> str:
    """A file of GTKWave that shows the streams of the module ``name``, then the numbers."""
    lines = [f'[dumpfile] "{WAVES}"', BITS, *(f"TOP.{name}.{own}" for own in STREAM)]
    for scope, traces in _by_scope(numbers).items():
        lines += [GROUP, f"-{scope}", REALS, *traces, ENDS, f"-{scope}"]
    return "\n".join([*lines, ""])


def surfer_layout(name: str, numbers: Sequence[Number]) -> str:
    """A command file of Surfer that shows the same."""
    lines = [f"variable_add TOP.{name}.{own}" for own in STREAM]
    for scope, traces in _by_scope(numbers).items():
        lines += [f"divider_add {scope}", *(f"variable_add {own}" for own in traces)]
    return "\n".join([*lines, ""])


def _by_scope(numbers: Sequence[Number]) -> dict[str, list[str]]:
    """Scope → the numbers' names in the dump."""
    found: dict[str, list[str]] = {}
    for own in numbers:
        found.setdefault(own.scope, []).append(f"{NUMBERS}.{own.scope}.{own.name}")
    return found


def _datapaths(verilog: str, name: str) -> Iterator[tuple[str, str, int, list[int]]]:
    """(module, signal, bits, lines of the graph's text) of the values in a core's datapaths."""
    for module in re.finditer(rf"^module \\{name}\.(\w+) .*?^endmodule", verilog, re.M | re.S):
        inputs = set(re.findall(r"^  input.* (n\d+);", module[0], re.M))
        for own in re.finditer(r" \[(\d+):0\] (n\d+);(?: .*;)?  // (.*)$", module[0], re.M):
            if own[2] not in inputs:
                yield (
                    module[1],
                    own[2],
                    int(own[1]) + 1,
                    [int(k) for k in re.findall(r"%(\d+)", own[3])],
                )
