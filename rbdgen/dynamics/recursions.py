"""The recursions at one acceleration, in the formulation asked for, with what drivetrains add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..design.choices import LATHROP, OF_ID
from ..robot.model import Robot, frozen
from ..robot.rotors import drivetrains
from .composite import Columns, Gradient, Matrix, no_gradient
from .drivetrains import add_drivetrains
from .motion import LinkMotion, RobotState
from .outward import move
from .rnea import gather, indices, link_to_link
from .scalars import Scalar, Vector
from .spatial import Wrench
from .steps import Inline, Runner
from .units import ALIKE, IN_METRES, Balance, Units

if TYPE_CHECKING:
    from .winograd import Largest

AGAIN = "_again"  # of regions at the acceleration that was found
LOGARITHMIC, RECURSIVE, LINEAR = "logarithmic", "recursive", "linear"


@dataclass
class RecursionPass:
    """The recursions at one acceleration."""

    moved: dict[int, LinkMotion]  # of the formulations in links' frames
    tau: Vector
    M: list[Vector]
    gradient: Gradient  # in the formulation asked for
    accelerated: Callable[[dict[int, Scalar]], Gradient] | None = None  # by so much more

    @property
    def whole(self) -> Gradient:
        """The gradient, with M."""
        return self.gradient._replace(M=self.M)


@dataclass(frozen=True)
class Recursions:
    """Way out and way back of a canonical robot, whose steps ``run`` takes.

    ``moves``: whether velocities and weight matter. ``unit``, of lengths: for what is traced with
    constants; ``balance``: for words that joints share. The other fields are as for ``trace``.
    """

    run: Runner
    robot: Robot
    formulation: str
    network: str
    frame: int | None
    multiplications: int
    largest: Largest | None = None
    unit: Units = IN_METRES
    balance: Balance = ALIKE
    moves: bool = True

    @cached_property
    def owner(self) -> dict[int, int]:
        """Each coordinate → its joint."""
        robot = self.robot
        return dict(sorted((k, i) for i in robot.free for k in indices(robot.v_slices[i])))

    @cached_property
    def solving(self) -> Runner:
        """The runner by which M is inverted: a common frame has one region a tree for it."""
        if self.formulation not in (LOGARITHMIC, LATHROP[-1]):
            return self.run
        from .common_frame import joined_roots

        return self.run.together(joined_roots(self.robot))

    def __call__(self, state: RobotState, wanted: bool, again: str = "") -> RecursionPass:
        """Way out and way back; ``wanted``: with M and gradients.

        ``again``: a suffix for regions and templates, of another pass than the first.
        """
        run = self.solving.again(again) if again else self.solving
        rigid = self._rigid(run, state, wanted)
        if not drivetrains(self.robot):
            return rigid
        tau, M = list(rigid.tau), [list(row) for row in rigid.M]

        def driven(gradient: Gradient, tau: Vector, M: Matrix) -> Gradient:
            dqd = [list(row) for row in gradient.dtau_dqd]
            add_drivetrains(run, self.robot, state, tau, M, dqd, self.moves, self.balance)
            return gradient._replace(M=M, dtau_dqd=dqd)

        accelerated = None
        if (faster := rigid.accelerated) is not None:

            def accelerated(qdd: dict[int, Scalar]) -> Gradient:
                return driven(faster(qdd), list(rigid.tau), [list(row) for row in rigid.M])

        return RecursionPass(rigid.moved, tau, M, driven(rigid.gradient, tau, M), accelerated)

    def _rigid(self, run: Runner, state: RobotState, wanted: bool) -> RecursionPass:
        """The same of rigid bodies alone."""
        robot = self.robot
        if not self.moves:
            robot = replace(robot, gravity=frozen([0.0, 0.0, 0.0]))
        if self.formulation in OF_ID:
            return _alone(self._efforts(run, robot, state))
        if self.formulation == LOGARITHMIC:
            return self._summed(run, robot, state, wanted)
        unit, balance = self.unit, self.balance
        moved = move(run, robot, state, unit, self.multiplications, balance)
        columns = Columns(run, robot, moved, unit, balance)
        whole: dict[int, Wrench] = {}

        def observe(i: int, force: Wrench) -> None:
            whole[i] = force
            if wanted:
                columns.add(i, force)

        tau = gather(run, robot, moved, unit, observe, balance)
        found = columns.gradient
        if wanted and self.formulation == RECURSIVE:
            from .recursive import recursive_gradient

            assert isinstance(run, Inline)
            found = recursive_gradient(run.arithmetic, robot, moved, whole, unit, run.suffix)
        return RecursionPass(moved, tau, columns.gradient.M, found)

    def _efforts(self, run: Runner, robot: Robot, state: RobotState) -> Vector:
        """τ (nv,) in a formulation that has nothing else."""
        m = self.multiplications
        if self.formulation == LINEAR:
            return link_to_link(run, robot, state, m)
        from . import lathrop

        return lathrop.inverse_dynamics(run, robot, state, m, self.formulation, self.balance)

    def _summed(self, run: Runner, robot: Robot, state: RobotState, wanted: bool) -> RecursionPass:
        """The same as sums in one frame for each tree."""
        from .common_frame import common_frame
        from .logarithmic import Logarithmic
        from .vector_fields import accelerated, gathered, gradient

        frame = common_frame(
            run,
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
