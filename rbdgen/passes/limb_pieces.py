"""The pieces of a robot of limbs that are alike, from those of the limb that stands for all.

The limb's graph is cut, not the robot's: so each piece is one limb's as often as there are limbs,
and its limbs may take turns in one datapath. No sign changes between pieces: a mirrored limb's
words differ from the robot's only where they enter or leave it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from .instances import instantiate
from .limbs import Limb, Limbs, Signed
from .pieces import Piece


def of_all_limbs(
    template: FixedGraph,
    limbs: Limbs,
    pieces: Mapping[str, Piece],
    constants: Mapping[str, Mapping[str, float]],
) -> dict[str, Piece]:
    """The robot's pieces, from those that the ``template`` of its limbs was cut into, ``pieces``.

    Words between pieces are called PIECE.K here too, the first limb's first. ``constants``: for
    each piece, the outputs which are the same in every state; a piece may be of such only. In the
    order of ``constants``.
    """
    crossing = {
        name: [own for own in piece.fixed.graph.outputs if own not in limbs.template.outputs]
        for name, piece in pieces.items()
    }
    words = [
        {
            own: f"{name}.{number * len(of) + k}"
            for name, of in crossing.items()
            for k, own in enumerate(of)
        }
        for number in range(len(limbs.limbs))
    ]
    found = {}
    for name, fixed_values in constants.items():
        if name not in pieces and not fixed_values:
            continue
        piece = pieces.get(name, Piece(FixedGraph(Graph((), {}), {}, {}, template.width), {}))
        graph = piece.fixed.graph
        own = [
            Limb(
                {word: _outside(word, limb.inputs, names) for word in graph.inputs},
                {word: _outside(word, limb.outputs, names) for word in graph.outputs},
            )
            for limb, names in zip(limbs.limbs, words, strict=True)
        ]
        made = instantiate(piece.fixed, Limbs(graph, tuple(own)), {}, fixed_values)
        reads = {names[word]: sender for names in words for word, sender in piece.reads.items()}
        found[name] = Piece(made.whole, reads, made)
    return found


def _outside(word: str, of_robot: Mapping[str, Signed], between: Mapping[str, str]) -> Signed:
    """The name of a limb's word in the robot, and its sign there."""
    return (between[word], 1) if word in between else of_robot[word]
