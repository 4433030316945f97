"""A robot's functions as a graph over real numbers, and what is refused before more work."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..design.arrays import counts, given_coordinates, held, is_near, pushed, root_of
from ..design.bounds import bounds
from ..design.choices import LATHROP
from ..design.design import Design, canonical_of, formulation_of, holds, rewritten
from ..design.effects import refuse_design
from ..design.functions import MATRICES, OF_MASSES, REGRESSING
from ..design.gains import gains_of
from ..design.loading import as_filed
from ..design.rules import TRACE
from ..dynamics.interface import Columns, random_inputs, to_columns
from ..dynamics.trace import trace as trace_functions
from ..golden import crba, random_state
from ..graph.evaluate import evaluate
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.verify import verify
from ..graph.word import BASE_PARAMETERS, PARAMETERS, not_registers
from ..robot.frames import align_axes
from ..robot.model import Robot, RobotError
from ..robot.rotors import drivetrains
from ..robot.xml_lines import did_you_mean, quoted
from ..tasks.model import DesignedRobot
from ..tasks.routes import traced
from ..words.factor_bounds import NO_BOUNDS, PivotBounds
from ..words.order import EXACT, run
from .samples import carried_by, frames_of, nodes_of, sample_states

if TYPE_CHECKING:
    from ..dynamics.winograd import Largest
    from ..robot.model_parameters import ModelParameters
    from .parameters import Parameters

SECOND = "ddid"
SIZED, SIZED_SEED = 256, 9  # random states, by which powers of two are chosen
IDENTITY_SAMPLES, IDENTITY_SEED = 4, 5  # random states, at which equal values are found
LARGE = 50_000  # operations: a search for ranges takes a minute or more
MOST_PAIRS = 10_000  # a chain of 140 joints, whose gradients take minutes to trace
MOST_TRIPLES = 10_000  # a chain of 38 joints, whose second derivatives do
TRACED = ""  # a graph before any pass
Watch = Callable[[str, Graph], None]
Rows = tuple[tuple[str, dict[str, int]], ...]  # a step's name, operations of the graph after it


@dataclass(frozen=True, eq=False)
class Front(DesignedRobot):
    """A robot and the graph of its functions, over real numbers."""

    graph: Graph
    notes: tuple[str, ...] = field(default=())
    counts: Rows = field(default=())  # of the canonical robot's graph: traced, after each pass
    parameters: Parameters | None = None  # what its registers hold
    roughly: bool = False  # with ranges from states at random, without a search

    @cached_property
    def pivot_bounds(self) -> PivotBounds:
        """Bounds of M in every state, for proofs; `NO_BOUNDS` where no proof can use them."""
        if self.why_no_pivot_bounds or not self.graph.known:
            return NO_BOUNDS
        from ..dynamics.pivot_bounds import pivot_bounds

        if holds(self.design):  # efforts have their share of what the held frames carry
            return pivot_bounds(self._bodies)
        box = bounds(self.design, self.canonical)  # efforts are those that accelerations in it take
        return replace(
            pivot_bounds(self._bodies), accelerations=dict(enumerate(map(float, box.qdd)))
        )

    @cached_property
    def why_no_pivot_bounds(self) -> str:
        """Why nothing is known of that where functions divide by it; empty if it is."""
        if not self.graph.known:
            return ""
        if self.parameters is not None or self.design.payload is not None:
            return "inertias come with tasks, or are in registers"
        from ..dynamics.pivot_bounds import obstacle

        return obstacle(self._bodies)

    @cached_property
    def _bodies(self) -> Robot:
        """The canonical robot, with the inertias of bodies."""
        return canonical_of(self.design, bodies=True)(self.robot)

    @cached_property
    def rewrites(self) -> Rows:
        """Operations of the graph after each rewrite and pass.

        A trace for each rewritten robot: it takes longer than the front end.
        """
        design, rows, known = self.design, [], dict[bytes, dict[str, int]]()
        # Only axes on z can be traced: the first two counts are of the robot with its axes there.
        steps = [
            ("as read", self.robot),
            *rewritten(design, self.robot, of_bodies(design)),
        ]
        for name, robot in steps[:-1]:  # the last is the canonical robot
            counted = align_axes(robot) if name in ("as read", "merge_fixed") else robot
            same = pickle.dumps(counted)  # where no angle is snapped, two steps have one robot
            if same not in known:
                known[same] = trace(design, counted).operations()
            rows.append((name, known[same]))
        return (*rows, *self.counts)


def of_bodies(design: Design) -> bool:
    """Whether anything asks for centres of mass, which regrouped inertias have not."""
    asking = not set(OF_MASSES).isdisjoint(design.functions)
    return asking or formulation_of(design) in LATHROP


def notes_of_masses(design: Design) -> list[str]:
    """Notes on the effect that functions of the bodies' masses have on all others."""
    asking = [name for name in design.functions if name in OF_MASSES]
    if not asking:
        return []
    return [f"functions: {', '.join(asking)}: of every body's mass, so inertias are not regrouped"]


def notes_of_regressors(design: Design, canonical: Robot) -> list[str]:
    """Notes on what τ has besides Y π, and on base parameters."""
    asking = [name for name in design.functions if name in REGRESSING]
    notes = []
    if asking and drivetrains(canonical):
        notes.append(
            f"{', '.join(asking)}: of rigid bodies, without columns for rotors, damping and "
            "friction, whose efforts are a qdd, d qd and c s(qd / w) of each joint"
        )
    if "base_regressor" in asking:
        found = counts(design, canonical)
        notes.append(
            f"base_regressor: {found[BASE_PARAMETERS]} base parameters determine tau, of "
            f"{found[PARAMETERS]} parameters; base_parameters in manifest.json says which "
            "combination of those each is"
        )
        if any(joint.mimic for joint in canonical.joints):
            notes.append(
                "base_regressor: joints that mimic others are counted as if they moved alone, so "
                "columns may be dependent"
            )
    return notes


def notes_of_base(design: Design, products: int) -> list[str]:
    """A note on the products of the design's base link, as traced, beside the file's."""
    if design.base_link is None:
        return []
    canonical = canonical_of(design, of_bodies(design))(as_filed(design))
    filed = trace(replace(design, base_link=None), canonical).operations()["mul"]
    more = f", {100 * (products / filed - 1):+.0f} %" if filed else ""
    return [
        f"base_link: {design.base_link}: {products} products of signals as traced, and {filed} "
        f"with the file's base{more}; best is where the tree is least deep, whatever that takes"
    ]


def notes_of_pivots(front: Front) -> list[str]:
    """Notes on pivots without proven bounds, and why they have none."""
    if front.design.accelerator or not front.graph.known:
        return []
    if front.why_no_pivot_bounds:
        return [
            f"pivots: {front.why_no_pivot_bounds}, so nothing is proven behind their reciprocals"
        ]
    from ..dynamics.pivot_bounds import without_pivot_bounds

    several = without_pivot_bounds(
        front.canonical, given_coordinates(front.design, front.canonical)
    )
    if not several:
        return []
    have = "has" if len(several) == 1 else "have"
    return [
        f"pivots: {', '.join(several)} {have} several coordinates, so nothing is proven behind "
        "their reciprocals, nor of what is solved for with them"
    ]


def is_large(front: Front) -> bool:
    """Whether a robot's functions are so many operations that each step takes a minute."""
    return sum(front.graph.operations().values()) >= LARGE


def roughly(front: Front) -> Front:
    """The front; of a large robot one whose ranges are not searched, with a note that says so."""
    if not is_large(front):
        return front
    operations = sum(front.graph.operations().values())
    note = (
        f"ranges: from states at random, since a search takes minutes for {operations} operations; "
        "rbdgen generate makes it, so binary points, and cells by a little, may differ"
    )
    return replace(front, roughly=True, notes=(*front.notes, note))


def trace(design: Design, canonical: Robot) -> Graph:
    """The design's functions of a canonical robot as one graph."""
    return verify(_traced(design, canonical))


def counting(rows: list[tuple[str, dict[str, int]]], name: str) -> Watch:
    """Adds the operations of each graph to ``rows``, as it was traced called ``name``."""
    return lambda step, graph: rows.append((step or name, graph.operations()))


def in_reals(
    design: Design,
    canonical: Robot,
    numbers: ModelParameters | None,
    watch: Watch = lambda *_: None,
) -> tuple[Graph, Parameters | None]:
    """The same after the exact passes, and with ``numbers`` in registers; ``watch`` sees each."""
    if numbers is None:
        graph = trace(design, canonical)
        watch(TRACED, graph)
        return run(EXACT, graph, any_inputs(design, canonical, graph.inputs), watch), None
    from .parameters import any_registers, first_registers, settled

    graph, first = first_registers(numbers, _traced(design, canonical, numbers))
    watch(TRACED, verify(graph))
    names = not_registers(graph.inputs)
    given = any_inputs(design, canonical, names)
    given |= any_registers(first, IDENTITY_SAMPLES, IDENTITY_SEED)
    graph, parameters = settled(run(EXACT, graph, given, watch), first)
    return verify(graph), parameters


def _traced(design: Design, canonical: Robot, numbers: ModelParameters | None = None) -> Graph:
    refuse_design(design, canonical.name, TRACE, formulation=formulation_of(design))

    return trace_functions(
        canonical,
        traced(design.functions) if design.accelerator else design.functions,
        external_forces=pushed(design, canonical),
        multiplications=design.rotation,
        sincos_inputs=design.angles == "sincos",
        formulation=formulation_of(design),
        network=design.network,
        frame=frame_index(design, canonical),
        factorisation=design.factorisation,
        inverse=design.inverse,
        root=root_of(design),
        frames=frames_of(design, canonical),
        payload=carried_by(design, canonical),
        step=design.step,
        integrator=design.integrator,
        held=held(design),
        reference=design.reference,
        law=gains_of(design, canonical),
        largest=_largest(design, canonical, numbers) if design.products == "winograd" else None,
        in_nodes=nodes_of(design, numbers) if numbers else None,
    )


def _largest(design: Design, canonical: Robot, numbers: ModelParameters | None) -> Largest:
    """How large nodes of a trace in the making are in random states within the design's limits."""
    states = sample_states(design, canonical, SIZED, SIZED_SEED)

    def largest(nodes: Sequence[Node]) -> list[float]:
        wanted = dict(zip(map(str, range(len(nodes))), nodes, strict=True))
        known = Graph((), wanted)
        names = [node.name for node in known.nodes if node.op is Op.INPUT]
        own = {} if numbers is None else numbers.columns()
        plain = [name for name in names if name not in own]
        found = evaluate(known, to_columns(canonical, plain, states) | own)
        return [float(np.abs(values).max()) for values in found.values()]

    return largest


def any_inputs(design: Design, canonical: Robot, inputs: Sequence[str]) -> Columns:
    """The random inputs, a few of each, at which the design's graph is searched for equals."""
    inverse = 3.0
    if is_near(design):
        q = random_state(canonical, IDENTITY_SAMPLES, np.random.default_rng(IDENTITY_SEED)).q
        inverse = 1 / float(np.abs(crba(canonical, q)).max())
    return random_inputs(canonical, inputs, IDENTITY_SAMPLES, IDENTITY_SEED, inverse)


def frame_index(design: Design, canonical: Robot) -> int | None:
    """The joint that moves the link along whose axes the design adds; RobotError if none does."""
    if design.frame is None:
        return None
    bodies = [joint.body for joint in canonical.joints]
    if design.frame not in bodies:
        hint = did_you_mean(design.frame, bodies, f"; one of {', '.join(bodies)}")
        raise RobotError(
            f"{canonical.name}: frame: {quoted(design.frame)} is no link that a joint moves{hint}"
        )
    return bodies.index(design.frame)


def refuse_large(design: Design, robot: Robot) -> None:
    """Matrices that would take hours, by the pairs of coordinates of which one moves the other;
    second derivatives by the triples that lie on one way to the base."""
    above: dict[int, int] = {-1: 0}
    pairs = triples = 0
    for i, joint in enumerate(robot.joints):
        above[i] = above[joint.parent] + joint.kind.nv
        pairs += joint.kind.nv * above[i]
        triples += joint.kind.nv * above[i] * (above[i] + 1) // 2
    if SECOND in design.functions and triples > MOST_TRIPLES:
        raise RobotError(
            f"{robot.name}: {SECOND}: {triples} triples of coordinates that move one another, of "
            f"{MOST_TRIPLES} at most; for robots of this size there is did"
        )
    matrices = [f for f in design.functions if f in MATRICES]
    if matrices and pairs > MOST_PAIRS:
        raise RobotError(
            f"{robot.name}: {matrices[0]}: {pairs} entries of a matrix, of {MOST_PAIRS} at most; "
            "for robots of this size there are id and fd"
        )


def refuse_unbounded(front: Front) -> None:
    """RobotError for gradients of rigid contacts in words: they grow with the square of
    (J M⁻¹ Jᵀ)⁻¹, which has no bound near dependent directions, so that no words have room."""
    if "dcfd" in front.design.functions and not front.design.contact_damping:
        raise RobotError(
            f"{front.robot.name}: dcfd: contact_damping is 0, and gradients of rigid contacts have "
            "no bound where held directions are nearly dependent, so words have no room: "
            "--contact-damping 0.01, or --to cpp, which has no words"
        )


def refuse_still(front: Front) -> None:
    """RobotError for a robot of which nothing moves that functions speak of."""
    if front.graph.outputs and front.robot.nv > given_coordinates(front.design, front.robot):
        return
    if front.robot.nv > given_coordinates(front.design, front.robot):
        functions = ", ".join(front.design.functions)
        raise RobotError(f"{front.robot.name}: functions: {functions}: zero in every state")
    cure = ""
    if front.design.base == "fixed":
        cure = "; of a robot that flies, swims or drives the base does: --base floating"
    elif front.design.root != "free":
        cure = f"; its base does with --root free, not {front.design.root}"
    raise RobotError(f"{front.robot.name}: no joint moves, so there is no hardware to make{cure}")
