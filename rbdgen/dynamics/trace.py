"""Trace functions of a robot to one graph: names for the interface, then the algorithms.

Several functions share all that they have in common, since equal operations are one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..design.choices import INVERTING, NEEDS, OF_FRAMES, OF_MASSES, STEP, UNFORCED
from ..graph.arrays import FAR, ROOT
from ..graph.graph import Graph
from ..graph.node import Builder
from ..graph.word import spell
from ..robot.drivetrains import drivetrains
from ..robot.model import JointKind, Robot, RobotError, Transform
from ..robot.payload import PAYLOAD, SIZE
from . import drivetrains as gears
from .articulated import mass_matrix_inverse
from .blocks import invert_by_blocks
from .bodies import Payload
from .centroidal import Centroidal
from .common_frame import common_frame
from .composite import Gradient
from .contacts import gives_held
from .factorisation import Solver, factorise, times
from .interface import WRENCH, revolute
from .kinematics import Kinematics
from .logarithmic import Logarithmic
from .motion import State
from .near import FARTHEST, correct
from .observed import Frames, gives_frames, gives_masses
from .ports import Interface
from .recursions import AGAIN, LATHROP, LOGARITHMIC, OF_ID, Pass, Recursions
from .scalars import Arithmetic, Numbers, Scalar, Vector
from .second import with_second_derivatives
from .solved import (
    Columns,
    apart,
    forward_slopes,
    given_inverse,
    gives_forward,
    gives_of_effort,
)
from .spatial import is_zero
from .stepping import Point, Rates, euler, named, runge_kutta
from .steps import Inline
from .units import Units, units
from .winograd import Largest

AT_GIVEN_ACCELERATION = {"id", "did", "difd", "ddid"}
AT_GIVEN_EFFORT = {"fd", "dfd", "cfd", "step"}
HELD = {name: NEEDS[name] for name in ("g", "nle")}  # τ without acceleration, and of what state
SEEING = {"pose", "com", "energy", "step"}  # which see where a base is
COMPARED = 30  # coordinates, from which on M⁻¹ by LᵀDL takes fewer products on every robot
EFFORT = "effort"  # what is left of forward dynamics where the bias is known
SIZES_STATES, SIZES_SEED = 8, 3
NEAR = "near"  # how M⁻¹ is found
PLACES = {
    JointKind.FLOATING: 3,
    JointKind.PLANAR: 2,
}  # coordinates that say where, not how turned

InNodes = Callable[[Builder], tuple[Robot, Frames, tuple[int, Transform] | None]]


def trace(
    robot: Robot,
    functions: Sequence[str],
    *,
    external_forces: Sequence[int] = (),
    multiplications: int = 4,
    sincos_inputs: bool = False,
    formulation: str = "composite",
    network: str = "sklansky",
    frame: int | None = None,
    factorisation: str = "auto",
    inverse: str = "computed",
    root: str = "free",
    largest: Largest | None = None,
    frames: Frames = (),
    payload: tuple[int, Transform] | None = None,
    step: float = STEP,
    integrator: str = "euler",
    held: tuple[int, float] = (3, 0.0),
    in_nodes: InNodes | None = None,
) -> Graph:
    """Functions of a canonical robot as one graph.

    ``functions``: id (τ), fd (q̈), m (M), minv (M⁻¹), did (τ and its gradients), dfd (q̈ and its
    gradients), difd (the gradients of q̈ from M⁻¹ given), ddid (the gradients of did's and of M:
    ``second``), step (``step`` seconds of motion by ``integrator``, euler or rk4, and what it
    depends on: ``stepping``), g and nle (τ without acceleration, at rest and in motion, without
    external forces); of ``frames``, (joint, pose in its body's frame), pose, twist, jac, drift and
    cfd (q̈ while they are held, and by what forces: ``held`` as `contacts` has it);
    of a robot whose inertias are those of bodies com, jcom, energy, ag and hg (``observed``);
    effort (q̈ from ``tau[k]`` and a given ``bias[k]``, the τ that holds the motion without
    acceleration; not with fd or dfd).
    ``external_forces``: joints whose bodies take an input force. ``payload``: the joint whose body
    carries one, and the pose of its link's frame in the body's. ``root``: "given" leaves a
    floating base's rows and columns out; "each" takes an input ``root[0]``, below 0 where M⁻¹ is to
    be that of the joints, as if the base were held, beside that of the base alone. ``network`` and
    ``frame``: of the formulation "logarithmic", as for ``common_frame``; so is ``inverse`` "near",
    for which minv, fd and dfd take M⁻¹ of a state nearby, ``Minv[i,j]``, and give ``far``, 1 where
    it was not near, else 0; and ``largest``, with which gradients' entries are Winograd's inner
    products (``winograd``).

    Inputs ``q[k]``, ``qd[k]``, ``qdd[k]``, ``tau[k]``, ``f_ext[b].fx`` … ``.nz`` for the b-th
    moving body, ``payload[k]`` in the order of `rbdgen.robot.payload`, ``Minv[i,j]``, j ≤ i; of a
    floating or planar joint on the base only the coordinates that turn. With ``sincos_inputs``
    angles come as ``sin[i]``, ``cos[i]`` for each revolute joint i. Outputs ``tau[k]``, ``qdd[k]``,
    ``g[k]``, ``nle[k]``, for j ≤ i ``M[i,j]`` and ``Minv[i,j]``, ``dtau_dq[i,j]`` and so on;
    entries that are zero by structure are left out. ``in_nodes``: the robot, ``frames`` and
    ``payload`` once more, with nodes of a builder in place of the numbers that are not constant.
    """
    if formulation in OF_ID and set(functions) != {"id"}:
        others = ", ".join(name for name in functions if name != "id")
        raise RobotError(
            f"{robot.name}: formulation: {formulation} has id alone, not {others}; use logarithmic "
            "or composite"
        )
    if formulation in LATHROP and payload is not None:
        raise RobotError(
            f"{robot.name}: formulation: {formulation} takes no payload; use logarithmic"
        )
    if formulation in LATHROP and external_forces:
        raise RobotError(
            f"{robot.name}: formulation: {formulation} takes no external forces; use logarithmic"
        )

    def tracing(way: str) -> _Tracing:
        builder = Builder()
        own = in_nodes(builder) if in_nodes else (robot, frames, payload)
        return _Tracing(
            robot,
            own[0],
            frozenset(functions),
            tuple(external_forces),
            multiplications,
            sincos_inputs,
            formulation,
            network,
            frame,
            way if inverse == "computed" else inverse,
            robot.joints[0].kind.nv if root == "given" else 0,
            largest,
            root == "each",
            own[1],
            own[2],
            step,
            integrator,
            held,
            builder,
        )

    ways = _factorisations(robot, functions, factorisation, root, formulation)
    return min((tracing(way).graph() for way in ways), key=_cost)


def _factorisations(
    robot: Robot, functions: Sequence[str], factorisation: str, root: str, formulation: str
) -> list[str]:
    """The ways to M⁻¹ to try."""
    if formulation == LOGARITHMIC:
        if factorisation == "mminvgen":
            raise RobotError(
                f"{robot.name}: --factorisation mminvgen goes from link to link, and --formulation "
                "logarithmic does not; use ltdl or auto"
            )
        return ["blocks" if factorisation == "blocks" else "ltdl"]
    mimics = any(joint.mimic is not None for joint in robot.joints)
    if factorisation == "mminvgen" and (mimics or root != "free"):
        why = "joints that mimic others" if mimics else "a base whose motion is given"
        raise RobotError(
            f"{robot.name}: --factorisation mminvgen cannot have {why}; use ltdl or auto"
        )
    if factorisation != "auto":
        return [factorisation]
    if "cfd" in functions:  # which goes between the factors
        return ["ltdl"]
    inverts = not {*INVERTING, EFFORT}.isdisjoint(functions) and robot.nv < COMPARED
    return ["ltdl", "mminvgen"] if inverts and not mimics and root == "free" else ["ltdl"]


def _cost(graph: Graph) -> int:
    count = graph.operations()
    return count["mul"] + 4 * count["recip"]  # normalise, look up, correct


@dataclass(frozen=True)
class _Tracing:
    """One graph in the making; ``base`` coordinates of the first joint have their motion given.

    ``sizes``: the robot with numbers alone, for what depends on how large they are.
    """

    sizes: Robot
    robot: Robot
    functions: frozenset[str]
    external_forces: tuple[int, ...]
    multiplications: int
    sincos_inputs: bool
    formulation: str
    network: str
    frame: int | None
    factorisation: str  # or "near"
    base: int
    largest: Largest | None
    each: bool = False  # whether a state says that its base moves as it is told
    frames: Frames = ()
    payload: tuple[int, Transform] | None = None
    step: float = STEP
    integrator: str = "euler"
    held: tuple[int, float] = (3, 0.0)
    builder: Builder = field(default_factory=Builder)

    def graph(self) -> Graph:
        face, functions = Interface(self.builder), self.functions
        state = self._state(face)
        given = unforced = None
        if functions & AT_GIVEN_ACCELERATION:
            given = self.recursions(state, functions != {"id"})
        others = functions - HELD.keys() - {*OF_FRAMES, *OF_MASSES}
        if functions & AT_GIVEN_EFFORT or (others and given is None):
            at_rest = [*state.qdd[: self.base], *[0.0] * len(self.order)]
            regions = "_unforced" if given else ""
            unforced = self.recursions(replace(state, qdd=at_rest), True, regions)
        for name in [name for name in HELD if name in functions]:
            self._gives_held(face, state, name, f"_{name}" if len(functions) > 1 else "")
        if given is not None:
            _gives_inverse(face, functions, self.order, given, self.recursions.solving)
        self._gives_observed(face, state)
        if others:
            self._gives_others(face, state, unforced or given)
        if given is None or "ddid" not in functions:
            return face.graph()
        found = given.gradient._replace(M=given.M)
        return with_second_derivatives(self.robot, face.graph(), found, self.order, self._state)

    def _gives_others(self, face: Interface, state: State, at: Pass | None) -> None:
        """M, and what takes its inverse."""
        functions = self.functions
        assert at is not None
        if "m" in functions:
            face.gives_lower("M", {(i, j): at.M[i][j] for i in self.order for j in self.order})
        if functions & {*INVERTING, "cfd", EFFORT}:
            if self.each:
                at = replace(at, M=apart(self.builder, face.given(spell(ROOT, 0)), at.M))
            solver = self._near(face, at) if self.factorisation == NEAR else self._solver(at)
            if "minv" in functions:
                face.gives_lower("Minv", solver.explicit())
            if functions & AT_GIVEN_EFFORT:
                self._gives_at_effort(face, state, at, solver)
            if EFFORT in functions:
                one, explicit = self.recursions.solving, "minv" in functions
                gives_of_effort(face, one, self.order, solver, self.robot.nv, explicit)

    @cached_property
    def order(self) -> dict[int, int]:
        """Each coordinate that is not given → its joint."""
        return {k: i for k, i in self.recursions.owner.items() if k >= self.base}

    @cached_property
    def unit(self) -> Units:
        """The units that suit inverse dynamics alone, or consistent ones."""
        if self.robot is not self.sizes:  # no constants, which units would make powers of two
            return Units()
        own = units(self.robot, len(self.external_forces))
        return (
            own
            if self.functions <= {"id", *HELD}
            else Units(own.acceleration, 1 / own.acceleration)
        )

    @cached_property
    def recursions(self) -> Recursions:
        """At any acceleration."""
        return Recursions(
            self.builder,
            self.robot,
            self.formulation,
            self.network,
            self.frame,
            self.multiplications,
            self.largest,
            self.unit,
            moves=bool(self.functions - {"m", "minv"}),
        )

    @property
    def sees(self) -> bool:
        """Whether it matters where a floating or planar base is: of several bases for all that
        is about a centre of mass."""
        several = len(self.robot.children[-1]) > 1 and self.functions & set(OF_MASSES)
        return bool(self.functions & SEEING or several)

    def _gives_observed(self, face: Interface, state: State) -> None:
        """Of named frames, and of the bodies' masses."""
        functions, several = self.functions, self.functions - {*OF_FRAMES, *OF_MASSES}
        if functions & set(OF_FRAMES):
            gives_frames(face, functions, self._kinematics(state), self.frames)
        if functions & set(OF_MASSES):
            weighed = "_masses" if several or functions & set(OF_FRAMES) else ""
            found = Centroidal(self.builder, self.robot, state, self.multiplications, weighed)
            gives_masses(face, functions, self.robot, found, state.qd, list(self.order))

    def _kinematics(self, state: State) -> Kinematics:
        """Of named frames."""
        regions = "_frames" if self.functions - {*OF_FRAMES, *OF_MASSES} else ""
        moving = "twist" in self.functions
        return Kinematics(self.builder, self.robot, state, self.multiplications, regions, moving)

    def _gives_held(self, face: Interface, state: State, name: str, regions: str) -> None:
        """τ without acceleration and forces, of a state of which no more is known."""
        still = [0.0] * self.robot.nv
        qd = state.qd if "qd" in HELD[name] else still
        tau = self.recursions(replace(state, qd=qd, qdd=still, f_ext={}), False, regions).tau
        face.gives_vector(name, {k: tau[k] for k in self.order})

    def _solver(self, at: Pass) -> Solver:
        if self.factorisation == "mminvgen":
            inverse = mass_matrix_inverse(self.builder, self.robot, at.moved, self.unit)
            return Solver(self.builder, self.order, inverse=inverse)
        one, order = self.recursions.solving, self.order
        if self.factorisation == "blocks":
            above = {k: self._coordinate_above(k) for k in order}
            scale = {k: 2.0 ** -round(math.log2(m) / 2) for k, m in self._sizes().items()}
            return Solver(one, order, inverse=invert_by_blocks(one, at.M, order, above, scale))
        return Solver(one, order, factorise(one, at.M, order))

    def _near(self, face: Interface, at: Pass) -> Solver:
        """By M⁻¹ of a state nearby, which comes in; gives whether it was near."""
        X = given_inverse(face, at.M, self.order)
        inverse, (first, *others) = correct(self.recursions.solving, at.M, X, self.order)
        # of several trees in a region behind theirs, so that none waits for another
        with self.builder.in_region(("near", 0) if others else first.region):
            beyond = self.builder.lift(sum(others, first) - FARTHEST**2)
            face.gives(FAR, self.builder.select(beyond, 0.0, 1.0))  # what is no number is not near
        return Solver(self.recursions.solving, self.order, inverse=inverse)

    def _coordinate_above(self, k: int) -> int:
        """The coordinate before this one on the way to the base; -1 where there is none."""
        robot, i = self.robot, self.order[k]
        if k > robot.v_slices[i].start:
            return k - 1
        while (i := robot.joints[i].parent) >= 0:
            if i in robot.v_slices and robot.v_slices[i].stop - 1 < k:
                return robot.v_slices[i].stop - 1
        return -1

    def _sizes(self) -> dict[int, float]:
        """About how large each coordinate's own entry of M is, from a few states at random."""
        robot, rng = self.sizes, np.random.default_rng(SIZES_SEED)
        q, still = rng.uniform(-1.0, 1.0, (robot.nq, SIZES_STATES)), np.zeros(robot.nv)
        for i in robot.free:
            turned = PLACES.get(robot.joints[i].kind)
            if turned is not None:
                at = robot.q_slices[i]
                q[at.start + turned : at.stop] /= np.linalg.norm(
                    q[at.start + turned : at.stop], axis=0
                )
        state = State(list(q), list(still), list(still))
        sums = Logarithmic(Numbers(), common_frame(Numbers(), robot, state), state)
        M = sums.gradient(sums.gathered()).M
        own = drivetrains(robot)
        return {k: float(np.median(M[k][k])) + gears.armature(own.get(k, [])) for k in self.order}

    def _gives_at_effort(self, face: Interface, state: State, at: Pass, solver: Solver) -> None:
        """What follows from a given effort; ``at``: without it."""
        tau = face.vector("tau", self.robot.nv, self.order)
        if "cfd" in self.functions:
            assert solver.factors is not None
            seen, effort = self._kinematics(state), self._effort(tau, at)
            gives_held(face, seen, self.frames, self.held, solver.factors, effort)
        if not self.functions & {"fd", "dfd", "step"}:
            return
        qdd = self._accelerations(tau, at, solver)
        if self.functions & {"fd", "dfd"}:
            face.gives_vector("qdd", qdd)
        if not self.functions & {"dfd", "step"}:
            return
        slopes = self._slopes(state, qdd, at, solver)
        if "dfd" in self.functions:
            gives_forward(face, self.order, slopes)
        if "step" in self.functions:
            first = Rates(qdd, slopes, solver.explicit())
            for name, value in named(self._stepped(state, tau, first)):
                face.gives(name, value)

    def _accelerations(self, tau: Vector, at: Pass, solver: Solver) -> dict[int, Scalar]:
        (qdd,) = solver.times([self._effort(tau, at)])
        return qdd

    def _effort(self, tau: Vector, at: Pass) -> dict[int, Scalar]:
        """What of τ is left for accelerations."""
        effort, one = {}, self.recursions.solving
        for k, i in self.order.items():
            with one.region("effort", i if one is not self.builder else 0):
                effort[k] = tau[k] - at.tau[k]
        return effort

    def _slopes(
        self, state: State, qdd: dict[int, Scalar], at: Pass, solver: Solver
    ) -> list[Columns]:
        """∂q̈/∂q and ∂q̈/∂q̇."""
        if at.accelerated is not None:
            gradient = at.accelerated(qdd)
        else:
            found = [*state.qdd[: self.base], *(qdd.get(k, 0.0) for k in self.order)]
            gradient = self.recursions(replace(state, qdd=found), True, AGAIN).gradient
        columns = _columns(gradient, self.order)
        return forward_slopes(self.builder, [solver.times(c, AGAIN) for c in columns])

    def _stepped(self, state: State, tau: Vector, first: Rates) -> Point:
        """The state after a step, by the rule asked for."""
        if self.integrator == "euler":
            return euler(Inline(self.builder), self.robot, self.step, state, first)

        def rates(there: State) -> Rates:
            if there is state:
                return first
            at = self.recursions(replace(there, qdd=[0.0] * self.robot.nv), True)
            solver = self._solver(at)
            qdd = self._accelerations(tau, at, solver)
            return Rates(qdd, self._slopes(there, qdd, at, solver), solver.explicit())

        return runge_kutta(self.builder, self.robot, self.step, state, rates)

    def _state(self, face: Interface) -> State:
        """The inputs that the functions need."""
        robot, forced = self.robot, not self.functions <= set(UNFORCED)
        moves = any("qd" in NEEDS.get(name, ("qd",)) for name in self.functions)
        turning = revolute(robot) if self.sincos_inputs else []
        turns = {i: (face.given(spell("sin", i)), face.given(spell("cos", i))) for i in turning}
        asked: list[int] = []
        for i in robot.moving:
            joint, at = robot.joints[i], robot.q_slices[i]
            if i not in turning:
                hidden = PLACES.get(joint.kind, 0) if joint.parent < 0 and not self.sees else 0
                asked += range(at.start + hidden, at.stop)
        accelerated = self.base if forced else 0
        if self.functions & AT_GIVEN_ACCELERATION:
            accelerated = robot.nv
        return State(
            face.vector("q", robot.nq, asked),
            face.vector("qd", robot.nv, range(robot.nv) if moves else ()),
            face.vector("qdd", robot.nv, range(accelerated)),
            {
                i: [face.given(spell("f_ext", robot.moving.index(i), axis=axis)) for axis in WRENCH]
                for i in (self.external_forces if forced else ())
            },
            turns,
            self._payload(face),
        )

    def _payload(self, face: Interface) -> dict[int, Payload]:
        if self.payload is None or self.functions <= set(OF_FRAMES):
            return {}
        i, pose = self.payload
        return {i: Payload(face.vector(PAYLOAD, SIZE, range(SIZE)), pose)}


def _gives_inverse(
    face: Interface,
    functions: frozenset[str],
    order: dict[int, int],
    given: Pass,
    solving: Arithmetic,
) -> None:
    """What follows from a given acceleration."""
    if functions & {"id", "did"}:
        face.gives_vector("tau", {k: given.tau[k] for k in order})
    columns = _columns(given.gradient, order)
    if "did" in functions:
        face.gives_columns("dtau_dq", order, columns[0])
        face.gives_columns("dtau_dqd", order, columns[1])
    if "difd" in functions:
        inverse = given_inverse(face, given.M, order)
        products = [times(solving, inverse, order, c) for c in columns]
        gives_forward(face, order, forward_slopes(face.builder, products))


def _columns(of: Gradient, order: Iterable[int]) -> list[Columns]:
    """∂τ/∂q and ∂τ/∂q̇, each column by column, zeros left out."""
    return [
        [{i: G[i][j] for i in order if not is_zero([G[i][j]])} for j in order]
        for G in (of.dtau_dq, of.dtau_dqd)
    ]
