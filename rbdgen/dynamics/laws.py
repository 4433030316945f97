"""Laws of controllers, over scalars: what is commanded in a state, of a reference.

A law is composed with inverse dynamics: what it asks for goes into the recursions of ``id`` as the
acceleration, or is added to the efforts that come out of them. With the errors e = q_ref - q and
ė = qd_ref - qd, and ``clip`` at the limits of `rbdgen.design.gains`,

    computed torque   τ = clip(ID(q, q̇, clip(q̈_ref + Kp clip(e) + Kd clip(ė))))
    impedance         τ = clip(ID(q, q̇, q̈_ref) + Kp clip(e) + Kd clip(ė))
    gravity           τ = clip(ID(q, 0, 0) - Kd q̇)

Computed torque makes each joint a mass of 1 on a spring and a damper (Siciliano et al., *Robotics*,
§8.5.2); impedance leaves the robot its inertia: M ë + Kd ė + Kp e is the effort from outside
(Albu-Schäffer, Ott and Hirzinger 2007, without their elastic joints).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from ..design.gains import Gains
from ..graph.node import Builder
from ..graph.word import spell
from ..robot.model import Robot
from .interface import Ports
from .motion import RobotState
from .scalars import Scalar, Vector

LAW = "law"  # the region of what a law adds at each joint


@dataclass(frozen=True)
class Law:
    """A law at each coordinate of a robot on a fixed base, traced by ``builder``."""

    builder: Builder
    ports: Ports
    gains: Gains
    state: RobotState
    joints: Mapping[int, int]  # coordinate → the joint that it is of

    def accelerated(self) -> RobotState:
        """The state with the acceleration at which the law takes inverse dynamics."""
        still = [0.0] * len(self.joints)
        if self.gains.law == "gravity":
            return replace(self.state, qd=still, qdd=still, f_ext={})
        reference = self._given("qdd_ref")
        if self.gains.law == "impedance":
            return replace(self.state, qdd=reference)
        commanded = []
        for k, (wanted, correction) in enumerate(zip(reference, self._corrections(), strict=True)):
            with self._at(k):
                commanded.append(self._clip(wanted + correction, self.gains.acceleration[k]))
        return replace(self.state, qdd=commanded)

    def give(self, tau: Sequence[Scalar]) -> None:
        """Make what the law commands outputs; ``tau``: of inverse dynamics there."""
        found = list(tau)
        if self.gains.law != "computed_torque":
            added = self._corrections() if self.gains.law == "impedance" else self._damping()
            for k, own in enumerate(added):
                with self.builder.beside(found[k]):
                    found[k] = found[k] + own
        for k, own in enumerate(found):
            with self.builder.beside(own):
                found[k] = self._clip(own, self.gains.effort[k])
        self.ports.gives_vector("tau_c", dict(enumerate(found)))

    def _corrections(self) -> Vector:
        """Kp e + Kd ė."""
        gains, q, qd = self.gains, self._given("q_ref"), self._given("qd_ref")
        kp, kd = self._gains("kp"), self._gains("kd")
        found: Vector = []
        for k in self.joints:
            with self._at(k):
                e = self._shortest(k, q[k] - self.state.q[k])
                e = self._clip(e, gains.error[k])
                rate = self._clip(qd[k] - self.state.qd[k], gains.rate[k])
                found.append(kp[k] * e + kd[k] * rate)
        return found

    def _damping(self) -> Vector:
        kd = self._gains("kd")
        found: Vector = []
        for k in self.joints:
            with self._at(k):
                found.append(-(kd[k] * self.state.qd[k]))
        return found

    def _shortest(self, k: int, e: Scalar) -> Scalar:
        """The error of an angle the shorter way round, of two angles within ±π (`turning`)."""
        if k not in self.gains.around:
            return e
        b, half, turn = self.builder, math.pi, math.tau
        return b.sub(e, b.select(b.add(e, half), -turn, b.select(b.sub(half, e), turn, 0.0)))

    def _clip(self, x: Scalar, limit: float) -> Scalar:
        return self.builder.saturate(x, float(limit)) if math.isfinite(limit) else x

    def _gains(self, name: str) -> Vector:
        if self.gains.inputs:
            return self._given(name)
        return [float(x) for x in getattr(self.gains, name)]

    def _given(self, name: str) -> Vector:
        return [self.ports.given(spell(name, k)) for k in self.joints]

    def _at(self, k: int) -> AbstractContextManager[None]:
        return self.builder.region(LAW, self.joints[k])


def turning(gains: Gains | None) -> dict[str, float]:
    """Inputs of a law that are angles without limits → the turn that they are modulo of."""
    around = sorted(gains.around) if gains else ()
    return {spell(of, k): math.tau for k in around for of in ("q", "q_ref")}


def joints_of(robot: Robot) -> dict[int, int]:
    """The joint of each coordinate, of joints that have one."""
    return {robot.v_slices[i].start: i for i in robot.free}
