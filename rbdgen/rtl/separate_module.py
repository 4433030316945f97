"""Components whose modules are written apart from those that contain them.

A unit, be it a multiplier, a memory or a table, is instantiated by a name that says only what it
is: ``rbdgen_ram_18x16``. Written so, it would stand in every design, and tools refuse a module that
is there twice. So each design has units of its own: ``NAME_ram_18x16``.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Mapping
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring

from ..graph.node import Node

# Node → the joint, or joints, that it serves, and the lines of the graph's text.
Serves = Mapping[Node, str]
SERVES = "serves"  # the attribute of signals that says so
# The same, for readers of Verilog alone: Yosys names nets by attributes, and a placement depends
# on names. Clocks of pipelines were measured without.
SERVES_IN_VERILOG = "serves_in_verilog"


def serving(serves: Serves, *nodes: Node, attribute: str = SERVES) -> dict[str, str | int]:
    """The attributes of signals of these nodes."""
    said = dict.fromkeys(serves[node] for node in nodes if node in serves)
    return {attribute: ", ".join(said)} if said else {}


class Parts:
    """The modules inside ``m`` by name, each made where it is first asked for."""

    def __init__(self, m: Module) -> None:
        self._m = m
        self._made: dict[str, Module] = {}

    def __getitem__(self, name: str) -> Module:
        if name not in self._made:
            self._made[name] = self._m.submodules[name] = Module()
        return self._made[name]


def instance_of(component: wiring.Component, module: str) -> Instance:
    """An instance of ``module``, as `to_rtlil` writes it, connected to the component's ports.

    The component itself must have synchronous logic and not be a submodule of anything.
    """
    ports: dict[str, Any] = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
    for path, member, value in component.signature.flatten(component):
        direction = "i" if member.flow is wiring.In else "o"
        ports[f"{direction}_{'__'.join(map(str, path))}"] = value
    return Instance(module, **ports)


def to_rtlil(component: wiring.Component, module: str) -> str:
    """The component as ``module``, with ports clk, rst and its own."""
    # Python's search for unreachable objects takes half the time of a conversion; one does.
    enabled = gc.isenabled()
    gc.disable()
    try:
        return rtlil.convert(component, name=module, emit_src=False)
    finally:
        if enabled:
            gc.collect(0)
            gc.enable()


_UNIT = re.compile(
    r"^((?:module|  cell) \\?)rbdgen_"
    r"(?=(?:(?:ram|block)_\d+x\d+|mul_\d+x\d+_l\d+(?:_r\d+x\d+|_logic)?"
    r"|mac_\d+x\d+_\d+(?:_minus)?(?:_h\d+)?(?:_late)?"
    r"|sincos_\d+p\d+_\d+(?:_logic)?|recip_\d+tm?\d+s\d+_\d+(?:_logic)?)[\s(])",
    re.MULTILINE,
)


def with_own_names(text: str, name: str) -> str:
    """RTLIL or Verilog in which units are those of the design ``name``: their modules and, in
    RTLIL, the cells that instantiate them."""
    return _UNIT.sub(rf"\g<1>{name}_", text)
