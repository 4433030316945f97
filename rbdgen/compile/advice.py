"""The cost and gain of a formulation relative to the one with the fewest products."""

from __future__ import annotations

from dataclasses import replace

from ..design.derived import formulation_of
from .estimate import cycles
from .front import Front, in_reals

LEAST_HEIGHT = 4  # joints from the base to the last one, below which sums gain next to nothing


def advice(front: Front) -> str | None:
    """Products and cycles of a logarithmic design beside those of composites; None for others."""
    design = front.design
    if formulation_of(design) != "logarithmic" or design.formulated:
        return None
    other = replace(
        design,
        formulation="composite",
        network="sklansky",
        products="plain",
        frame=None,
        inverse="computed",
    )
    numbers = front.parameters.numbers if front.parameters else None
    composite, _ = in_reals(other, front.canonical, numbers)
    height = front.canonical.depth
    rows = []
    for name, graph in (("logarithmic", front.graph), ("composite", composite)):
        count = graph.operations()
        rows.append(
            f"{name} {count['mul']} products + {count['mulc']} by constants, about "
            f"{cycles(graph)} cycles of arithmetic"
        )
    advised = (
        f"height {height}: little or nothing gained, --formulation composite takes less"
        if height < LEAST_HEIGHT
        else f"height {height}: worth its multipliers where latency counts"
    )
    return f"formulation: {'; '.join(rows)}; {advised}"
