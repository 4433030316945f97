"""The modules of units under the name of the design that they are written for.

A unit, be it a multiplier, a memory or a table, is instantiated by a name that says only what it
is: ``rbdgen_ram_18x16``. Written so, it would stand in every design, and tools refuse a module that
is there twice. So each design has units of its own: ``NAME_ram_18x16``.
"""

from __future__ import annotations

import re

_UNIT = re.compile(
    r"^((?:module|  cell) \\?)rbdgen_"
    r"(?=(?:(?:ram|block)_\d+x\d+|mul_\d+x\d+_l\d+(?:_logic)?"
    r"|sincos_\d+p\d+_\d+(?:_logic)?|recip_\d+tm?\d+s\d+_\d+(?:_logic)?)[\s(])",
    re.MULTILINE,
)


def owned(text: str, name: str) -> str:
    """RTLIL or Verilog in which units are those of the design ``name``: their modules and, in
    RTLIL, the cells that instantiate them."""
    return _UNIT.sub(rf"\g<1>{name}_", text)
