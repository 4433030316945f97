"""Robots that stand on their feet, and states in which they stand, trot or lean on something."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from rbdgen import golden
from rbdgen.robot.model import Array, Robot

JOINT = """
  <joint name="{name}" type="{kind}">
    <parent link="{parent}"/> <child link="{child}"/> <origin xyz="{at}"/> <axis xyz="{axis}"/>
    <limit lower="-2" upper="2" velocity="8" effort="200"/>
  </joint>
  <link name="{child}"><inertial>
    <origin xyz="0 0 {low}"/> <mass value="{mass}"/>
    <inertia ixx="{I}" ixy="0" ixz="0" iyy="{I}" iyz="0" izz="{I}"/>
  </inertial></link>"""
FOOT = """
  <joint name="{child}_joint" type="fixed">
    <parent link="{parent}"/> <child link="{child}"/> <origin xyz="0 0 -0.25"/>
  </joint>
  <link name="{child}"/>"""


def _joint(
    name: str, parent: str, axis: str, at: str, mass: float, low: float, kind: str = "revolute"
) -> str:
    own = {"name": name, "kind": kind, "parent": parent, "child": f"{name}_link", "axis": axis}
    return JOINT.format(**own, at=at, mass=mass, low=low, I=0.004 + mass * low * low / 3)


def _leg(side: str, parent: str, at: str, abducts: bool = True) -> str:
    """A leg that bends at the knee, of thigh and shin of 25 cm, on the joint ``parent``."""
    made, hip = "", parent
    if abducts:
        made += _joint(f"{side}_abduct", parent, "1 0 0", at, 0.8, 0.0)
        hip, at = f"{side}_abduct_link", "0 0 0"
    made += _joint(f"{side}_hip", hip, "0 1 0", at, 1.2, -0.12)
    made += _joint(f"{side}_knee", f"{side}_hip_link", "0 1 0", "0 0 -0.25", 0.6, -0.12)
    return made + FOOT.format(parent=f"{side}_knee_link", child=f"{side}_foot")


TRUNK = """<link name="trunk"><inertial>
    <mass value="9"/> <inertia ixx="0.12" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.14"/>
  </inertial></link>"""


def biped(folder: Path) -> str:
    """A trunk on two legs of three joints, without a base: 15 coordinates with a floating one."""
    legs = _leg("left", "trunk", "0 0.12 0") + _leg("right", "trunk", "0 -0.12 0")
    return _written(folder, "biped", TRUNK + legs)


def monoped(folder: Path) -> str:
    """A trunk on one leg of three joints: 9 coordinates with a floating base."""
    return _written(folder, "monoped", TRUNK + _leg("only", "trunk", "0 0 0"))


def hopper(folder: Path) -> str:
    """A trunk that slides up and down a mast, on one leg of two joints."""
    slide = _joint("slide", "mast", "0 0 1", "0 0 0", 5.0, 0.0, "prismatic")
    leg = _leg("only", "slide_link", "0 0 0", abducts=False)
    return _written(folder, "hopper", f'<link name="mast"/>{slide}{leg}')


def _written(folder: Path, name: str, inside: str) -> str:
    path = folder / f"{name}.urdf"
    path.write_text(f'<robot name="{name}">\n  {inside}\n</robot>\n')
    return str(path)


def crouched(robot: Robot, n: int = 1, bend: float = 0.6, lean: float = 0.0) -> Array:
    """q (n, nq): trunk level, hips and knees bent so that a foot is below its hip, or nearly: hips
    turn by ``lean`` more."""
    q = golden.random_state(robot, n, np.random.default_rng(0)).q
    q[:] = 0.0
    if robot.nq > robot.nv:
        q[:, 6] = 1.0
    at = {name: robot.nq - robot.nv + k for k, name in enumerate(_coordinates(robot))}
    for name, k in at.items():
        way = -1.0 if name.startswith(("lh", "rh")) else 1.0
        if name.endswith(("hip", "flexion")):
            q[:, k] = way * bend + lean
        elif name.endswith("knee"):
            q[:, k] = -2 * way * bend
    return q


def _coordinates(robot: Robot) -> list[str]:
    """The joint's name of each coordinate of v."""
    return [
        robot.joints[i].name
        for i in robot.free
        for _ in range(robot.v_slices[i].stop - robot.v_slices[i].start)
    ]


def balanced(robot: Robot, links: Sequence[str]) -> Array:
    """q (1, nq) of a robot on a floating base whose weight is above the middle of its feet."""

    def off(lean: float) -> float:
        q = crouched(robot, lean=lean)
        feet = golden.frame_poses(robot, q, links).p[0].mean(axis=0)
        return float((golden.center_of_mass(robot, q)[0] - feet)[0])

    return crouched(robot, lean=float(brentq(off, -0.3, 0.3, xtol=1e-13)))


def standing(robot: Robot, links: Sequence[str], q: Array) -> dict[str, Array]:
    """At rest at q (1, nq), held by joint efforts: nothing drives the first coordinates, which the
    links' forces, the least that do, hold."""
    still, n = np.zeros((1, robot.nv)), 6 if robot.nq > robot.nv else 1
    J = golden.frame_jacobians(robot, q, links)[0, :, :3].reshape(-1, robot.nv)
    weight = golden.rnea(robot, q, still, still)[0]
    forces = np.linalg.lstsq(J[:, :n].T, weight[:n], rcond=None)[0]
    tau = weight - J.T @ forces
    np.testing.assert_allclose(tau[:n], 0.0, atol=1e-6 * np.abs(weight).max())
    return {"q": q, "qd": still, "tau": tau[None], "forces": forces.reshape(1, -1, 3)}


def trotting(
    robot: Robot, links: Sequence[str], n: int, weight: float, damping: float, seed: int
) -> dict[str, Array]:
    """Joints in motion while the links' origins stay, each pushed by up to 1.5 times the ``weight``
    [N] with up to 0.5 of that across; ``forces`` (n, F, 3) are λ."""
    rng = np.random.default_rng(seed)
    q, nv, floats = crouched(robot, n), robot.nv, robot.nq > robot.nv
    if floats:
        turn = rng.normal(0.0, 0.08, (n, 4)) + np.array([0, 0, 0, 1])
        q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    q[:, robot.nq - nv + (6 if floats else 1) :] += rng.uniform(
        -0.25, 0.25, (n, nv - 6 if floats else nv - 1)
    )
    qd, qdd = rng.uniform(-3.0, 3.0, (n, nv)), rng.uniform(-6.0, 6.0, (n, nv))
    forces = np.empty((n, len(links), 3))
    forces[..., 2] = rng.uniform(0.0, 1.5 * weight, forces.shape[:2])
    forces[..., :2] = rng.uniform(-0.35, 0.35, (*forces.shape[:2], 2)) * forces[..., 2:]
    J = golden.frame_jacobians(robot, q, links)[:, :, :3].reshape(n, -1, nv)
    moves = np.linalg.pinv(J, rcond=1e-6)
    qd = qd - np.einsum("nkr,nrj,nj->nk", moves, J, qd)
    drift = golden.frame_drifts(robot, q, qd, links)[:, :, :3]
    rest = np.einsum("nrj,nj->nr", J, qdd) + (drift + damping * forces).reshape(n, -1)
    qdd = qdd - np.einsum("nkr,nr->nk", moves, rest)
    tau = golden.rnea(robot, q, qd, qdd)
    tau = tau - np.einsum("nrj,nr->nj", J, forces.reshape(n, -1))
    return {"q": q, "qd": qd, "tau": tau, "forces": forces}
