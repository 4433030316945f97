"""A robot's functions, over any runner of steps: which recursions, and what of them has a name.

Traced by `Inline` they are a graph (``trace``), recorded as visits a program (``program``).

τ and ∂τ are at the acceleration that is given, the bias is without any, the gradients of q̈ are at
the one that is found. Where several are needed, the way out and back for the bias has regions and
templates ``out_unforced`` and so on, and the one for gradients of q̈ ``out_again`` and so on.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..design.choices import STEP
from ..design.functions import (
    FACTORING,
    HOLDING,
    LAWS,
    NEEDS,
    OBSERVING,
    OF_FRAMES,
    OF_MASSES,
    REFERRED,
    REGRESSING,
    SLOPES,
    UNFORCED,
    UNLOADED,
)
from ..design.gains import Gains
from ..graph.node import Builder
from ..graph.visits import Visit
from ..graph.word import ROOT, spell
from ..robot.base_parameters import base_columns
from ..robot.frames import ALIGNED, WORLD
from ..robot.model import Robot, Transform
from ..words.factor_bounds import ACCELERATIONS
from .centroidal import Centroidal
from .composite import Gradient
from .elimination import Column, Matrix
from .interface import GraphPorts, Ports, revolute
from .inversion import (
    EFFORT,
    NEAR,
    accelerating,
    apart,
    given_inverse,
    gives_forward,
    gives_of_effort,
    nearby,
    solver,
)
from .kinematics import Frames, Kinematics, gives_frames, gives_masses, gives_subtrees
from .laws import Law, joints_of
from .motion import RobotState, read_state
from .recursions import AGAIN, RecursionPass, Recursions
from .scalars import Vector
from .solver import Columns, Solver
from .steps import Inline, Runner, in_units, times
from .units import ALIKE, IN_METRES, Balance, Places, Units, consistent_units, units

if TYPE_CHECKING:
    from .stepping import Rates, StepState
    from .winograd import Largest

AT_GIVEN_ACCELERATION = {"id", "did", "difd", "ddid"}
AT_GIVEN_EFFORT = {"fd", "dfd", "step", *HOLDING}
ALONE = {name: NEEDS[name] for name in ("g", "nle")}  # τ without acceleration, and of what state
SEEING = {"pose", "com", "subcom", "energy", "step"}  # which see where a base is


@dataclass(frozen=True)
class Functions:
    """Functions of a canonical robot, the motion of whose first ``base`` coordinates is given.

    ``sizes``: the robot with numbers alone, for what depends on how large they are. ``balance``:
    for words that joints share. The other fields are as for `trace`.
    """

    run: Runner
    robot: Robot
    functions: frozenset[str]
    multiplications: int
    formulation: str
    network: str
    frame: int | None
    sizes: Robot
    base: int = 0
    external_forces: tuple[int, ...] = ()
    sincos_inputs: bool = False
    factorisation: str = "ltdl"  # or "near"
    largest: Largest | None = None
    each: bool = False  # whether a state says that its base moves as it is told
    frames: Frames = ()
    payload: tuple[int, Transform] | None = None
    step: float = STEP
    integrator: str = "euler"
    held: tuple[int, float] = (3, 0.0)
    reference: str = ALIGNED
    law: Gains | None = None  # of a controller among the functions
    within: Units | None = None  # units to trace in; else those that take the fewest products
    balance: Balance = field(default=ALIKE)

    def give(self, ports: Ports, state: RobotState) -> RecursionPass | None:
        """All outputs; the recursions at the acceleration that is given, where one is."""
        functions = self.functions
        given = unforced = None
        if functions & AT_GIVEN_ACCELERATION:
            given = self.recursions(state, functions != {"id"})
        others = functions - ALONE.keys() - {*OBSERVING, *LAWS}
        if functions & AT_GIVEN_EFFORT or (others and given is None):
            at_rest = [*state.qdd[: self.base], *[0.0] * len(self.order)]
            again = "_unforced" if given else ""
            unforced = self.recursions(replace(state, qdd=at_rest), True, again)
        for name in [name for name in ALONE if name in functions]:
            self._give_alone(ports, state, name, f"_{name}" if len(functions) > 1 else "")
        if given is not None:
            self._give_inverse_dynamics(ports, given)
        if self.law is not None:
            law = Law(self.builder, ports, self.law, state, joints_of(self.robot))
            law.give(self.recursions(law.accelerated(), False, "_law").tau)
        self._give_observed(ports, state)
        if others:
            at = unforced or given
            assert at is not None
            self._give_others(ports, state, at)
        return given

    def _give_inverse_dynamics(self, ports: Ports, given: RecursionPass) -> None:
        """The functions of a given acceleration: id, did and difd."""
        if self.functions & {"id", "did"}:
            self._give_tau(ports, "tau", given.tau)
        if "did" in self.functions:
            names = ("dtau_dq", "dtau_dqd")
            for name, matrix, unit in zip(
                names, given.gradient[1:], self.balance.entries[1:], strict=True
            ):
                columns = [
                    {i: times(matrix[i][j], 1 / unit.get((i, j), 1.0)) for i in self.order}
                    for j in self.order
                ]
                ports.gives_columns(name, self.order, columns)
        if "difd" in self.functions:
            entries = given_inverse(ports, given.M, self.order)
            by = self.balance.at
            read = {(i, j): times(x, 1 / (by(i) * by(j))) for (i, j), x in entries.items()}
            found = Solver(self.recursions.solving, self.order, entries=read)
            self._give_slopes(ports, found.slopes(self._inverting(given.whole)))

    def _give_tau(self, ports: Ports, name: str, tau: Vector) -> None:
        found = {k: times(tau[k], 1 / self.balance.effort(k)) for k in self.order}
        ports.gives_vector(name, found)

    def _give_slopes(self, ports: Ports, slopes: list[Columns]) -> None:
        """The gradients of q̈, in the robot's units."""
        units = self.balance
        scaled = [
            [
                {i: times(x, units.at(i) / of.get(c, 1.0)) for i, x in column.items()}
                for c, column in zip(self.order, columns, strict=True)
            ]
            for columns, of in zip(slopes, units.sides, strict=True)
        ]
        gives_forward(ports, self.order, scaled)

    def _give_others(self, ports: Ports, state: RobotState, at: RecursionPass) -> None:
        """M, and what takes its inverse."""
        functions, M = self.functions, at.M
        if "m" in functions:
            unit = self.balance.entries[0]
            pairs = ((i, j) for i in self.order for j in self.order)
            ports.gives_lower(
                "M", {(i, j): times(M[i][j], 1 / unit.get((i, j), 1.0)) for i, j in pairs}
            )
        if not functions & {*FACTORING, EFFORT}:
            return
        if self.each:
            M = apart(self.builder, ports.given(spell(ROOT, 0)), M)
        solver = self._solver(ports, at, M)
        factors = solver.factors
        if "minv" in functions:
            by, inverse = self.balance.at, solver.explicit()
            scaled = {(i, j): times(x, by(i) * by(j)) for (i, j), x in inverse.items()}
            ports.gives_lower("Minv", scaled)
            if factors is not None:
                factors.known.update({spell("X", *at): entry for at, entry in inverse.items()})
        if "osim" in functions:
            from .contacts import gives_inertia

            assert factors is not None and isinstance(ports, GraphPorts)
            gives_inertia(ports, self._kinematics(state), self.frames, self.held, factors)
        if functions & AT_GIVEN_EFFORT:
            self._give_at_effort(ports, state, at, solver)
        if isinstance(ports, GraphPorts):
            if factors is not None and not self.each:
                ports.known |= factors.known
            if EFFORT in functions:
                explicit = "minv" in functions
                gives_of_effort(ports, self.order, solver, self.robot.nv, explicit)

    def _solver(self, ports: Ports, at: RecursionPass, M: Matrix) -> Solver:
        if self.factorisation == NEAR:
            assert isinstance(ports, GraphPorts)
            return nearby(ports, self.recursions.solving, M, self.order)
        read = self._read(M, self.balance.entries[0], self.balance.coordinates)
        return solver(self.recursions, self.factorisation, at, read, self.order, self.sizes)

    def _inverting(self, gradient: Gradient) -> Gradient:
        """M and gradients in the units in which M is inverted."""
        units = self.balance
        return Gradient(
            *map(self._read, gradient, units.entries, (units.coordinates, *units.sides))
        )

    def _read(self, matrix: Matrix, unit: Places, columns: Mapping[int, float]) -> Matrix:
        n, at = range(len(matrix)), self.balance.at
        by = [[at(i) * columns.get(j, 1.0) / unit.get((i, j), 1.0) for j in n] for i in n]
        return [[in_units(matrix[i][j], by[i][j]) for j in n] for i in n]

    def _give_at_effort(
        self, ports: Ports, state: RobotState, at: RecursionPass, solver: Solver
    ) -> None:
        """The functions of a given effort; ``at``: the pass without it."""
        tau = ports.vector("tau", self.robot.nv, self.order)
        if self.functions & {*HOLDING}:
            from .contacts import give_held

            assert solver.factors is not None and isinstance(ports, GraphPorts)
            held, seen = (self.frames, self.held, self.multiplications), self._kinematics(state)
            there = ports, self.functions, state, seen, held, solver.factors
            give_held(*there, self._effort(tau, at), lambda x: self._gradient(state, x, at))
        if not self.functions & {"fd", "dfd", "step"}:
            return
        qdd = self._accelerations(tau, at, solver)
        if self.functions & {"fd", "dfd"}:
            ports.gives_vector("qdd", {k: times(x, self.balance.at(k)) for k, x in qdd.items()})
        if not self.functions & {"dfd", "step"}:
            return
        slopes = self._slopes(state, qdd, at, solver)
        if "dfd" in self.functions:
            self._give_slopes(ports, slopes)
        if "step" in self.functions:
            from .stepping import Rates, named

            first = Rates(self._in_robots_units(qdd), slopes, solver.explicit())
            for name, value in named(self._stepped(ports, state, tau, first)):
                ports.gives(name, value)

    def _accelerations(self, tau: Vector, at: RecursionPass, solver: Solver) -> Column:
        """q̈, in the units in which M is inverted."""
        return solver.solve(self._effort(tau, at), number=ACCELERATIONS)

    def _in_robots_units(self, qdd: Column) -> Column:
        """q̈ for visits: those read no results times 2^k, of which each joint has another."""
        at, run = self.balance.at, self.recursions.solving
        if not run.shares:
            return qdd
        return {
            k: run(Visit("solve", (k,)), ("out", self.order[k]), operator.mul, x, at(k))
            for k, x in qdd.items()
        }

    def _effort(self, tau: Vector, at: RecursionPass) -> Column:
        run = self.recursions.solving
        return accelerating(run, self.order, self.balance, tau, at.tau, run is not self.run)

    def _slopes(
        self, state: RobotState, qdd: Column, at: RecursionPass, solver: Solver
    ) -> list[Columns]:
        """∂q̈/∂q and ∂q̈/∂q̇."""
        return solver.slopes(self._gradient(state, qdd, at), AGAIN, ACCELERATIONS + 1)

    def _gradient(self, state: RobotState, qdd: Column, at: RecursionPass) -> Gradient:
        """M and the gradients of τ at the q̈ that was found, in the units in which M is inverted."""
        if at.accelerated is not None and not self.run.shares:  # as visits it would read itself
            return self._inverting(at.accelerated(qdd))
        found = self._in_robots_units(qdd)
        own = [*state.qdd[: self.base], *(found.get(k, 0.0) for k in self.order)]
        return self._inverting(self.recursions(replace(state, qdd=own), True, AGAIN).whole)

    def _stepped(self, ports: Ports, state: RobotState, tau: Vector, first: Rates) -> StepState:
        """The state after a step, by the rule asked for."""
        from .stepping import Rates, stepped

        def rates(there: RobotState) -> Rates:
            at = self.recursions(replace(there, qdd=[0.0] * self.robot.nv), True)
            solver = self._solver(ports, at, at.M)
            qdd = self._accelerations(tau, at, solver)
            return Rates(qdd, self._slopes(there, qdd, at, solver), solver.explicit())

        return stepped(self.run, self.robot, self.step, self.integrator, state, first, rates)

    @property
    def builder(self) -> Builder:
        """The builder of a graph, for what has no visits."""
        assert isinstance(self.run, Inline) and isinstance(self.run.arithmetic, Builder)
        return self.run.arithmetic

    @cached_property
    def order(self) -> dict[int, int]:
        """Each coordinate that is not given → its joint."""
        return {k: i for k, i in self.recursions.owner.items() if k >= self.base}

    @cached_property
    def recursions(self) -> Recursions:
        """The recursions, at any acceleration."""
        return Recursions(
            *(self.run, self.robot, self.formulation, self.network, self.frame),
            *(self.multiplications, self.largest, self.unit, self.balance),
            moves=bool(self.functions - {"m", "minv", "osim"}),
        )

    @cached_property
    def unit(self) -> Units:
        """The units that suit inverse dynamics alone, or consistent ones."""
        if self.within is not None:
            return self.within
        if self.run.shares:  # numbers of joints come in by ports: none are left out
            return IN_METRES
        if self.robot is not self.sizes:  # no constants, which units would make powers of two
            return Units()
        if self.functions <= {"id", *ALONE, *LAWS}:
            return units(self.robot, len(self.external_forces))
        found = consistent_units(self.robot)
        return min(found, key=self._products) if len(found) > 1 else found[0]

    def _products(self, unit: Units) -> int:
        """Products of M, or of gradients where there are any, in some units."""
        ports = GraphPorts(Builder())
        own = replace(
            self,
            run=Inline(ports.builder),
            functions=frozenset({"did" if self.functions & set(SLOPES) else "m"}),
            within=unit,
        )
        own.give(ports, own.state(ports))
        count = ports.graph().operations()
        return count["mul"] + count["mulc"]

    def _give_observed(self, ports: Ports, state: RobotState) -> None:
        """The functions of named frames and those of the bodies' masses."""
        functions = self.functions
        if not functions & {*OBSERVING}:
            return
        assert isinstance(ports, GraphPorts)
        if functions & set(OF_FRAMES):
            seen = self._kinematics(state, self.reference)
            gives_frames(ports, functions, seen, self.frames, self.order)
        if functions & set(OF_MASSES) - {"subcom"}:
            weighed = "_masses" if functions - {*OF_MASSES} else ""
            found = Centroidal(self.builder, self.robot, state, self.multiplications, weighed)
            gives_masses(ports, functions, self.robot, found, state.qd, list(self.order))
        if "subcom" in functions:
            gives_subtrees(ports, self._kinematics(state), self.frames, state.payload)
        if functions & set(REGRESSING):
            from .regressor import Regressor

            own = "_regressor" if functions - {*REGRESSING} else ""
            at = replace(state, f_ext={}, payload={})
            regressor = Regressor(ports, self.robot, at, self.multiplications, own, self.order)
            regressor.give(functions, base_columns(self.sizes, self.base))

    def _kinematics(self, state: RobotState, reference: str = ALIGNED) -> Kinematics:
        """The kinematics of named frames in a state."""
        regions = "_frames" if self.functions - {*OF_FRAMES, *OF_MASSES} else ""
        asked = {"twist", "dcfd"} if reference == ALIGNED else {"twist", "dcfd", "drift"}
        # gradients at the q̈ of held frames may be in the one region of M: then so is all before
        whole = self.recursions.solving.arithmetic if "dcfd" in self.functions else self.builder
        traced = whole, self.robot, state, self.multiplications, regions
        return Kinematics(*traced, not asked.isdisjoint(self.functions), reference)

    def _give_alone(self, ports: Ports, state: RobotState, name: str, regions: str) -> None:
        """τ without acceleration and forces, of a state of which no more is known."""
        still = [0.0] * self.robot.nv
        qd = state.qd if "qd" in ALONE[name] else still
        at = self.recursions(replace(state, qd=qd, qdd=still, f_ext={}), False, regions)
        self._give_tau(ports, name, at.tau)

    def state(self, ports: Ports) -> RobotState:
        """The inputs that the functions need."""
        robot, forced = self.robot, not self.functions <= set(UNFORCED)
        asked = {array for name in self.functions for array in NEEDS.get(name, ("qd",))}
        turning = revolute(robot) if self.sincos_inputs else []
        several = len(robot.children[-1]) > 1 and self.functions & set(OF_MASSES)
        about_origin = self.reference == WORLD and self.functions & {*REFERRED}
        sees = self.functions & SEEING or several or about_origin  # where a base is
        changes = robot.nv if "qdd" in asked else self.base if forced else 0
        rates = robot.nv if "qd" in asked else 0
        return read_state(
            *(ports, robot, turning, bool(sees), rates, changes),
            self.external_forces if forced else (),
            [self.payload] if self.payload and not self.functions <= set(UNLOADED) else [],
        )
