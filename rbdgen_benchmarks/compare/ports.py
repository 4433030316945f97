"""Bounds of a compiled program: instructions on a block of states, and the ports that they take.

How many products, fused with sums or not, and how many sums a processor starts in a cycle is
measured: two of each on all of today, but of both together four on some of AMD's, three on Intel's
in registers of 32 bytes, and two in those of 64. A block of 8 states of double is one register of
AVX-512, or two of AVX2.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rbdgen.system.quoting import Progress

from .timing import FAST, SOURCES, Command, program

STATES = 8  # of a block of double
BLOCK = re.compile(r"\b(part_\d+<.*InBlock<double>|blocks<double>)")
ALONE = re.compile(r"\b(part_\d+<.*InRow<double>|stage_\d+|one<double>)")
PRODUCT = re.compile(r"v(fn?m(add|sub)\d*|mul)pd$")
SUM = re.compile(r"v(add|sub)pd$")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
LINE = re.compile(r"^\s+([0-9a-f]+):\s+(\S+)\s*(.*)$")


@dataclass(frozen=True)
class Ports:
    """A cycle in ns, and how many instructions start in it: products alone, sums alone, and both
    where they alternate. Zeros where that is not known."""

    cycle: float
    products: int
    sums: int
    both: int

    @classmethod
    def measured(cls, times: Sequence[float]) -> Ports:
        """The ports behind the ns that `ports` prints: one more or less is far from rounding."""
        cycle, *others = times
        return cls(cycle, *(round(cycle / own) if own else 0 for own in others))

    def __str__(self) -> str:
        return f"{self.products} products, {self.sums} sums, {self.both} of both"


@dataclass(frozen=True)
class Binding:
    """Instructions of a block's straight code, and bytes of code of a block and of one state.

    ``stack``: those that read or write the stack. ``passes``: how often a block goes through it.
    """

    instructions: int
    products: int
    sums: int
    stack: int
    passes: int
    code: int
    code_alone: int

    def cycles(self, ports: Ports) -> float:
        """The fewest cycles that a block's products and sums take."""
        together = (self.products + self.sums) / ports.both
        return self.passes * max(self.products / ports.products, self.sums / ports.sums, together)

    def row(self, ns_of_state: float, ports: Ports) -> list[float | str]:
        """Entries of a table beside the ns that a state takes in blocks."""
        rates = []
        if ports.cycle:
            cycles = ns_of_state * STATES / ports.cycle
            rates = [self.passes * self.instructions / cycles, self.cycles(ports) / cycles]
        counts = [self.instructions, self.products, self.sums, self.stack]
        sizes = [round(code / 1000) for code in (self.code, self.code_alone)]
        return [*counts, *sizes, *(float(f"{x:.2g}") for x in rates), *["-"] * (2 - len(rates))]


def binding(file: Path) -> Binding | None:
    """Counts of a library for this processor in double; None without objdump, and on others."""
    if shutil.which("objdump") is None:
        return None
    command = ["objdump", "-d", "-C", "--no-show-raw-insn", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return counted(done.stdout.splitlines())


def counted(lines: Iterable[str]) -> Binding | None:
    """The same of a disassembly."""
    functions: dict[str, list[tuple[int, str, str]]] = {}
    own: list[tuple[int, str, str]] = []
    for line in lines:
        if found := FUNCTION.match(line):
            own = functions.setdefault(found[1], [])
        elif found := LINE.match(line):
            own.append((int(found[1], 16), found[2], found[3]))
    block = {name: code for name, code in functions.items() if BLOCK.search(name)}
    if any("part_" in name for name in block):
        block = {name: code for name, code in block.items() if "part_" in name}
    words = [(op, args) for code in block.values() for _, op, args in code]
    wide = next((n for n in ("zmm", "ymm", "xmm") if any(n in args for _, args in words)), None)
    if wide is None:
        return None
    passes = {"zmm": 1, "ymm": 2, "xmm": 4}[wide]
    of_states = [(op, args) for op, args in words if wide in args]
    alone = (
        code for name, code in functions.items() if ALONE.search(name) and "InBlock" not in name
    )
    return Binding(
        len(words),
        sum(bool(PRODUCT.match(op)) for op, _ in of_states),
        sum(bool(SUM.match(op)) for op, _ in of_states),
        sum("(%rsp" in args or "(%rbp" in args for _, args in words),
        passes,
        sum(map(_bytes, block.values())),
        sum(map(_bytes, alone)),
    )


def _bytes(code: list[tuple[int, str, str]]) -> int:
    return code[-1][0] - code[0][0] if code else 0


def ports(say: Progress) -> Command:
    """A command that prints the times of which `Ports` are measured."""
    source = (SOURCES / "ports.cpp").read_text("utf-8")
    return [program("ports", ["-std=c++17", *FAST], source, say, "times of instructions")]
