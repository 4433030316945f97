"""Components whose modules are written apart from those that contain them."""

from __future__ import annotations

import gc
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Instance, ResetSignal
from amaranth.lib import wiring


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
