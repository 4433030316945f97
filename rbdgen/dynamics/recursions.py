"""The recursions at one acceleration, in the formulation asked for, with what drivetrains add."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ..graph.node import Builder, Op
from ..robot.model import Robot, frozen
from ..robot.rotors import drivetrains
from . import drivetrains as gears
from . import lathrop, linear
from .common_frame import OneRegion, common_frame, joined_roots
from .composite import Columns, Gradient, no_gradient
from .entries import gradient
from .fields import accelerated, gathered
from .logarithmic import Logarithmic
from .motion import LinkMotion, RobotState
from .outward import move
from .recursive import recursive_gradient
from .rnea import gather, indices
from .scalars import Arithmetic, Scalar, Vector
from .spatial import Wrench
from .steps import Inline
from .units import Units
from .winograd import Largest

AGAIN = "_again"  # of regions at the acceleration that was found
LOGARITHMIC, RECURSIVE, LINEAR = "logarithmic", "recursive", "linear"
LATHROP = lathrop.FORMULATIONS
OF_ID = (LINEAR, *LATHROP)  # inverse dynamics alone


@dataclass
class RecursionPass:
    """The recursions at one acceleration."""

    moved: dict[int, LinkMotion]  # of the formulations in links' frames
    tau: Vector
    M: list[Vector]
    gradient: Gradient  # in the formulation asked for
    accelerated: Callable[[dict[int, Scalar]], Gradient] | None = None  # by so much more


@dataclass(frozen=True)
class Recursions:
    """Way out and way back of a canonical robot, traced by ``builder``.

    ``moves``: whether velocities and weight matter. The other fields are as for ``trace``.
    """

    builder: Builder
    robot: Robot
    formulation: str
    network: str
    frame: int | None
    multiplications: int
    largest: Largest | None
    unit: Units
    moves: bool

    @cached_property
    def owner(self) -> dict[int, int]:
        """Each coordinate → its joint."""
        robot = self.robot
        return dict(sorted((k, i) for i in robot.free for k in indices(robot.v_slices[i])))

    @cached_property
    def solving(self) -> Arithmetic:
        """The arithmetic in which M⁻¹ is traced: a common frame has one region a tree for it."""
        if self.formulation != LOGARITHMIC:
            return self.builder
        return OneRegion(self.builder, joined_roots(self.robot))

    def __call__(self, state: RobotState, wanted: bool, regions: str = "") -> RecursionPass:
        """Way out and way back; ``wanted``: with M and gradients. Each has its own regions."""
        rigid = self._rigid(state, wanted, regions)
        own = drivetrains(self.robot)
        if not own:
            return rigid
        builder, tau, M = self.builder, list(rigid.tau), [list(row) for row in rigid.M]

        def plus(value: Scalar, k: int, term: Callable[[], Scalar]) -> Scalar:
            with self._beside(value, k, regions):
                return value + term()

        def resisted(gradient: Gradient) -> Gradient:
            dqd = [list(row) for row in gradient.dtau_dqd]
            for k in own if self.moves else ():
                dqd[k][k] = plus(dqd[k][k], k, partial(gears.slope, builder, own[k], state.qd[k]))
            return gradient._replace(M=M, dtau_dqd=dqd)

        for k in own:
            M[k][k] = plus(M[k][k], k, partial(gears.armature, own[k]))
            if self.moves:
                effort = partial(gears.effort, builder, own[k], state.qd[k], state.qdd[k])
                tau[k] = plus(tau[k], k, effort)
        again = rigid.accelerated
        accelerated = None if again is None else lambda qdd: resisted(again(qdd))
        return RecursionPass(rigid.moved, tau, M, resisted(rigid.gradient), accelerated)

    def _beside(self, value: Scalar, k: int, regions: str) -> AbstractContextManager[None]:
        """The region of what coordinate ``k`` has already, else that of its joint's way back."""
        node = self.builder.lift(value)
        if node.op in (Op.CONST, Op.INPUT):
            return self.solving.region(f"backward{regions}", self.owner[k])
        return self.builder.in_region(node.region)

    def _rigid(self, state: RobotState, wanted: bool, regions: str = "") -> RecursionPass:
        """The same of rigid bodies alone."""
        robot, builder, unit = self.robot, self.builder, self.unit
        if not self.moves:
            robot = replace(robot, gravity=frozen([0.0, 0.0, 0.0]))
        if self.formulation in OF_ID:
            return _alone(self._efforts(robot, state))
        if self.formulation == LOGARITHMIC:
            return self._summed(robot, state, wanted)
        run = Inline(builder)
        moved = move(run, robot, state, unit, self.multiplications, f"forward{regions}")
        columns = Columns(run, robot, moved, unit, f"backward{regions}")
        whole: dict[int, Wrench] = {}

        def observe(i: int, force: Wrench) -> None:
            whole[i] = force
            if wanted:
                columns.add(i, force)

        tau = gather(run, robot, moved, unit, f"backward{regions}", observe)
        found = columns.gradient
        if wanted and self.formulation == RECURSIVE:
            found = recursive_gradient(builder, robot, moved, whole, unit, regions)
        return RecursionPass(moved, tau, columns.gradient.M, found)

    def _efforts(self, robot: Robot, state: RobotState) -> Vector:
        """τ (nv,) in a formulation that has nothing else."""
        if self.formulation == LINEAR:
            return linear.inverse_dynamics(Inline(self.builder), robot, state, self.multiplications)
        arithmetic: Arithmetic = self.builder
        if self.formulation == lathrop.LOGARITHMIC:
            arithmetic = OneRegion(self.builder, joined_roots(robot))
        run = Inline(arithmetic)
        return lathrop.inverse_dynamics(run, robot, state, self.multiplications, self.formulation)

    def _summed(self, robot: Robot, state: RobotState, wanted: bool) -> RecursionPass:
        """The same as sums in one frame for each tree."""
        frame = common_frame(
            Inline(self.builder),
            robot,
            state,
            network=self.network,
            frame=self.frame,
            multiplications=self.multiplications,
        )
        sums = Logarithmic(frame, state, about_O=wanted)
        if not wanted:
            return _alone(sums.efforts())
        found = gathered(sums)
        own = gradient(sums, found, self.largest)

        def again(qdd: dict[int, Scalar]) -> Gradient:
            return gradient(sums, accelerated(sums, found, qdd), self.largest)

        return RecursionPass({}, found.tau, own.M, own, again)


def _alone(tau: Vector) -> RecursionPass:
    """Where τ alone is asked for."""
    none = no_gradient(len(tau))
    return RecursionPass({}, tau, none.M, none)
