"""Pinocchio's models and answers, in this package's conventions: joint order, angles, batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from rbdgen.robot.model import Array, Inertia, Joint, JointKind, Robot, Transform
from tests.support.comparison import Answers, Question


@dataclass(frozen=True, eq=False)
class Peer:
    """A robot and Pinocchio's model of it.

    ``ids`` maps a moving joint to the joint of the model that carries its body, ``links`` to the
    pose of the link's file frame in that joint's frame, ``order`` this package's velocity vector
    to the places where the model keeps its coordinates.
    """

    robot: Robot
    model: pin.Model
    ids: dict[int, int]
    links: dict[int, pin.SE3]

    @property
    def order(self) -> list[int]:
        places: list[int] = []
        for i in self.robot.free:
            start = self.model.joints[self.ids[i]].idx_v
            places += range(start, start + self.robot.joints[i].kind.nv)
        return places

    def rnea(self, question: Question) -> Array:
        """τ (N, nv)."""
        data = self.model.createData()
        return self._vectors(
            question,
            lambda q, v, a, _, f: pin.rnea(self.model, data, q, v, a, f),
        )

    def aba(self, question: Question) -> Array:
        """q̈ (N, nv)."""
        data = self.model.createData()
        return self._vectors(
            question,
            lambda q, v, _, tau, f: pin.aba(self.model, data, q, v, tau, f),
        )

    def crba(self, question: Question) -> Array:
        """M (N, nv, nv)."""
        data = self.model.createData()

        def full(q: Array, *_: Any) -> tuple[Array]:
            upper = np.triu(pin.crba(self.model, data, q))
            return (upper + np.triu(upper, 1).T,)

        return self._matrices(question, 1, full)[0]

    def minv(self, question: Question) -> Array:
        """M⁻¹ (N, nv, nv)."""
        data = self.model.createData()

        def full(q: Array, *_: Any) -> tuple[Array]:
            upper = np.triu(pin.computeMinverse(self.model, data, q))
            return (upper + np.triu(upper, 1).T,)

        return self._matrices(question, 1, full)[0]

    def rnea_derivatives(self, question: Question) -> list[Array]:
        """∂τ/∂q, ∂τ/∂q̇ (N, nv, nv)."""
        data = self.model.createData()

        def gradient(q: Array, v: Array, a: Array, _: Array, f: Any) -> tuple[Array, ...]:
            pin.computeRNEADerivatives(self.model, data, q, v, a, f)
            return data.dtau_dq, data.dtau_dv

        return self._matrices(question, 2, gradient)

    def aba_derivatives(self, question: Question) -> list[Array]:
        """∂q̈/∂q, ∂q̈/∂q̇ (N, nv, nv)."""
        data = self.model.createData()

        def gradient(q: Array, v: Array, _: Array, tau: Array, f: Any) -> tuple[Array, ...]:
            pin.computeABADerivatives(self.model, data, q, v, tau, f)
            return data.ddq_dq, data.ddq_dv

        return self._matrices(question, 2, gradient)

    def answers(self, question: Question, forward: bool = True) -> Answers:
        """All of the above; without the ones that need a regular M unless ``forward``."""
        inverse = self.rnea_derivatives(question)
        answers = Answers(
            rnea=self.rnea(question),
            crba=self.crba(question),
            dtau_dq=inverse[0],
            dtau_dqd=inverse[1],
        )
        if not forward:
            return answers
        gradients = self.aba_derivatives(question)
        return answers._replace(
            aba=self.aba(question),
            minv=self.minv(question),
            dqdd_dq=gradients[0],
            dqdd_dqd=gradients[1],
        )

    def position(self, q: Array) -> Array:
        """The model's configuration vector for q (nq,)."""
        result = pin.neutral(self.model)
        for i in self.robot.free:
            joint = self.model.joints[self.ids[i]]
            own = q[self.robot.q_slices[i]] + self.robot.joints[i].offset
            if joint.nq == 2:  # continuous
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            result[joint.idx_q : joint.idx_q + joint.nq] = own
        return result

    def velocity(self, v: Array) -> Array:
        """The model's velocity vector for v (nv,)."""
        result = np.zeros(self.model.nv)
        result[self.order] = v
        return result

    def forces(self, f_ext: Array) -> Any:
        """The model's list of forces on its bodies for f_ext (moving bodies, 6)."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        for f, i in zip(f_ext, self.robot.moving, strict=True):
            forces[self.ids[i]] = self.links[i].act(pin.Force(f[:3], f[3:]))
        return forces

    def _calls(self, question: Question, function: Callable[..., Any]) -> list[Any]:
        return [
            function(
                self.position(q),
                self.velocity(qd),
                self.velocity(qdd),
                self.velocity(tau),
                self.forces(f_ext),
            )
            for q, qd, qdd, tau, f_ext in zip(*question, strict=True)
        ]

    def _vectors(self, question: Question, function: Callable[..., Array]) -> Array:
        found = [vector[self.order] for vector in self._calls(question, lambda *a: function(*a))]
        return np.reshape(found, question.qd.shape)

    def _matrices(
        self, question: Question, count: int, function: Callable[..., tuple[Array, ...]]
    ) -> list[Array]:
        """``count`` matrices per state. Indexing copies: the model's data are views."""
        places = np.ix_(self.order, self.order)
        found = self._calls(question, lambda *a: [matrix[places] for matrix in function(*a)])
        shape = (len(question.q), self.robot.nv, self.robot.nv)
        return [np.reshape([state[k] for state in found], shape) for k in range(count)]


def peer_from_urdf(path: Path, robot: Robot, mimic: bool = False) -> Peer:
    """Pinocchio's own reading of the file that ``robot`` was read from."""
    base = [i for i in robot.moving if robot.joints[i].kind is JointKind.FLOATING]
    root = (pin.JointModelFreeFlyer(),) if base else ()
    model = pin.buildModelFromUrdf(str(path), *root, mimic=mimic)
    model.gravity.linear = robot.gravity
    ids = {i: model.getJointId(robot.joints[i].name) for i in robot.moving}
    return Peer(robot, model, ids, {i: pin.SE3.Identity() for i in robot.moving})


def peer_from_robot(robot: Robot) -> Peer:
    """The same tree, built joint by joint."""
    model = pin.Model()
    model.gravity.linear = robot.gravity
    carriers = {-1: (0, pin.SE3.Identity())}  # body → joint of the model, body's pose in its frame
    for i, joint in enumerate(robot.joints):
        parent, pose = carriers[joint.parent]
        placement = pose * _se3(joint.placement)
        body = pin.SE3.Identity()
        if joint.kind is JointKind.FIXED:
            carriers[i] = (parent, placement)
        else:
            if joint.kind is JointKind.PLANAR:  # Pinocchio's is normal to z: turn the frame
                z = np.array([0.0, 0.0, 1.0])
                frame = pin.Quaternion.FromTwoVectors(z, joint.axis).toRotationMatrix()
                placement = placement * pin.SE3(frame, np.zeros(3))
                body = pin.SE3(frame.T, np.zeros(3))
            carriers[i] = (model.addJoint(parent, _model(joint), placement, joint.name), body)
        model.appendBodyToJoint(carriers[i][0], _inertia(joint.inertia), carriers[i][1])
    for i in robot.moving:
        mimic = robot.joints[i].mimic
        if mimic:
            master, own = carriers[mimic.joint][0], carriers[i][0]
            model = pin.transformJointIntoMimic(model, master, own, mimic.multiplier, mimic.offset)
    links = {i: carriers[i][1] * _se3(robot.joints[i].link_frame) for i in robot.moving}
    return Peer(robot, model, {i: carriers[i][0] for i in robot.moving}, links)


def _model(joint: Joint) -> Any:
    match joint.kind:
        case JointKind.REVOLUTE:
            return pin.JointModelRevoluteUnaligned(joint.axis)
        case JointKind.PRISMATIC:
            return pin.JointModelPrismaticUnaligned(joint.axis)
        case JointKind.FLOATING:
            return pin.JointModelFreeFlyer()
        case JointKind.PLANAR:
            return pin.JointModelPlanar()
    raise AssertionError(joint.kind)


def _se3(pose: Transform) -> pin.SE3:
    return pin.SE3(np.array(pose.rotation), np.array(pose.translation))


def _inertia(inertia: Inertia) -> pin.Inertia:
    """From first moment and J about the origin to centre of mass and inertia about it."""
    com = inertia.h / inertia.mass
    central = inertia.J - inertia.mass * (com @ com * np.eye(3) - np.outer(com, com))
    return pin.Inertia(inertia.mass, com, central)
