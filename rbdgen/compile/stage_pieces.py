"""A robot's function cut into what the stages of its accelerator compute.

A stage whose joints share datapaths reads the task alone: its program makes sines, motions and
forces for itself, which costs a few datapaths, where it would read hundreds of words of the stages
before it. M⁻¹, forward dynamics and the product with M⁻¹ are cut from a graph that begins with M
and ∂τ then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ..design.arrays import given_coordinates, root_of
from ..design.bounds import whole_turns
from ..design.design import Design, has_rollouts
from ..design.functions import INVERTING
from ..dynamics.inversion import solved
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph, cone
from ..graph.node import Node, Op
from ..graph.verify import verify
from ..graph.visits import LIMB, Program, in_turn
from ..graph.word import indices, kind_of, spell
from ..robot.model import RobotError
from ..schedule.partition import SHARED, Piece, StagePieces, cut
from ..schedule.specialise import giving
from ..system.quoting import Progress
from ..tasks.integration import Coordinate, integration
from ..tasks.routes import LAST, stands_alone, traced, visit_counts
from ..words.input_domain import InputDomain
from ..words.instances import FixedProgram, instantiate
from ..words.wordlength import ANGLE_BITS, LARGEST_INPUT, input_formats
from .front import Front
from .inverse_factors import INVERSE, factors_that_save
from .matrix_rows import FORWARD, PRODUCT, shape_of
from .words import in_words, program_in_words, with_outputs

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
STEPS = ("trig", "rnea", "mass", "gradient", "inverse", "forward", "product")  # as they are told
BY_JOINTS = ("rnea", "mass", "gradient")  # the stages that visits to joints compute
GUARD = 6  # bits
GIVEN = tuple(kind for stage in ("mass", "gradient") for kind in OUTPUTS[stage])


def pieces_of_joints(
    front: Front,
    given: InputDomain,
    progress: Progress,
    joints: Collection[str] = BY_JOINTS,
    by_columns: Collection[str] = (),
) -> StagePieces:
    """The robot's pieces, those of ``joints`` as programs; RobotError where there are none.

    ``given``: with states in which signals are largest. ``by_columns``: stages whose pieces are
    over real numbers, since columns will take their place.
    """
    if root_of(front.design) == "each":
        raise RobotError("M⁻¹ is then cut from M alone, and root: each has it by task")
    programs = _programs(front, given, progress, joints)
    pieces = {name: Piece(own.whole, {}, own, joints=True) for name, own in programs.items()}
    inputs = input_formats(Graph(front.graph.inputs, {}), given.limits, front.design.width)
    others = [stage for stage in BY_JOINTS if stage not in joints]
    if kinds := [kind for stage in others for kind in OUTPUTS[stage]]:
        apart = {n: node for n, node in front.graph.outputs.items() if kind_of(n) in kinds}
        if apart:
            _, words = in_words(front, _reading(front.graph, apart), given, progress)
            pieces |= cut(words, targets_of(words.graph))
    giver = {kind: stage for stage in pieces for kind in OUTPUTS.get(stage, ()) if kind in GIVEN}

    def sent(names: Collection[str]) -> dict[str, str]:
        return {word: giver[kind_of(word)] for word in names if kind_of(word) in giver}

    rest = _rest(front)
    real = {name: graph for name, graph in _apart(rest).items() if name in by_columns}
    left = {n: x for n, x in rest.outputs.items() if not any(n in g.outputs for g in real.values())}
    if left:
        rest = _reading(rest, left)
        names = [name for name in rest.inputs if kind_of(name) in GIVEN]
        of_rest = with_outputs(front.graph, given, names)
        _, words = in_words(front, rest, of_rest, progress)
        for name, piece in cut(words, targets_of(words.graph)).items():
            pieces[name] = replace(piece, reads={**piece.reads, **sent(piece.fixed.inputs)})
    for name, graph in real.items():
        pieces[name] = Piece(FixedGraph(graph, {}, {}, front.design.width), sent(graph.inputs))
    pieces = {name: pieces[name] for name in STEPS if name in pieces}
    for piece in pieces.values():
        inputs |= {name: word for name, word in piece.fixed.inputs.items() if name in inputs}
    return complete(front, _visited(front, pieces), inputs, given)


def by_columns(front: Front, design: Design) -> list[str]:
    """The stages of which it is known beforehand that their columns will be time-multiplexed.

    They need no words then of what they were. ``design``: the front's, or one that differs from it
    in how often a task comes.
    """
    known = design.multipliers is None and design.mix is None and design.error is None
    if not known or has_rollouts(front.design):
        return []
    real, interval = _apart(_rest(front)), design.ii or 1
    found = []
    if INVERSE in real and factors_that_save(front, real[INVERSE].operations()["add"], interval):
        found += [name for name in (INVERSE, FORWARD) if name in real]
    if PRODUCT in real and shape_of(front, interval):
        found.append(PRODUCT)
    return found


def _apart(rest: Graph) -> dict[str, Graph]:
    """The graph of each stage after those of joints, over real numbers."""
    kinds = {stage: OUTPUTS[stage] for stage in (INVERSE, FORWARD, PRODUCT)}
    own = {
        stage: {n: node for n, node in rest.outputs.items() if kind_of(n) in kinds[stage]}
        for stage in kinds
    }
    return {stage: _reading(rest, outputs) for stage, outputs in own.items() if outputs}


def _programs(
    front: Front, given: InputDomain, progress: Progress, joints: Collection[str]
) -> dict[str, FixedProgram]:
    """The program of each stage that visits to joints compute; those of one width in one go.

    One binary point serves all joints, so that small entries of M have few bits, and M⁻¹ magnifies
    what these and the bias are off: where there is any, M and τ have longer words.
    """
    design, solving = front.design, traced(front.design.functions)
    kinds = {stage: OUTPUTS[stage] for stage in BY_JOINTS}
    if "did" in design.functions:
        kinds["gradient"] += OUTPUTS["rnea"]  # its tasks do not go there, and it is made anyway
    widths = dict.fromkeys(BY_JOINTS, design.width)
    longer = min(design.width + GUARD, LARGEST_INPUT - ANGLE_BITS)
    if not {*INVERTING, "effort"}.isdisjoint(solving):
        widths["mass"] = max(longer, design.width)
    if "effort" in solving:
        widths["rnea"] = widths["mass"]
    found: dict[str, FixedProgram] = {}
    for width in sorted(set(widths.values())):
        of = {
            stage: [name for name in front.graph.outputs if kind_of(name) in kinds[stage]]
            for stage in BY_JOINTS
            if stage in joints and widths[stage] == width
        }
        of = {s: own for s, own in of.items() if any(kind_of(n) in OUTPUTS[s] for n in own)}
        if of:
            outputs = {name: front.graph.outputs[name] for own in of.values() for name in own}
            graph = _reading(front.graph, outputs)
            made = program_in_words(front, graph, given, width, progress)
            found |= {stage: giving(made, own) for stage, own in of.items()}
    return {stage: found[stage] for stage in BY_JOINTS if stage in found}


@lru_cache(maxsize=1)
def _rest(front: Front) -> Graph:
    """The computation after the joints' stages, a graph of the matrices that these return.

    RobotError for a design that finds M⁻¹ in another way than from M.
    """
    design, robot = front.design, front.canonical
    if design.factorisation not in ("auto", "ltdl"):
        raise RobotError(
            f"{robot.name}: factorisation: {design.factorisation}: where joints are "
            "time-multiplexed, M⁻¹ is found with ltdl"
        )
    given = given_coordinates(design, robot)
    order = {
        k: i for i, at in robot.v_slices.items() for k in range(at.start, at.stop) if k >= given
    }
    return verify(solved(front.graph, order, robot.nv, traced(design.functions)))


def _reading(graph: Graph, outputs: dict[str, Node]) -> Graph:
    """Some outputs of a graph, with the inputs that they are made of."""
    read = {node.name for node in Graph((), outputs).nodes if node.op is Op.INPUT}
    return Graph(tuple(name for name in graph.inputs if name in read), outputs)


def _visited(front: Front, pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    """The pieces that some task goes to: the gradients' tasks do not need RNEA's."""
    alone = stands_alone({name: piece.reads for name, piece in pieces.items()})
    visited = {name for f in front.design.functions for name in visit_counts(f, pieces, alone)}
    return {name: piece for name, piece in pieces.items() if name in visited}


def complete(
    front: Front,
    pieces: Mapping[str, Piece],
    inputs: Mapping[str, Format],
    given: InputDomain | None,
    limbs: Program | None = None,
) -> StagePieces:
    """The pieces, and the stage that integrates what `forward` gives where rollouts ask for it, of
    ``limbs`` that are alike, if they are; RobotError where a function has no stage to end in."""
    if has_rollouts(front.design):
        coordinates, width = _coordinates(front, inputs, pieces["forward"]), front.design.width
        steps = limbs and _limbs_steps(coordinates, limbs, width)
        # its errors are those of a rollout
        steps = steps or Piece(integration(list(coordinates.values()), width), {})
        pieces = {**pieces, "integrate": steps}
    for function in front.design.functions:
        if LAST[function] not in pieces:
            raise RobotError(
                f"{front.robot.name}: accelerator: what {function} adds is zero in every state, so "
                "there is no stage for it; leave it out with --function"
            )
    return StagePieces(pieces, inputs, given)


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


def sums_apart(graph: Graph) -> dict[str, int]:
    """Stage → its sums where nothing but products shares hardware, about and at least.

    Of the stages that time-multiplexed joints could compute, each without those before it:
    additions, one that rounds each product, and one for each product by a constant.
    """
    found: dict[str, int] = {}
    seen: set[Node] = set()
    for stage in BY_JOINTS:
        targets = (x for name, x in graph.outputs.items() if kind_of(name) in OUTPUTS[stage])
        own = cone(targets, seen.__contains__).keys() - seen
        summed = (node for node in own if node.op in (Op.ADD, Op.SUB, Op.MUL, Op.MULC))
        found[stage] = sum(not node.is_shift for node in summed)
        seen |= own
    return found


def _needed(graph: Graph, outputs: Sequence[str | Node]) -> set[Node]:
    """The operations that these outputs, or nodes, need."""
    found = cone(graph.outputs[of] if isinstance(of, str) else of for of in outputs)
    return {node for node in found if node.op not in SHARED}


def _factors(graph: Graph) -> list[Node]:
    """The factors of q̈: what it is made of besides the effort and the bias."""
    late: set[Node] = set()
    needed = (node for name, node in graph.outputs.items() if kind_of(name) == "qdd")
    for node in graph.nodes:
        if _is_late(node) or not late.isdisjoint(node.args):
            late.add(node)
    return [node for node in cone(needed, lambda node: node not in late) if node not in late]


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
