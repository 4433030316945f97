"""A robot's functions as visits over real numbers, for programs in loops."""

from __future__ import annotations

from ..design.design import formulation_of
from ..dynamics.program import FORMULATIONS, computed, lacking, listed, program
from ..graph.visits import Program
from ..robot.model import RobotError
from .front import Front, frame_index


def visits_of(front: Front) -> Program | None:
    """The visits that compute the front's graph, where its design asks for loops.

    RobotError for what there are no visits of.
    """
    design = front.design
    if design.code != "loops":
        return None
    others, formulation = lacking(design.functions), formulation_of(design)
    wrong = (
        (others, f"functions: {', '.join(others)}: loops compute {computed()}"),
        (formulation not in FORMULATIONS, f"formulation: loops have {listed(FORMULATIONS)}"),
        (design.products != "plain", "products: loops have plain"),
        (design.inverse != "computed", "inverse: loops compute it"),
        (design.factorisation not in ("auto", "ltdl"), "factorisation: loops have ltdl"),
        (design.integrator != "euler", "integrator: loops have euler"),
        (design.angles != "on-chip", "angles: loops make their own sines"),
        (design.external_forces, "external_forces: loops take none"),
    )
    for is_so, what in wrong:
        if is_so:
            raise RobotError(f"{front.robot.name}: code: loops: {what}")
    return program(
        front.canonical,
        front.graph,
        design.rotation,
        design.payload,
        formulation=formulation,
        step=design.step,
        network=design.network,
        frame=frame_index(design, front.canonical),
    )
