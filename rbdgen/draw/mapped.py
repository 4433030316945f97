"""Tables of mapped cells, for a terminal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from fnmatch import fnmatch

from ..design.cells import counted
from ..tools.report import Mapped
from ..tools.yosys import MEMORIES, modules_of
from .tables import table

SHOWN = {"logic": "LUT, SRL", "memory": "LUT of RAM", "flip_flops": "FF", "multipliers": "DSP"}


def mapped_text(report: Mapped) -> str:
    """The cells of a design that is only mapped, and of its modules."""
    rows = [f"  {cell:<18}{n:>8}" for cell, n in sorted(report.cells.items())]
    modules = _of_modules(report.modules, report.top)
    return "\n".join([f"{report.top} on {report.target}, mapped only", "", *rows, "", modules])


def _of_modules(modules: Mapping[str, Mapping[str, int]], top: str) -> str:
    """A table of the cells of each module of an UltraScale+ or 7-series design, largest first."""
    named: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for module, cells in modules.items():
        memory = fnmatch(module, modules_of(MEMORIES, top))
        named["memories" if memory else module.removeprefix(f"{top}_")].update(cells)
    rows = [
        [module, *(counted("xcup", cells)[site] for site in SHOWN)]
        for module, cells in named.items()
    ]
    return table(("module", *SHOWN.values()), sorted(rows, key=lambda row: (-row[1], row[0])))
