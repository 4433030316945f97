"""The pieces of a robot of limbs that are alike, from those of the limb that stands for all.

The limb's graph is cut, not the robot's: so each piece is one limb's as often as there are limbs,
and its limbs may take turns in one datapath. No sign changes between pieces: a mirrored limb's
words differ from the robot's only where they enter or leave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.visits import Program, Signed, in_turn
from .instances import instantiate
from .pieces import Piece


def of_all_limbs(
    limbs: Program,
    width: int,
    pieces: Mapping[str, Piece],
    constants: Mapping[str, Mapping[str, float]],
) -> dict[str, Piece]:
    """The robot's pieces, from those that the template of its ``limbs``, in words, was cut into.

    Words between pieces are called PIECE.K here too, the first limb's first. ``constants``: for
    each piece, the outputs which are the same in every state; a piece may be of such only. In the
    order of ``constants``.
    """
    (template,) = limbs.templates.values()
    outside = [(limbs.read(visit), limbs.given(visit)) for visit in limbs.reads]
    crossing = {
        name: [own for own in piece.fixed.graph.outputs if own not in template.outputs]
        for name, piece in pieces.items()
    }
    between = [
        {
            own: f"{name}.{number * len(of) + k}"
            for name, of in crossing.items()
            for k, own in enumerate(of)
        }
        for number in range(len(outside))
    ]
    found = {}
    for name, fixed_values in constants.items():
        if name not in pieces and not fixed_values:
            continue
        piece = pieces.get(name, Piece(FixedGraph(Graph((), {}), {}, {}, width), {}))
        graph = piece.fixed.graph
        own = in_turn(
            graph,
            [
                (_named(graph.inputs, read, names), _named(graph.outputs, given, names))
                for (read, given), names in zip(outside, between, strict=True)
            ],
        )
        own = replace(own, outputs={**own.outputs, **fixed_values})
        made = instantiate(own, dict.fromkeys(own.templates, piece.fixed))
        reads = {names[word]: sender for names in between for word, sender in piece.reads.items()}
        found[name] = Piece(made.whole, reads, made)
    return found


def _named(
    words: Iterable[str], of_robot: Mapping[str, Signed], between: Mapping[str, str]
) -> dict[str, Signed]:
    """A limb's words → their names in the robot, or between pieces, and their signs there."""
    return {
        word: (between[word], 1) if word in between else of_robot[word]
        for word in words
        if word in between or word in of_robot
    }
