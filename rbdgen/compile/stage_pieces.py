"""A robot's fixed-point graph cut into what the stages of its accelerator compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..design.bounds import whole_turns
from ..graph.fixed import Format
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import LIMB, Program, in_turn
from ..graph.word import indices, kind_of, spell
from ..robot.model import RobotError
from ..schedule.partition import SHARED, Piece, cut
from ..system.progress import Progress
from ..tasks.integration import Coordinate, integration
from ..tasks.routes import LAST, ROLLOUTS
from ..words.input_domain import Given
from ..words.instances import instantiate
from .front import Front
from .words import in_words

# The outputs that each stage is for; `trig` and `inverse` have other results besides.
OUTPUTS: dict[str, tuple[str, ...]] = {
    "trig": (),
    "rnea": ("tau",),
    "mass": ("M",),
    "inverse": ("Minv",),
    "forward": ("qdd",),
    "gradient": ("dtau_dq", "dtau_dqd"),
    "product": ("dqdd_dq", "dqdd_dqd"),
}


@dataclass(frozen=True, eq=False)
class StagePieces:
    """The piece of each stage, and the formats of the whole graph's inputs.

    ``given``: with states in which signals of the whole graph are largest, where these are known.
    """

    pieces: Mapping[str, Piece]
    inputs: Mapping[str, Format]
    given: Given | None = None


def cut_whole(front: Front, given: Given, progress: Progress) -> StagePieces:
    """The robot as it is; RobotError for a function that there is nothing to do for."""
    ranges, whole = in_words(front, front.graph, given, progress)
    pieces = cut(whole, targets_of(whole.graph))
    if has_rollouts(front):
        pieces["integrate"] = steps(front, whole.inputs, pieces["forward"])
    given = replace(given, extremes=ranges.extremes or given.extremes)
    return complete(front, StagePieces(pieces, whole.inputs, given))


def steps(
    front: Front, inputs: Mapping[str, Format], forward: Piece, limbs: Program | None = None
) -> Piece:
    """The stage that integrates what `forward` gives, of ``limbs`` that are alike, if they are;
    errors as those of a rollout."""
    coordinates, width = _coordinates(front, inputs, forward), front.design.width
    if limbs is not None and (made := _limbs_steps(coordinates, limbs, width)) is not None:
        return made
    return Piece(integration(list(coordinates.values()), width), {})


def has_rollouts(front: Front) -> bool:
    """Whether tasks may ask for steps of integration."""
    return not ROLLOUTS.keys().isdisjoint(front.design.functions)


def complete(front: Front, found: StagePieces) -> StagePieces:
    """The pieces; RobotError where a function has no stage to end in."""
    for function in front.design.functions:
        if LAST[function] not in found.pieces:
            raise RobotError(
                f"{front.robot.name}: accelerator: what {function} adds is zero in every state, so "
                "there is no stage for it; leave it out with --function"
            )
    return found


def targets_of(graph: Graph) -> dict[str, list[str | Node]]:
    """The outputs, or nodes, that each stage is for."""
    found: dict[str, list[str | Node]] = {
        stage: [name for name in graph.outputs if kind_of(name) in kinds]
        for stage, kinds in OUTPUTS.items()
    }
    found["inverse"] += _factors(graph)
    # What stages share that not all functions visit is made before, where these part: sines, in
    # one frame for all the bodies' rotations and places, a constant's multiple that two stages read
    early = _needed(graph, found["rnea"])
    inverse = _needed(graph, [*found["mass"], *found["inverse"]])
    gradient = _needed(graph, [*found["gradient"], *found["product"]])
    both, late = early & inverse, inverse & gradient
    found["trig"] += [node for node in graph.nodes if node.op in (Op.SIN, Op.COS) or node in both]
    found["mass"] += [node for node in graph.nodes if node in late]
    return found


def _needed(graph: Graph, outputs: Sequence[str | Node]) -> set[Node]:
    """The operations that these outputs, or nodes, need."""
    found: set[Node] = set()
    stack = [graph.outputs[of] if isinstance(of, str) else of for of in outputs]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += node.args
    return {node for node in found if node.op not in SHARED}


def _factors(graph: Graph) -> list[Node]:
    """The factors of q̈: what it is made of besides the effort and the bias."""
    late: set[Node] = set()
    found: dict[Node, None] = {}
    needed = [node for name, node in graph.outputs.items() if kind_of(name) == "qdd"]
    for node in graph.nodes:
        if _is_late(node) or not late.isdisjoint(node.args):
            late.add(node)
    seen: set[Node] = set()
    while needed:
        node = needed.pop()
        if node in late:
            needed += () if node in seen else node.args
            seen.add(node)
        else:
            found[node] = None
    return list(found)


def _is_late(node: Node) -> bool:
    return node.op is Op.INPUT and kind_of(node.name) in ("tau", "bias")


def _coordinates(
    front: Front, inputs: Mapping[str, Format], forward: Piece
) -> dict[int, Coordinate]:
    """The coordinates that a rollout integrates; RobotError where a joint's are no numbers."""
    found = {}
    for k, around in whole_turns(front.design, front.canonical).items():
        word = forward.fixed.formats[forward.fixed.graph.outputs[spell("qdd", k)]]
        acceleration = Format(word.width, word.fraction)
        position, rate = (_whole(inputs[spell(kind, k)]) for kind in ("q", "qd"))
        found[k] = Coordinate(k, position, rate, acceleration, around)
    return found


def _whole(word: Format) -> int:
    """Bits above the point."""
    return word.width - 1 - word.fraction


def _limbs_steps(coordinates: Mapping[int, Coordinate], limbs: Program, width: int) -> Piece | None:
    """The same of limbs, without signs; None where their coordinates are not alike.

    Every limb reads the same step size and turn of the rollout.
    """
    joints = [
        {
            indices(name)[0]: indices(own)[0]
            for name, (own, _) in limbs.given(visit).items()
            if kind_of(name) == "qdd"
        }
        for visit in limbs.reads
    ]
    first = [coordinates[k] for k in joints[0]]
    alike = all(replace(coordinates[own[at.k]], k=at.k) == at for own in joints for at in first)
    if not alike:
        return None
    template = integration(first, width)

    def named(word: str, own: Mapping[int, int]) -> tuple[str, int]:
        kind = kind_of(word)
        at = () if kind == "h" else indices(word)
        return (spell(kind, own[at[0]]) if at else word), 1

    steps = [
        (
            {word: named(word, own) for word in template.graph.inputs},
            {word: named(word, own) for word in template.graph.outputs},
        )
        for own in joints
    ]
    made = instantiate(in_turn(template.graph, steps), {LIMB: template})
    return Piece(made.whole, {}, made)
