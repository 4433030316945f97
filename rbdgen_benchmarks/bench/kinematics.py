"""Kinematics that a controller needs, in C++ and from Python, beside Pinocchio's Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdgen.api.results import Mismatch
from rbdgen.design.functions import GIVES, NEEDS
from rbdgen.design.loading import load
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics

from ..compare.timing import times_of
from .cpu import FEW, processor
from .measurement import measurement
from .python import CLOSE, RUNS, _least

if TYPE_CHECKING:
    import pinocchio

FEET = ("lf_foot", "rf_foot", "lh_foot", "rh_foot")
ARM: dict[str, Any] = {"frames": "link_7"}
ALL: dict[str, Any] = {"frames": "all", "reference": "local"}
HYQ: dict[str, Any] = {"base": "floating"}
# Robot, functions (the first is called), choices.
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("iiwa14", "pose", {"frames": "all"}),
    ("iiwa14", "twist,pose", ALL),
    *(("iiwa14", "jac", {**ARM, "reference": own}) for own in ("local", "world")),
    ("iiwa14", "jac", ARM),
    ("iiwa14", "drift", ARM),
    ("iiwa14", "subcom", {"frames": "all"}),
    ("iiwa14", "jcom", {}),
    ("iiwa14", "osim", ARM),
    ("iiwa14", "osim", {**ARM, "contact": "surface"}),
    ("iiwa14", "regressor", {}),
    ("iiwa14", "dcfd", ARM),
    ("hyq", "twist,pose", {**HYQ, **ALL}),
    ("hyq", "jac", {**HYQ, "frames": FEET}),
    ("hyq", "subcom", {**HYQ, "frames": "all"}),
    ("hyq", "osim", {**HYQ, "frames": FEET}),
    ("hyq", "regressor", HYQ),
]
HEAD = ("call", "C++, one state", "blocks", "Python, one state", "Pinocchio", "by ours")
SEED = 1


def _legend() -> str:
    return (
        "ns a state. C++: medians of 5 to 51 runs in CPU time, the least of 5 processes; blocks: "
        f"of {FEW} states. Python: CPU time of a call, the least of {RUNS} runs that alternate "
        "with those of Pinocchio's Python, where poses, velocities and centres of mass stay unread "
        "in its Data, and osim is computeMinverse, Jacobians and NumPy's inv. "
        f"{processor()}, load {os.getloadavg()[1]:.1f}."
    )


@measurement(
    "kinematics",
    "minutes",
    HEAD,
    cases=lambda: CASES,
    legend=_legend,
    robots=lambda: {robot for robot, *_ in CASES},
)
def kinematics(
    place: Path, progress: Progress, robot: str, named: str, choices: dict[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """Frames, Jacobians, centres of mass and Λ in C++ and Python, beside Pinocchio's Python."""
    import pinocchio as pin

    functions = tuple(named.split(","))
    call = "forwardKinematics" if len(functions) > 1 else functions[0]
    about = f"{robot} {call} {' '.join(f'{k}={_said(v)}' for k, v in choices.items())}".strip()
    design, _ = load(robot, functions=functions, **choices)
    ours = Dynamics(robot, accelerator=False, functions=functions, progress=progress, **choices)
    free = (pin.JointModelFreeFlyer(),) if design.base == "floating" else ()
    model = pin.buildModelFromUrdf(design.robot, *free)
    data = model.createData()
    frames = [model.getFrameId(link, pin.FrameType.BODY) for link in design.frames]
    rng = np.random.default_rng(SEED)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
    arrays = (q, *rng.uniform(-1, 1, (2, model.nv)))[: len(NEEDS[functions[0]])]
    axes = 6 if design.contact == "surface" else 3
    reference = getattr(pin, design.reference.replace("-", "_").upper())
    peer, read = _peer(pin, call, model, data, frames, reference, axes)
    _refuse_unlike(about, call, getattr(ours, call)(*arrays), read(peer(*arrays)))
    progress(f"{about}: timed")
    mine, theirs = _least([lambda: getattr(ours, call)(*arrays), lambda: peer(*arrays)])
    times = times_of({call: ours._backend.programs[functions[0]]}, (FEW,), 1, progress)[call]
    yield (
        about,
        *(float(f"{x:.3g}") for x in (times.one, times.of[FEW].blocks)),
        *(round(x) for x in (mine, theirs)),
        round(theirs / mine, 1),
    )


def _said(value: Any) -> str:
    return f"{len(value)} feet" if isinstance(value, tuple) else str(value)


def _peer(
    pin: Any,
    call: str,
    model: pinocchio.Model,
    data: pinocchio.Data,
    frames: list[int],
    reference: Any,
    axes: int,
) -> tuple[Callable[..., Any], Callable[..., list[Any]]]:
    """Pinocchio's calls for the results of ours, and how these are read from what they return."""
    joints = [model.frames[f].parentJoint for f in frames]
    still = np.zeros(model.nv)

    def placed(q: Any, *v: Any) -> None:
        pin.forwardKinematics(model, data, q, *v)

    def places(_: None) -> list[Any]:
        poses = [data.oMi[i] for i in joints]
        velocities = [data.v[i].vector for i in joints] if call != "pose" else []
        return [*(M.translation for M in poses), *(M.rotation for M in poses), *velocities]

    def jac(q: Any) -> list[Any]:
        return [pin.computeFrameJacobian(model, data, q, f, reference) for f in frames]

    def drift(q: Any, v: Any) -> list[Any]:
        pin.forwardKinematics(model, data, q, v, still)
        return [pin.getFrameClassicalAcceleration(model, data, f, reference).vector for f in frames]

    def subcom(q: Any) -> None:
        pin.centerOfMass(model, data, q, True)

    def centers(_: None) -> list[Any]:
        return [data.oMi[i].act(data.com[i]) for i in joints]

    def osim(q: Any) -> list[Any]:
        J = np.vstack([own[:axes] for own in jac(q)])
        M = pin.computeMinverse(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        return [np.linalg.inv(J @ M @ J.T)]

    def jcom(q: Any) -> list[Any]:
        return [pin.jacobianCenterOfMass(model, data, q)]

    def regressor(q: Any, v: Any, a: Any) -> list[Any]:
        return [pin.computeJointTorqueRegressor(model, data, q, v, a)]

    named: dict[str, tuple[Callable[..., Any], Callable[..., list[Any]]]] = {
        **dict.fromkeys(("pose", "forwardKinematics"), (placed, places)),
        "subcom": (subcom, centers),
        **{own.__name__: (own, list) for own in (jac, drift, osim, jcom, regressor)},
    }
    if call == "dcfd":
        named[call] = _contacts(pin, model, data, frames, axes), list
    return named[call]


def _contacts(
    pin: Any, model: pinocchio.Model, data: pinocchio.Data, frames: list[int], axes: int
) -> Callable[..., list[Any]]:
    """Forward dynamics while frames are held and its derivatives; of a state in Pinocchio's way."""
    kind = pin.ContactType.CONTACT_3D if axes == 3 else pin.ContactType.CONTACT_6D
    contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for frame in (model.frames[f] for f in frames):
        on = frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED
        contacts.append(pin.RigidConstraintModel(kind, model, *on))
        datas.append(contacts[-1].createData())
    pin.initConstraintDynamics(model, data, contacts, datas)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def dcfd(q: Any, v: Any, tau: Any) -> list[Any]:
        qdd = pin.constraintDynamics(model, data, q, v, tau, contacts, datas, settings)
        slopes = pin.computeConstraintDynamicsDerivatives(model, data, contacts, datas)
        return [qdd, data.lambda_c, *slopes]

    return dcfd


def _refuse_unlike(about: str, call: str, ours: Any, theirs: list[Any]) -> None:
    """Mismatch where results differ; of Λ and λ the rows that are zero are not Pinocchio's."""
    results = ours if isinstance(ours, tuple) else (ours,)
    if call == "dcfd":  # frames that are held at points have no moments
        named = zip(GIVES[call], results, strict=True)
        results = tuple(own[:, :3] if "lambda" in name else own for name, own in named)
    mine, other = (np.concatenate([own.ravel() for own in found]) for found in (results, theirs))
    if call == "osim":
        mine = mine[mine != 0]
    if mine.shape != other.shape or np.abs(mine - other).max() > CLOSE * np.abs(other).max():
        raise Mismatch(f"{about}: is not Pinocchio's")
