"""Bounds of a compiled program: instructions on a block of states, and the ports that they take.

A processor that has two ports for products, fused with sums or not, and two for sums needs half as
many cycles as there are of the more frequent kind. That bound is for registers of any width: a
block of 8 states of double is one register of AVX-512, or two of AVX2.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rbdgen.system.quoting import Progress

from .timing import Command, program

PORTS = 2  # of each kind
STATES = 8  # of a block of double
BLOCK = re.compile(r"\b(part_\d+<.*InBlock<double>|blocks<double>)")
ALONE = re.compile(r"\b(part_\d+<.*InRow<double>|stage_\d+|one<double>)")
PRODUCT = re.compile(r"v(fn?m(add|sub)\d*|mul)pd$")
SUM = re.compile(r"v(add|sub)pd$")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
LINE = re.compile(r"^\s+([0-9a-f]+):\s+(\S+)\s*(.*)$")
# imul takes three cycles on x86-64 processors of the last ten years; of others nothing is known
CLOCK = """#include <cstdio>
#include "times.hpp"
int main() {
#ifdef __x86_64__
  long x = 3;
  const double ns = nanoseconds(200, [&](int) {
    for (int k = 0; k < 1000; ++k)
      __asm__ volatile("imul %0, %0\\nimul %0, %0\\nimul %0, %0\\nimul %0, %0" : "+r"(x));
  });
  std::printf("%.6f", ns / 12000);
#else
  std::printf("0");
#endif
}
"""


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

    @property
    def cycles(self) -> float:
        """The fewest cycles that a block's products and sums take."""
        return self.passes * max(self.products, self.sums) / PORTS

    def row(self, ns_of_state: float, ns_of_cycle: float) -> list[float | str]:
        """Entries of a table beside the ns that a state takes in blocks."""
        cycles = ns_of_state * STATES / ns_of_cycle if ns_of_cycle else 0.0
        rates = [self.passes * self.instructions / cycles, self.cycles / cycles] if cycles else []
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


def clock(say: Progress) -> Command:
    """A command that prints the ns of a cycle, 0 where that is not known."""
    return [program("clock", ["-std=c++17", "-O2"], CLOCK, say, "a clock")]
