"""Calls of functions of what is seen from the world, and of what a motion takes by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from .words import Array

Out = Array | Sequence[Array | None] | None  # where results are written


class Observing(ABC):
    """Methods of `Dynamics`, each of the function of its name.

    Frames are those of the design, F of them; with ``frames="all"`` of every joint its own.
    Whatever comes of them has its linear part first, in the design's ``reference``: by default of
    the frame's origin along the world's axes (Pinocchio's LOCAL_WORLD_ALIGNED). ``out`` is what
    `Dynamics` says of it.
    """

    @abstractmethod
    def _found(self, call: str, *arrays: ArrayLike, out: Out = None) -> Any:
        """The result of a call, as its method returns it."""

    def computeGeneralizedGravity(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The τ (…, nv) that holds the robot still, by the function g."""
        return self._found("g", q, out=out)

    def nonLinearEffects(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The τ (…, nv) at a = 0: C v + g in τ = M a + C v + g, by the function nle."""
        return self._found("nle", q, v, out=out)

    g = computeGeneralizedGravity
    nle = nonLinearEffects

    def pose(self, q: ArrayLike, *, out: Out = None) -> tuple[Array, Array]:
        """Positions (…, F, 3) and rotations (…, F, 3, 3) of the frames: x_world = R x_frame + p."""
        return self._found("pose", q, out=out)

    def twist(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Velocities of the frames (…, F, 6), linear then angular."""
        return self._found("twist", q, v, out=out)

    def jac(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Jacobians J of the frames (…, F, 6, nv): their velocities are J v."""
        return self._found("jac", q, out=out)

    def drift(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """J̇ v (…, F, 6): accelerations of the frames at a = 0.

        They are classical where the reference is local-world-aligned, else spatial.
        """
        return self._found("drift", q, v, out=out)

    def forwardKinematics(
        self, q: ArrayLike, v: ArrayLike, *, out: Out = None
    ) -> tuple[Array, Array, Array]:
        """Positions, rotations and velocities of the frames, as `pose` and `twist` return them.

        The function is twist; positions and rotations are None where the design lacks pose.
        """
        return self._found("forwardKinematics", q, v, out=out)

    updateFramePlacements = framesForwardKinematics = pose
    getFrameVelocity = twist
    computeFrameJacobian = getFrameJacobian = jac
    getFrameClassicalAcceleration = drift

    def com(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The centre of mass (…, 3)."""
        return self._found("com", q, out=out)

    def subcom(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Centres of mass (…, F, 3) of the subtrees that begin at the frames' joints."""
        return self._found("subcom", q, out=out)

    def osim(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The operational-space inertia Λ = (J M⁻¹ Jᵀ + μ 1)⁻¹ (…, 6 F, 6 F).

        Its axes are the world's, at the frames' origins, as those of `jac` by default. The angular
        rows and columns of point contacts are zero.
        """
        return self._found("osim", q, out=out)

    getOperationalSpaceInertiaMatrix = osim

    def jcom(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The Jacobian J of the centre of mass (…, 3, nv): its velocity is J v."""
        return self._found("jcom", q, out=out)

    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> tuple[Array, Array]:
        """Kinetic and potential energy, each (…,)."""
        return self._found("energy", q, v, out=out)

    def ag(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The centroidal momentum matrix A (…, 6, nv)."""
        return self._found("ag", q, out=out)

    def hg(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """The momentum A v (…, 6) about the centre of mass."""
        return self._found("hg", q, v, out=out)

    centerOfMass = com
    jacobianCenterOfMass = jcom
    computeMechanicalEnergy = energy
    computeCentroidalMap = ag
    computeCentroidalMomentum = hg
