"""Outputs in the world's frame: functions of named frames, and of all bodies' masses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..graph.word import spell
from ..robot.model import Robot, Transform
from ..robot.rotors import drivetrains
from .centroidal import SUMS, Centroidal
from .drivetrains import armature
from .kinematics import Kinematics
from .ports import GraphPorts
from .scalars import Scalar, Vector
from .spatial import add, dot

Frames = Sequence[tuple[int, Transform]]  # the body's joint, the pose in the body's frame


def gives_frames(
    face: GraphPorts,
    functions: frozenset[str],
    kinematics: Kinematics,
    frames: Frames,
    order: Collection[int],
) -> None:
    """pose (p, R), twist, jac (J) and drift of ``frames``, each in a region of its body; J has
    columns of the coordinates in ``order``."""
    for f, on in enumerate(frames):
        with face.builder.region("frame", on[0]):
            if "pose" in functions:
                p, R = kinematics.pose(*on)
                _gives(face, "p", {(f, k): x for k, x in enumerate(p)})
                turned = {(f, i, j): x for i, row in enumerate(R) for j, x in enumerate(row)}
                _gives(face, "R", turned)
            if "twist" in functions:
                _gives(face, "twist", {(f, k): x for k, x in enumerate(kinematics.twist(*on))})
            if "jac" in functions:
                found = kinematics.jacobian(*on)
                columns = {k: column for k, column in found.items() if k in order}
                own = {(f, r, k): x for k, column in columns.items() for r, x in enumerate(column)}
                _gives(face, "J", own)
            if "drift" in functions:
                _gives(face, "drift", {(f, k): x for k, x in enumerate(kinematics.drift(*on))})


def gives_masses(
    face: GraphPorts,
    functions: frozenset[str],
    robot: Robot,
    found: Centroidal,
    qd: Sequence[Scalar],
    order: Sequence[int],
) -> None:
    """com, jcom, energy, ag and hg; columns of the coordinates in ``order``."""
    with face.builder.region(SUMS, 0):
        if "com" in functions:
            _gives(face, "com", {(k,): x for k, x in enumerate(found.center())})
        momenta = {k: found.momenta(k) for k in range(robot.nv)}
        if "jcom" in functions:
            own = {(r, k): x * found.per_mass for k in order for r, x in enumerate(momenta[k][:3])}
            _gives(face, "Jcom", own)
        if "ag" in functions:
            map_of = {k: found.about_center(momenta[k]) for k in order}
            _gives(face, "Ag", {(r, k): x for k in order for r, x in enumerate(map_of[k])})
        if "hg" in functions:
            total: Vector = [0.0] * 6
            for k, column in momenta.items():
                total = add(total, [x * qd[k] for x in column])
            _gives(face, "hg", {(r,): x for r, x in enumerate(found.about_center(total))})
        if "energy" in functions:
            _gives(face, "kinetic", {(): _kinetic(robot, found, qd)})
            along = dot(robot.gravity.tolist(), found.whole_moment())
            _gives(face, "potential", {(): -along})


def _kinetic(robot: Robot, found: Centroidal, qd: Sequence[Scalar]) -> Scalar:
    """½ Σ q̇ᵢ Mᵢⱼ q̇ⱼ, of the lower triangle; rotors are in M."""
    total: Scalar = 0.0
    own = drivetrains(robot)
    for i, rate in enumerate(qd):
        row = (found.M(i, i) + armature(own.get(i, []))) * rate * 0.5
        for j in range(i):
            row = row + found.M(i, j) * qd[j]
        total = total + rate * row
    return total


def _gives(face: GraphPorts, name: str, entries: Mapping[Any, Scalar]) -> None:
    for index, value in sorted(entries.items()):
        face.gives(spell(name, *index), value)
