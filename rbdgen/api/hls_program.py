"""A core's integer model as C++ for high-level synthesis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codegen.hls_program import hls_files
from ..compile.core import Core
from ..graph.fixed import FixedGraph
from ..graph.node import Node
from ..graph.visits import Program
from ..robot.model import RobotError
from ..schedule.flags import flagged_outputs
from .program_folder import about


def hls_program(core: Core, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The files of its functions, and what a manifest says of them."""
    plan = core.plan
    resources = _resources(core)
    # in logic too, they are multiplications to the tool, which limits all of them together
    shared = plan.interval > 1 and "fabric" not in resources.values()
    return hls_files(
        core.fixed,
        flagged_outputs(plan),
        {} if shared else resources,
        plan.interval,
        plan.multipliers if shared else 0,
        name,
        about(core.front),
        _program(core),
        plan.turns is not None,
    )


def _program(core: Core) -> tuple[Program, Mapping[str, FixedGraph]] | None:
    """The program that a core computes, if its design asks for loops."""
    if core.design.code != "loops":
        return None
    turns = core.plan.turns
    if turns is None or turns.what != "joints":
        raise RobotError("code: loops: of hls, for joints that take turns; add --fold joints")
    return turns.program.real, turns.program.templates


def _resources(core: Core) -> dict[tuple[str, Node], str]:
    """The resource (DSP or fabric) of each product, by kind and node; none for shared datapaths."""
    if core.plan.turns is not None:
        return {}
    binding, words = core.plan.binding, {"dsp": "dsp", "logic": "fabric"}
    kinds = {"mul": binding.style, "sincos": binding.sincos, "recip": binding.recip}
    return {(kind, node): words[own] for kind, of in kinds.items() for node, own in of.items()}
