"""A robot of limbs, split at the hips where a trunk moves, and cut into the pieces of its stages.

What limbs that are alike compute of a stage becomes a stage of its own before it, in which they are
time-multiplexed; what they and the rest read of the trunk another one, before all of those. Where
the mass matrix reads sines of the trunk's joints, these are a stage before all sines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...design.design import formulation_of
from ...design.effects import refused
from ...design.rules import ON_TRUNKS
from ...dynamics.interface import random_inputs
from ...graph.fixed import FixedGraph
from ...graph.graph import Graph, cone
from ...graph.node import Node, Op
from ...graph.visits import Program, Signed, in_turn
from ...graph.word import kind_of
from ...schedule.partition import Piece, StagePieces, cut
from ...system.quoting import Progress
from ...tasks.routes import LIMBS, PARTS, TRUNK, parse, part_of
from ...words.input_domain import InputDomain
from ...words.instances import instantiate
from ...words.program_ranges import program_in_words
from ...words.wordlength import input_formats
from ..front import Front
from ..stage_pieces import OUTPUTS, complete, targets_of
from ..words import LIMB_SAMPLES, LIMB_SEED, as_designed
from .names import LimbError
from .split import REST, Split, find_limbs, split

NOTHING = Graph((), {})
INNER = ("M", "dtau_dq", "dtau_dqd")  # what stages read of each other's results
FIRST = ("trig", "rnea", "gradient")  # what a task visits when it has been at the trunk
EARLY = ("trig", "mass", "inverse")  # what a task visits without RNEA
APART = ("forward", "product")  # of whole matrices: no limb has much of them to itself


def split_limbs(front: Front, partly: bool) -> Split:
    """The front's graph as limbs that are alike, alone or on a trunk, there ``partly`` so, too.

    Raises LimbError where that cannot be.
    """
    graph, robot, design = front.graph, front.canonical, front.design
    anything = random_inputs(robot, graph.inputs, LIMB_SAMPLES, LIMB_SEED)
    try:
        return Split(NOTHING, (find_limbs(graph, robot, anything),), NOTHING, {})
    except LimbError as error:
        why = str(error)
    try:
        if line := refused(design, ON_TRUNKS, formulation=formulation_of(design)):
            raise LimbError(line)
        hips = split(graph, robot, anything, owners(graph), INNER, FIRST, partly)
        if all(node.op is Op.CONST for node in hips.rest.outputs.values()):
            raise LimbError("nothing depends on several limbs")
    except LimbError as error:
        raise LimbError(f"{why}; {error}") from None
    return hips


def cut_limbs(front: Front, found: Split, given: InputDomain, progress: Progress) -> StagePieces:
    """The pieces of a robot with every limb of a group as the first one; LimbError as above."""
    names, width = front.graph.inputs, front.design.width
    words = program_in_words(found.program(names), given, as_designed(front, progress))
    parts = cut(words[REST], targets_of(words[REST].graph)) if REST in words else {}
    for part, limbs in zip(("",) if found.alone else LIMBS, found.groups, strict=False):
        parts = _limb_pieces(found, limbs, words, part, "trig" in parts) | parts
    if TRUNK in words:
        parts = _trunk_pieces(words[TRUNK], found.owner, parts) | parts
    pieces: dict[str, Piece] = {}
    inputs = input_formats(Graph(names, {}), given.limits, width)
    for name, piece in parts.items():
        pieces[name] = _reading(piece, pieces, front.graph)
        inputs |= {word: of for word, of in piece.fixed.inputs.items() if word in names}
    searched = None if found.alone else given
    return complete(front, _in_order(pieces), inputs, searched, found.groups[0])


def owners(graph: Graph) -> dict[Node, str]:
    """Node → the stage that needs it first, but for those that are of no limb."""
    found: dict[Node, str] = {}
    for stage, targets in targets_of(graph).items():
        if stage in APART:
            continue
        nodes = (graph.outputs[t] if isinstance(t, str) else t for t in targets)
        found = dict.fromkeys(cone(nodes, found.__contains__), stage) | found
    return found


def _trunk_pieces(
    trunk: FixedGraph, owner: Mapping[str, str], others: Mapping[str, Piece]
) -> dict[str, Piece]:
    """The trunk, which stages before RNEA can read of only what is in a stage of its own."""
    early = [piece for name, piece in others.items() if parse(name).step in EARLY]
    read = {word for piece in early for word in piece.fixed.inputs} & trunk.graph.outputs.keys()
    if late := {owner.get(word) for word in read} - {"trig"}:
        raise LimbError(f"what is the trunk's in {late.pop()} is in the mass matrix, too")
    if not read:
        return {TRUNK: Piece(trunk, {})}
    sines = [word for word in trunk.graph.outputs if owner.get(word) == "trig"]
    left = [word for word in trunk.graph.outputs if word not in sines]
    return cut(trunk, {part_of("trig", TRUNK): sines, TRUNK: left})


def _limb_pieces(
    hips: Split, limbs: Program, words: Mapping[str, FixedGraph], part: str, sines: bool
) -> dict[str, Piece]:
    """The pieces of a group of limbs; ``sines``: whether there is a stage of such already."""
    (called,) = limbs.templates
    template = words[called]
    targets = targets_of(template.graph)
    for name in template.graph.outputs:
        if name in hips.owner:
            targets[hips.owner[name]].append(name)
    own = {
        stage if stage == "trig" and not sines else part_of(stage, part): to
        for stage, to in targets.items()
    }
    return _of_all(limbs, cut(template, own), own, template.width)


def _of_all(
    limbs: Program, pieces: Mapping[str, Piece], names: Iterable[str], width: int
) -> dict[str, Piece]:
    """The robot's pieces, from those that the template of its ``limbs``, in words, was cut into.

    Words between pieces are called PIECE.K here too, the first limb's first. A piece, of those of
    these ``names``, has the outputs that are the same in every state, too.
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
    same = {name: value for name, value in limbs.outputs.items() if isinstance(value, float)}
    empty = Piece(FixedGraph(NOTHING, {}, {}, width), {})
    found = {}
    for name in names:
        constants = {n: x for n, x in same.items() if kind_of(n) in OUTPUTS[parse(name).step]}
        if name in pieces or constants:
            own = pieces.get(name, empty).fixed
            read_and_given = [
                (_named(own.graph.inputs, read, words), _named(own.graph.outputs, given, words))
                for (read, given), words in zip(outside, between, strict=True)
            ]
            program = in_turn(own.graph, read_and_given)
            program = replace(program, outputs={**program.outputs, **constants})
            made = instantiate(program, dict.fromkeys(program.templates, own))
            found[name] = Piece(made.whole, {}, made)
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


def _reading(piece: Piece, before: Mapping[str, Piece], whole: Graph) -> Piece:
    """Knowing which of the pieces before it give what it reads, but for the robot's own inputs.

    The effort that forward dynamics takes is called as the one that inverse dynamics gives.
    """
    givers = {name: stage for stage, own in before.items() for name in own.fixed.graph.outputs}
    read = [name for name in piece.fixed.inputs if name in givers and name not in whole.inputs]
    return replace(piece, reads={name: givers[name] for name in read})


def _in_order(pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    """Each stage after its parts; without anything besides, it has the name of the last one."""
    order: dict[str, str] = {}  # name → old name
    for stage in OUTPUTS:
        parts = [own for part in PARTS if (own := part_of(stage, part)) in pieces]
        order |= {own: own for own in parts[:-1]}
        if parts:
            order[stage] = parts[-1]
    new = {old: name for name, old in order.items()}
    return {
        name: replace(pieces[old], reads={word: new[by] for word, by in pieces[old].reads.items()})
        for name, old in order.items()
    }
