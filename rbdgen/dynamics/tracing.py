"""One graph in the making: a state's inputs, the algorithms, and what is named as an output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..design.choices import STEP
from ..design.functions import INVERTING, NEEDS, OF_FRAMES, OF_MASSES, SLOPES, UNFORCED
from ..graph.graph import Graph
from ..graph.node import Builder
from ..graph.word import ROOT, spell
from ..robot.model import Robot, Transform
from ..robot.variations import PAYLOAD, SIZE
from ..words.pivot_bounds import ACCELERATIONS
from .bodies import Payload
from .centroidal import Centroidal
from .composite import Gradient
from .contacts import gives_held
from .factorisation import Solver, times
from .interface import WRENCH, GraphPorts, revolute
from .inversion import (
    EFFORT,
    NEAR,
    PLACES,
    Columns,
    apart,
    forward_slopes,
    given_inverse,
    gives_forward,
    gives_of_effort,
    nearby,
    solver,
)
from .kinematics import Frames, Kinematics, gives_frames, gives_masses
from .motion import RobotState
from .recursions import AGAIN, RecursionPass, Recursions
from .scalars import Arithmetic, Scalar, Vector
from .second import with_second_derivatives
from .spatial import is_zero
from .stepping import Rates, StepState, euler, named, runge_kutta
from .steps import Inline
from .units import Units, consistent_units, units
from .winograd import Largest

AT_GIVEN_ACCELERATION = {"id", "did", "difd", "ddid"}
AT_GIVEN_EFFORT = {"fd", "dfd", "cfd", "step"}
HELD = {name: NEEDS[name] for name in ("g", "nle")}  # τ without acceleration, and of what state
SEEING = {"pose", "com", "energy", "step"}  # which see where a base is


@dataclass(frozen=True)
class Tracing:
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
    within: Units | None = None  # units to trace in; else those that take the fewest products

    def graph(self) -> Graph:
        face, functions = GraphPorts(self.builder), self.functions
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
            _gives_inverse(face, functions, self.order, given, self.solving)
        self._gives_observed(face, state)
        if others:
            self._gives_others(face, state, unforced or given)
        if given is None or "ddid" not in functions:
            return face.graph()
        found = given.gradient._replace(M=given.M)
        return with_second_derivatives(self.robot, face.graph(), found, self.order, self._state)

    def _gives_others(self, face: GraphPorts, state: RobotState, at: RecursionPass | None) -> None:
        """M, and what takes its inverse."""
        functions = self.functions
        assert at is not None
        if "m" in functions:
            face.gives_lower("M", {(i, j): at.M[i][j] for i in self.order for j in self.order})
        if functions & {*INVERTING, "cfd", EFFORT}:
            if self.each:
                at = replace(at, M=apart(self.builder, face.given(spell(ROOT, 0)), at.M))
            solver = (
                nearby(face, self.solving, at.M, self.order)
                if self.factorisation == NEAR
                else self._solver(at)
            )
            if "minv" in functions:
                inverse = solver.explicit()
                face.gives_lower("Minv", inverse)
                if solver.factors is not None:
                    solver.factors.known.update(
                        {spell("X", *place): entry for place, entry in inverse.items()}
                    )
            if functions & AT_GIVEN_EFFORT:
                self._gives_at_effort(face, state, at, solver)
            if solver.factors is not None and not self.each:
                face.known |= solver.factors.known
            if EFFORT in functions:
                one, explicit = self.solving, "minv" in functions
                gives_of_effort(face, one, self.order, solver, self.robot.nv, explicit)

    @cached_property
    def order(self) -> dict[int, int]:
        """Each coordinate that is not given → its joint."""
        return {k: i for k, i in self.recursions.owner.items() if k >= self.base}

    @cached_property
    def unit(self) -> Units:
        """The units that suit inverse dynamics alone, or consistent ones."""
        if self.within is not None:
            return self.within
        if self.robot is not self.sizes:  # no constants, which units would make powers of two
            return Units()
        if self.functions <= {"id", *HELD}:
            return units(self.robot, len(self.external_forces))
        found = consistent_units(self.robot)
        return min(found, key=self._products) if len(found) > 1 else found[0]

    def _products(self, unit: Units) -> int:
        """Products of M, or of gradients where there are any, in some units."""
        what = "did" if self.functions & set(SLOPES) else "m"
        own = replace(self, functions=frozenset({what}), within=unit, builder=Builder())
        count = own.graph().operations()
        return count["mul"] + count["mulc"]

    @cached_property
    def recursions(self) -> Recursions:
        """The recursions, at any acceleration."""
        return Recursions(
            Inline(self.builder),
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
    def solving(self) -> Arithmetic:
        """The arithmetic in which M⁻¹ is traced."""
        return self.recursions.solving.arithmetic

    @property
    def sees(self) -> bool:
        """Whether it matters where a floating or planar base is: of several bases for all that
        is about a centre of mass."""
        several = len(self.robot.children[-1]) > 1 and self.functions & set(OF_MASSES)
        return bool(self.functions & SEEING or several)

    def _gives_observed(self, face: GraphPorts, state: RobotState) -> None:
        """Trace the functions of named frames and those of the bodies' masses."""
        functions, several = self.functions, self.functions - {*OF_FRAMES, *OF_MASSES}
        if functions & set(OF_FRAMES):
            seen = self._kinematics(state)
            gives_frames(face, functions, seen, self.frames, self.order)
        if functions & set(OF_MASSES):
            weighed = "_masses" if several or functions & set(OF_FRAMES) else ""
            found = Centroidal(self.builder, self.robot, state, self.multiplications, weighed)
            gives_masses(face, functions, self.robot, found, state.qd, list(self.order))

    def _kinematics(self, state: RobotState) -> Kinematics:
        """The kinematics of named frames in a state."""
        regions = "_frames" if self.functions - {*OF_FRAMES, *OF_MASSES} else ""
        moving = "twist" in self.functions
        return Kinematics(self.builder, self.robot, state, self.multiplications, regions, moving)

    def _gives_held(self, face: GraphPorts, state: RobotState, name: str, regions: str) -> None:
        """τ without acceleration and forces, of a state of which no more is known."""
        still = [0.0] * self.robot.nv
        qd = state.qd if "qd" in HELD[name] else still
        tau = self.recursions(replace(state, qd=qd, qdd=still, f_ext={}), False, regions).tau
        face.gives_vector(name, {k: tau[k] for k in self.order})

    def _solver(self, at: RecursionPass) -> Solver:
        return solver(self.recursions, self.factorisation, at, self.order, self.sizes)

    def _gives_at_effort(
        self, face: GraphPorts, state: RobotState, at: RecursionPass, solver: Solver
    ) -> None:
        """Trace the functions of a given effort; ``at``: the pass without it."""
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

    def _accelerations(self, tau: Vector, at: RecursionPass, solver: Solver) -> dict[int, Scalar]:
        (qdd,) = solver.times([self._effort(tau, at)], first=ACCELERATIONS)
        return qdd

    def _effort(self, tau: Vector, at: RecursionPass) -> dict[int, Scalar]:
        """The efforts that accelerate the joints: τ less the bias, by coordinate."""
        together = self.solving is not self.builder
        effort = {}
        for k, i in self.order.items():
            with self.solving.region("effort", i if together else 0):
                effort[k] = tau[k] - at.tau[k]
        return effort

    def _slopes(
        self, state: RobotState, qdd: dict[int, Scalar], at: RecursionPass, solver: Solver
    ) -> list[Columns]:
        """∂q̈/∂q and ∂q̈/∂q̇."""
        if at.accelerated is not None:
            gradient = at.accelerated(qdd)
        else:
            found = [*state.qdd[: self.base], *(qdd.get(k, 0.0) for k in self.order)]
            gradient = self.recursions(replace(state, qdd=found), True, AGAIN).gradient
        columns = _columns(gradient, self.order)
        first = ACCELERATIONS + 1
        solved = [solver.times(c, AGAIN, first + n * self.robot.nv) for n, c in enumerate(columns)]
        return forward_slopes(self.builder, solved)

    def _stepped(self, state: RobotState, tau: Vector, first: Rates) -> StepState:
        """The state after a step, by the rule asked for."""
        if self.integrator == "euler":
            return euler(Inline(self.builder), self.robot, self.step, state, first)

        def rates(there: RobotState) -> Rates:
            if there is state:
                return first
            at = self.recursions(replace(there, qdd=[0.0] * self.robot.nv), True)
            solver = self._solver(at)
            qdd = self._accelerations(tau, at, solver)
            return Rates(qdd, self._slopes(there, qdd, at, solver), solver.explicit())

        return runge_kutta(self.builder, self.robot, self.step, state, rates)

    def _state(self, face: GraphPorts) -> RobotState:
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
        return RobotState(
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

    def _payload(self, face: GraphPorts) -> dict[int, Payload]:
        if self.payload is None or self.functions <= set(OF_FRAMES):
            return {}
        i, pose = self.payload
        return {i: Payload(face.vector(PAYLOAD, SIZE, range(SIZE)), pose)}


def _gives_inverse(
    face: GraphPorts,
    functions: frozenset[str],
    order: dict[int, int],
    given: RecursionPass,
    solving: Arithmetic,
) -> None:
    """Trace the functions of a given acceleration: id, did and difd."""
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
