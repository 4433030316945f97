"""Words of one width for a program of visits, as long as an error asks for."""

from __future__ import annotations

from ..graph.graph import Graph
from ..graph.rows import Worst
from ..graph.visits import Program
from ..system.progress import Progress
from .given import Given
from .instances import FixedProgram
from .precision import KEPT, smallest_width
from .program_words import fixed_program
from .wordlength import UNIT_WIDTHS, PrecisionError
from .words import worst_error


def program_within_error(
    program: Program, graph: Graph, given: Given, error: float, progress: Progress
) -> tuple[FixedProgram, int]:
    """The program in the shortest words whose outputs are off by at most ``error``; their width.

    What goes from visit to visit has one word for all of them, so that one width is chosen. The
    error is measured on the ``few``, with a margin, as `within_error` does.
    """
    made, worst = dict[int, FixedProgram](), dict[int, Worst]()

    def error_at(width: int) -> float:
        made[width] = fixed_program(program, graph, given, width)
        worst[width] = worst_error(made[width].whole, graph, given)
        progress(f"error: {worst[width]} of words of {width} bits, {error:.2g} promised")
        return worst[width].share

    least, most = UNIT_WIDTHS
    width, _ = smallest_width(error_at, KEPT * error, {}, least)
    if width is None:
        raise PrecisionError(
            f"error {error:g} takes words of more than {most} bits where joints take turns; "
            f"{min(worst.values())} is reached"
        )
    return made[width], width
