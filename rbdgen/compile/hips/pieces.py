"""A robot whose trunk moves, split at the hips, and cut into the pieces of its stages.

What limbs that are alike compute of a stage becomes a stage of its own before it, in which they
take turns; what they and the rest read of the trunk another one, before all of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...dynamics.interface import random_inputs
from ...graph.fixed import FixedGraph, Format
from ...graph.graph import Graph
from ...graph.node import Node, Op
from ...passes.given import Given
from ...passes.limb_pieces import of_all_limbs
from ...passes.limbs import LIMB, LimbError
from ...passes.pieces import Piece, cut
from ...passes.program_given import in_words_along
from ...tasks.visit import LIMBS, TRUNK, part_of
from ..front import Front, Progress
from ..stage_pieces import OUTPUTS, StagePieces, complete, has_rollouts, targets_of
from ..words import as_designed
from .split import REST, Split, split

SAMPLES, SEED = 8, 7
INNER = ("M", "dtau_dq", "dtau_dqd")  # what stages read of each other's results
FIRST = ("trig", "rnea", "gradient")  # what a task visits when it has been at the trunk
APART = ("forward", "product")  # of whole matrices: no limb has much of them to itself


def cut_hips(front: Front, given: Given, progress: Progress) -> tuple[int, StagePieces]:
    """How many limbs are alike, and the robot with every one of them as the first one.

    Raises LimbError where that cannot be.
    """
    if has_rollouts(front):
        raise LimbError("of rollouts, limbs take turns only where they stand on what does not move")
    if front.design.error is not None:
        raise LimbError("of what limbs give a trunk, no error can be asked for")
    anything = random_inputs(front.canonical, front.graph.inputs, SAMPLES, SEED)
    of, partly = owners(front.graph), front.design.fold == "limbs"
    hips = split(front.graph, front.canonical, anything, of, INNER, FIRST, partly)
    if all(node.op is Op.CONST for node in hips.rest.outputs.values()):
        raise LimbError("nothing depends on several limbs")
    program = hips.program(front.graph.inputs)
    words = in_words_along(program, given, as_designed(front, progress))
    pieces: dict[str, Piece] = {}
    inputs: dict[str, Format] = {}
    parts = {TRUNK: Piece(words[TRUNK], {})} if TRUNK in words else {}
    parts |= _limb_pieces(hips, words[LIMB]) | cut(words[REST], targets_of(words[REST].graph))
    for name, piece in parts.items():
        pieces[name] = _reading(piece, pieces, front.graph)
        inputs |= piece.fixed.inputs
    inputs = {name: of for name, of in inputs.items() if name in front.graph.inputs}
    for name in ("trig", "mass", "inverse"):  # not behind the trunk
        for own in (pieces[part] for part in (name, part_of(name, LIMBS)) if part in pieces):
            if TRUNK in own.reads.values():
                raise LimbError(f"the trunk's own joints are in {name}, too")
    return len(hips.limbs.reads), complete(front, StagePieces(_in_order(pieces), inputs))


def owners(graph: Graph) -> dict[Node, str]:
    """Node → the stage that needs it first, but for those that are of no limb."""
    found: dict[Node, str] = {}
    for stage, targets in targets_of(graph).items():
        if stage in APART:
            continue
        stack = [graph.outputs[t] if isinstance(t, str) else t for t in targets]
        while stack:
            node = stack.pop()
            if node not in found:
                found[node] = stage
                stack += node.args
    return found


def _limb_pieces(hips: Split, template: FixedGraph) -> dict[str, Piece]:
    targets = targets_of(template.graph)
    for name, stage in hips.owner.items():
        targets[stage].append(name)
    own = {stage if stage == "trig" else part_of(stage, LIMBS): to for stage, to in targets.items()}
    none: dict[str, Mapping[str, float]] = {name: {} for name in own}
    return of_all_limbs(hips.limbs, template.width, cut(template, own), none)


def _reading(piece: Piece, before: Mapping[str, Piece], whole: Graph) -> Piece:
    """Knowing which of the pieces before it give what it reads, but for the robot's own inputs.

    The effort that forward dynamics takes is called as the one that inverse dynamics gives.
    """
    givers = {name: stage for stage, own in before.items() for name in own.fixed.graph.outputs}
    read = [name for name in piece.fixed.inputs if name in givers and name not in whole.inputs]
    return replace(piece, reads={name: givers[name] for name in read})


def _in_order(pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    """Each stage after its limbs' part; a stage that is limbs only needs no name for a part."""
    order = {"trig": "trig", TRUNK: TRUNK}
    for stage in OUTPUTS:
        part = part_of(stage, LIMBS)
        order |= {stage: part} if stage not in pieces else {part: part, stage: stage}
    new = {old: name for name, old in order.items()}
    return {
        name: replace(pieces[old], reads={word: new[by] for word, by in pieces[old].reads.items()})
        for name, old in order.items()
        if old in pieces
    }
