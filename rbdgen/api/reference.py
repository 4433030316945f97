"""The golden model of a design's functions: float64, of every function, hardware or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .. import golden
from ..design.arrays import given_coordinates, held, is_near, left_out
from ..design.design import Design, canonical_of
from ..design.functions import GIVEN_BASE, GIVES, HOLDING, LAWS, OBSERVING, REGRESSING
from ..design.gains import gains_of
from ..dynamics.block_inverse import FARTHEST
from ..graph.word import FAR
from ..robot.base_parameters import base_parameters
from ..robot.model import Array, Robot
from ..robot.variations import PAYLOAD, carrying


def golden_model(design: Design, robot: Robot, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Results (N, …) of the design's functions for checked ``arrays``.

    What comes for nothing is there too: M with did, Minv with dfd. Those of M⁻¹ are exact, whatever
    comes in as that of a state nearby. Where the base's motion is
    given, the joints' rows and columns only, and gradients along the joints alone.
    """
    if design.payload is not None and arrays[PAYLOAD].any():
        return _carried(design, robot, arrays)
    results: dict[str, Array] = {}
    joints = slice(given_coordinates(design, robot), None)
    for function in design.functions:
        if function in LAWS:
            results |= _law(design, robot, arrays)
        elif function in REGRESSING:
            results |= _regressor(function, design, robot, arrays, joints)
        elif function in OBSERVING:
            results |= _observed(function, design, robot, arrays, joints)
        elif function in HOLDING:
            results |= _held(function, design, robot, arrays)
        elif function == "osim":
            held_at = design.frames, *held(design)
            results["Lambda"] = golden.operational_inertia(robot, arrays["q"], *held_at)
        elif function == "step":
            results |= _step(design, robot, arrays)
        else:
            results |= _golden(function, robot, arrays, joints)
    if is_near(design):
        results[FAR] = _far(golden.crba(robot, arrays["q"])[:, joints, joints], arrays["Minv"])
    return results


def _carried(design: Design, robot: Robot, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The same of the robot with each state's payload."""
    assert design.payload is not None
    names, plain = [name for name in arrays if name != PAYLOAD], replace(design, payload=None)
    found: dict[str, Array] = {}
    for payload, rows in golden.by_payload(arrays[PAYLOAD]):
        loaded = carrying(robot, design.payload, payload)
        own = golden_model(plain, loaded, {name: arrays[name][rows] for name in names})
        for name, values in own.items():
            found.setdefault(name, np.empty((len(arrays["q"]), *values.shape[1:])))[rows] = values
    return found


def _observed(
    function: str, design: Design, robot: Robot, arrays: Mapping[str, Array], joints: slice
) -> dict[str, Array]:
    """Functions of named frames and of the bodies' masses."""
    q, qd, links = arrays["q"], arrays.get("qd", np.zeros(0)), design.frames
    seen = links, design.reference
    match function:
        case "pose":
            return dict(golden.frame_poses(robot, q, links)._asdict())
        case "twist":
            return {"twist": golden.frame_velocities(robot, q, qd, *seen)}
        case "jac":
            return {"J": golden.frame_jacobians(robot, q, *seen)[..., joints]}
        case "drift":
            return {"drift": golden.frame_drifts(robot, q, qd, *seen)}
        case "com":
            return {"com": golden.center_of_mass(robot, q)}
        case "subcom":
            return {"subcom": golden.subtree_centers(robot, q, links)}
        case "jcom":
            return {"Jcom": golden.center_of_mass_jacobian(robot, q)[..., joints]}
        case "energy":
            return dict(golden.energies(robot, q, qd)._asdict())
        case "ag":
            return {"Ag": golden.centroidal_map(robot, q)[..., joints]}
    return {"hg": golden.centroidal_momentum(robot, q, qd)}


def _regressor(
    function: str, design: Design, robot: Robot, arrays: Mapping[str, Array], joints: slice
) -> dict[str, Array]:
    """Y, or Yb = Y K of any K with π = K π_b: with columns that regrouping leaves as they are."""
    Y = golden.joint_torque_regressor(robot, arrays["q"], arrays["qd"], arrays["qdd"])[:, joints]
    if function == "regressor":
        return {"Y": Y}
    base = base_parameters(canonical_of(design)(robot), joints.start)
    return {"Yb": Y @ np.linalg.pinv(base.of)}


def _law(design: Design, robot: Robot, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Efforts that a controller commands. Its numbers are the design's, or come with each task."""
    gains = gains_of(design, robot)
    assert gains is not None
    f_ext = arrays["f_ext"] if arrays["f_ext"].any() else None
    kp, kd = arrays.get("kp", gains.kp), arrays.get("kd", gains.kd)
    q, qd = arrays["q"], arrays["qd"]
    if gains.law == "gravity":
        return {"tau_c": golden.gravity_damping(robot, q, qd, kd, gains.effort)}
    law = getattr(golden, gains.law)
    at = robot, (q, qd), tuple(arrays[name] for name in ("q_ref", "qd_ref", "qdd_ref"))
    within = golden.Saturation(gains.error, gains.rate, gains.acceleration, gains.effort)
    return {"tau_c": law(*at, kp, kd, within, f_ext)}


def _far(M: Array, X: Array) -> Array:
    """Where (N,) X is not near M⁻¹: √tr E² of E = 1 - M X."""
    E = np.eye(M.shape[1]) - M @ X
    return (np.einsum("nij,nji->n", E, E) > FARTHEST**2).astype(np.float64)


def _golden(
    function: str, robot: Robot, arrays: Mapping[str, Array], joints: slice
) -> dict[str, Array]:
    q, qd, qdd, tau = (arrays.get(name, np.zeros(0)) for name in ("q", "qd", "qdd", "tau"))
    f_ext = arrays["f_ext"] if arrays["f_ext"].any() else None
    match function:
        case "id":
            return {"tau": golden.rnea(robot, q, qd, qdd, f_ext)[:, joints]}
        case "fd":
            return {"qdd": _accelerations(robot, q, qd, qdd, tau, f_ext, joints)}
        case "m":
            return {"M": golden.crba(robot, q)[:, joints, joints]}
        case "minv":
            return {"Minv": _inverse(robot, q, joints)}
        case "did":
            tau = golden.rnea(robot, q, qd, qdd, f_ext)[:, joints]
            return {"tau": tau, **_gradients(robot, q, qd, qdd, f_ext, joints)}
        case "dfd":
            found = _accelerations(robot, q, qd, qdd, tau, f_ext, joints)
            # the joints' accelerations beside the base's, if that is given
            moving = np.hstack([qdd[:, : joints.start], found]) if joints.start else found
            Minv = _inverse(robot, q, joints)
            slopes = _gradients(robot, q, qd, moving, f_ext, joints)
            return {"qdd": found, **_times(Minv, slopes), "Minv": Minv}
        case "difd":
            return _times(arrays["Minv"], _gradients(robot, q, qd, qdd, f_ext, joints))
        case "ddid":
            second = golden.rnea_second_derivatives(robot, q, qd, qdd, f_ext)._asdict()
            return {name: array[:, joints, joints, joints] for name, array in second.items()}
        case "g":
            still = np.zeros((len(q), robot.nv))
            return {"g": golden.rnea(robot, q, still, still)[:, joints]}
        case "nle":
            return {"nle": golden.rnea(robot, q, qd, np.zeros_like(qd))[:, joints]}
        case "fd_given" | "minv_given" | "dfd_given":
            base = slice(left_out(function), None)
            own = GIVEN_BASE[function]
            of_joints = _golden(own, robot, {**arrays, "tau": tau[..., base]}, base)
            return {name: _beside_base(of_joints[name], base.start) for name in GIVES[own]}
        case "euler" | "rk4":
            h, steps = arrays["h"][:, 0], arrays["steps"][:, 0].astype(np.int64)
            end = golden.rollout(robot, function, (q, qd), tau, h, steps, f_ext)
            return {"q": end[0], "qd": end[1]}
    raise ValueError(f"no golden model of {function}")


def _beside_base(values: Array, base: int) -> Array:
    """Arrays (N, …, n) of the joints, with zeros before them for their base."""
    return np.pad(values, [(0, 0), *[(base, 0)] * (values.ndim - 1)])


def _held(
    function: str, design: Design, robot: Robot, arrays: Mapping[str, Array]
) -> dict[str, Array]:
    q, qd, tau = (arrays[name] for name in ("q", "qd", "tau"))
    f_ext = arrays["f_ext"] if arrays["f_ext"].any() else None
    asked = robot, q, qd, tau, design.frames, *held(design), f_ext
    found = golden.constraint_dynamics(*asked)
    results = {"qdd_c": found.qdd, "lambda_c": found.forces}
    if function == "cfd":
        return results
    return results | golden.constraint_derivatives(*asked)._asdict()


def _step(design: Design, robot: Robot, arrays: Mapping[str, Array]) -> dict[str, Array]:
    q, qd, tau = (arrays[name] for name in ("q", "qd", "tau"))
    f_ext = arrays["f_ext"] if arrays["f_ext"].any() else None
    rule = {"euler": golden.euler_sensitivity, "rk4": golden.rk4_sensitivity}[design.integrator]
    return dict(rule(robot, q, qd, tau, design.step, f_ext)._asdict())


def _accelerations(
    robot: Robot,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    f_ext: Array | None,
    joints: slice,
) -> Array:
    if joints.start:
        return golden.joint_aba(robot, q, qd, qdd, tau, f_ext)
    return golden.aba(robot, q, qd, tau, f_ext)


def _inverse(robot: Robot, q: Array, joints: slice) -> Array:
    return golden.joint_minv(robot, q) if joints.start else golden.minv(robot, q)


def _gradients(
    robot: Robot, q: Array, qd: Array, qdd: Array, f_ext: Array | None, joints: slice
) -> dict[str, Array]:
    slopes = golden.rnea_derivatives(robot, q, qd, qdd, f_ext)._asdict()
    return {name: array[:, joints, joints] for name, array in slopes.items()}


def _times(Minv: Array, slopes: Mapping[str, Array]) -> dict[str, Array]:
    # ∂q̈/∂x = −M⁻¹ ∂τ/∂x
    return {
        "dqdd_dq": -Minv @ slopes["dtau_dq"],
        "dqdd_dqd": -Minv @ slopes["dtau_dqd"],
    }
