"""The head and the tail of every Verilog file: its time unit, and the warnings it switches off.

Verilator warns of what is legal and often a mistake. Where it is none, the file says so in
Verilator's comments, each with a reason, and restores at its end what was on before: other files
of a project are checked as their author wants. Rules have the names by which all versions of
Verilator since 4 know them, since a comment with an unknown name is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TIMESCALE = "`timescale 1ns / 1ps"

# What Yosys writes of any RTLIL: rule → why it is switched off.
GENERATED = {
    "DECLFILENAME": "one file has all modules of a design",
    "VARHIDDEN": "a signal may have the name of the instance that it is in",
    "WIDTH": "Verilog itself extends the operands of sums, and takes a word for true if not zero",
    "UNUSED": "rounding drops bits of sums; names that only waveforms show are left",
    "UNOPTFLAT": "bits of a word may depend on other bits of it, which is no loop",
    "CASEOVERLAP": "selections are one-hot, and written as patterns with don't-cares",
    "UNSIGNED": "a bound of a counter may be zero",
    "CMPCONST": "a bound of a counter may be the largest word",
}


def verilog_file(text: str, off: Mapping[str, str] = MappingProxyType({})) -> str:
    """``text`` as a file with a time unit, and the rules of ``off`` (rule → reason) off in it."""
    if not off:
        return f"{TIMESCALE}\n{text}"
    rules = [f"/* verilator lint_off {rule} */  // {reason}" for rule, reason in off.items()]
    head = [TIMESCALE, "/* verilator lint_save */", *rules]
    return "\n".join([*head, text.rstrip("\n"), "/* verilator lint_restore */", ""])
