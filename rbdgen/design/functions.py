"""The table of functions: what each takes and gives, and what it asks for; others ask here."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

# What a function may be, or ask for; `having` lists those that have it.
TRAITS = {
    "whole": "those of a design of which nobody says which",
    "task": "what an accelerator's task may ask for",
    "loops": "computed as visits to joints, in programs",
    "joints": "computed as visits to joints, in hardware",
    "alone": "τ of id by another name, as visits in a design of nothing else",
    "frames": "of frames that are named",
    "referred": "of frames' motions, in a frame of reference that is chosen",
    "named": "of frames that are named, and of what weighs there",
    "held": "of frames that stay where they are, in states of which they do",
    "masses": "of what all bodies weigh, and where",
    "regresses": "τ by the bodies' inertial parameters, in which it is linear",
    "rollout": "of an accelerator only: so many steps of so long, with the effort of each",
    "moves": "gives the positions that a state leads to",
    "inverse": "asks for M⁻¹",
    "factors": "goes between M's factors, or asks for M⁻¹",
    "solves": "makes or takes M⁻¹",
    "slopes": "has gradients",
    "law": "what a controller commands: of a state and its reference, with gains and limits",
    "program": "a controller that plans ahead: a program, in place of functions",
    "matrix": "has an entry for each pair of coordinates",
}


@dataclass(frozen=True)
class RobotFunction:
    """A function of a robot's dynamics, of a state, in SI units.

    ``takes``       arrays of a state: q (N, nq); qd [rad/s, m/s], qdd [rad/s², m/s²], tau [N·m, N],
                    (N, nv) each; Minv (N, nv, nv); of a rollout h [s] and steps (N,).
    ``gives``       arrays, whose shapes `graph.arrays` has.
    ``pinocchio``   the name that Pinocchio has for it.
    ``about``       what it is, for people.
    ``traits``      some of `TRAITS`.
    ``changed_by``  what changes its results, of force, gravity, friction and payload.
    ``beside``      another function, without whose result those of one base do not follow from
                    another base's.
    ``together``    another, which its call asks for besides: it costs little more then.
    """

    name: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    pinocchio: str
    about: str
    traits: frozenset[str]
    changed_by: frozenset[str]
    beside: str = ""
    together: str = ""


ALL, NONE, WEIGHT = "force gravity friction payload", "", "payload"


def _row(
    name: str,
    takes: str,
    gives: str,
    pinocchio: str,
    about: str,
    traits: str,
    changed_by: str = ALL,
    beside: str = "",
    together: str = "",
) -> RobotFunction:
    own = frozenset(traits.split())
    assert own <= TRAITS.keys()
    changes = frozenset(changed_by.split())
    arrays = tuple(takes.split()), tuple(gives.split())
    return RobotFunction(name, *arrays, pinocchio, about, own, changes, beside, together)


REFERENCE = "q_ref qd_ref qdd_ref"
VISITS = "whole task loops joints"
SOLVER = f"{VISITS} inverse factors solves"
TABLE = (
    _row("id", "q qd qdd", "tau", "rnea", "inverse dynamics, tau from q, qd, qdd", VISITS),
    _row("fd", "q qd tau", "qdd", "aba", "forward dynamics, qdd from q, qd, tau", SOLVER),
    _row("m", "q", "M", "crba", "mass matrix", f"{VISITS} matrix", WEIGHT),
    _row("minv", "q", "Minv", "computeMinverse", "its inverse", f"{SOLVER} matrix", WEIGHT),
    _row(
        "did",
        "q qd qdd",
        "tau dtau_dq dtau_dqd",
        "computeRNEADerivatives",
        "tau and its gradients dtau_dq, dtau_dqd",
        f"{VISITS} slopes matrix",
        beside="m",
        together="m",
    ),
    _row(
        "dfd",
        "q qd tau",
        "qdd dqdd_dq dqdd_dqd",
        "computeABADerivatives",
        "qdd and its gradients dqdd_dq, dqdd_dqd",
        f"{SOLVER} slopes matrix",
        beside="minv",
        together="minv",
    ),
    _row(
        "difd",
        "q qd qdd Minv",
        "dqdd_dq dqdd_dqd",
        "computeABADerivativesFromMinverse",
        "dqdd_dq, dqdd_dqd from q, qd, qdd and Minv",
        f"{VISITS} solves slopes matrix",
        beside="id",
    ),
    _row(
        "ddid",
        "q qd qdd",
        "d2tau_dq2 d2tau_dqd2 d2tau_dq_dqd dM_dq",
        "ComputeRNEASecondOrderDerivatives",
        "d2tau_dq2, d2tau_dqd2, d2tau_dq_dqd and dM_dq, second derivatives of tau",
        "slopes",
    ),
    _row(
        "cfd",
        "q qd tau",
        "qdd_c lambda_c",
        "constraintDynamics",
        "fd with --frames constrained, such as feet on the ground: qdd_c, and the constraint "
        "forces lambda_c",
        "named held factors",
    ),
    _row(
        "osim",
        "q",
        "Lambda",
        "getOperationalSpaceInertiaMatrix",
        "operational-space inertia Lambda of the directions of --frames that cfd constrains",
        "named factors",
        WEIGHT,
    ),
    _row(
        "dcfd",
        "q qd tau",
        "qdd_c lambda_c dqdd_c_dq dqdd_c_dqd dqdd_c_dtau dlambda_c_dq dlambda_c_dqd dlambda_c_dtau",
        "computeConstraintDynamicsDerivatives",
        "qdd_c, lambda_c and their gradients by q, qd and tau, dqdd_c_dq, dlambda_c_dq and so on",
        "named held factors slopes matrix",
    ),
    _row(
        "step",
        "q qd tau",
        "q_next qd_next A B",
        "",
        "q and qd after a step of semi-implicit Euler, and their derivatives A by q and qd, B by "
        "tau",
        "loops moves inverse factors solves slopes matrix",
    ),
    _row(
        "g",
        "q",
        "g",
        "computeGeneralizedGravity",
        "gravity term of tau",
        "task alone",
        "gravity payload",
    ),
    _row(
        "nle",
        "q qd",
        "nle",
        "nonLinearEffects",
        "bias: tau at qdd = 0, from q, qd",
        "task alone",
        "gravity friction payload",
        beside="m",
    ),
    _row("pose", "q", "p R", "updateFramePlacements", "p and R of --frames", "frames", NONE),
    _row(
        "twist",
        "q qd",
        "twist",
        "getFrameVelocity",
        "their velocities, from q, qd",
        "frames referred",
        NONE,
        together="pose",
    ),
    _row("jac", "q", "J", "computeFrameJacobian", "their Jacobian J", "frames referred", NONE),
    _row(
        "drift",
        "q qd",
        "drift",
        "getFrameClassicalAcceleration",
        "dJ/dt qd",
        "frames referred",
        NONE,
        beside="jac",
    ),
    _row("com", "q", "com", "centerOfMass", "centre of mass", "masses matrix", WEIGHT),
    _row(
        "subcom",
        "q",
        "subcom",
        "",
        "centres of mass of what the joints of --frames carry",
        "masses named matrix",
        WEIGHT,
    ),
    _row("jcom", "q", "Jcom", "jacobianCenterOfMass", "Jacobian of com", "masses matrix", WEIGHT),
    _row(
        "energy",
        "q qd",
        "kinetic potential",
        "computeMechanicalEnergy",
        "kinetic and potential energy, from q, qd",
        "masses matrix",
        "gravity payload",
    ),
    _row(
        "ag",
        "q",
        "Ag",
        "computeCentroidalMap",
        "centroidal momentum matrix Ag",
        "masses matrix",
        WEIGHT,
    ),
    _row("hg", "q qd", "hg", "computeCentroidalMomentum", "Ag qd", "masses matrix", WEIGHT),
    _row(
        "regressor",
        "q qd qdd",
        "Y",
        "computeJointTorqueRegressor",
        "Y of tau = Y pi, with ten inertial parameters pi of each body, from q, qd, qdd",
        "regresses matrix",
        "gravity",
    ),
    _row(
        "base_regressor",
        "q qd qdd",
        "Yb",
        "",
        "the same of the base parameters, the fewest combinations of pi that determine tau",
        "regresses matrix",
        "gravity",
    ),
    _row(
        "computed_torque",
        f"q qd {REFERENCE}",
        "tau_c",
        "",
        "id at qdd_ref + kp (q_ref - q) + kd (qd_ref - qd)",
        "law",
    ),
    _row(
        "impedance",
        f"q qd {REFERENCE}",
        "tau_c",
        "",
        "id at qdd_ref, and a spring kp and damper kd at each joint",
        "law",
    ),
    _row(
        "gravity",
        "q qd",
        "tau_c",
        "",
        "gravity's efforts less kd qd, which lets a hand guide the robot",
        "law",
        "gravity payload",
    ),
    _row(
        "ilqr",
        "q qd",
        "tau",
        "",
        "model predictive control by differential dynamic programming whose input is qdd, one "
        "header of C++ (--to cpp) or portable C (--to c)",
        "program",
    ),
    _row(
        "euler", "q qd tau h steps", "q qd", "", "q and qd after a number of steps", "rollout moves"
    ),
    _row("rk4", "q qd tau h steps", "q qd", "", "the same, by Runge and Kutta", "rollout moves"),
)
BY_NAME = {own.name: own for own in TABLE}


def having(*traits: str) -> tuple[str, ...]:
    """The functions that have one of the traits, in the table's order."""
    return tuple(own.name for own in TABLE if not own.traits.isdisjoint(traits))


def unchanged_by(*causes: str) -> tuple[str, ...]:
    """The functions that none of these changes: force, gravity, friction, payload."""
    return tuple(own.name for own in TABLE if own.changed_by.isdisjoint(causes))


LAWS, PROGRAMS = having("law"), having("program")
CONTROLLERS = ("none", *LAWS, *PROGRAMS)
NEEDS = {own.name: own.takes for own in TABLE if own.name not in PROGRAMS}
GIVES = {own.name: own.gives for own in TABLE if own.name not in PROGRAMS}
OF_FRAMES, AT_FRAMES = having("frames"), (*having("frames"), *having("named"))
HOLDING = having("held")
# Of M's factors at named frames: of directions that are held, or might be.
OF_CONTACTS = tuple(name for name in having("factors") if name in AT_FRAMES)
OF_MASSES, REFERRED, REGRESSING = having("masses"), having("referred"), having("regresses")
OBSERVING = (*OF_FRAMES, *OF_MASSES, *REGRESSING)  # which take no recursion of efforts
UNFORCED, UNLOADED = unchanged_by("force"), unchanged_by("payload")
OF_MOTION, FRICTIONLESS = unchanged_by("gravity", "friction"), unchanged_by("friction")
ROLLOUTS, MOVING = having("rollout"), having("moves")
# Of an accelerator whose tasks say what the base does: the function whose base moves as it is told,
# which reads the first entries of qdd and not those of tau → that whose base is free. What the
# others compute of the joints is the same.
GIVEN_BASE = {f"{own.name}_given": own.name for own in TABLE if own.traits >= {"task", "inverse"}}
for _given, _free in GIVEN_BASE.items():
    GIVES[_given] = GIVES[_free]
    NEEDS[_given] = (*NEEDS[_free], "qdd") if "tau" in NEEDS[_free] else NEEDS[_free]
FUNCTIONS = tuple(name for name in NEEDS if name not in (*ROLLOUTS, *GIVEN_BASE))
WHOLE = having("whole")
ON_ACCELERATORS = having("task")  # rollouts besides
ALIASES = {own.pinocchio: own.name for own in TABLE if own.pinocchio}  # what Pinocchio calls them
INVERTING, FACTORING, SOLVING = having("inverse"), having("factors"), having("solves")
SLOPES, MATRICES = having("slopes"), having("matrix")
FOLLOWING = tuple(name for name in LAWS if "q_ref" in NEEDS[name])
LOOPED, TURNING, ALONE = having("loops"), having("joints"), having("alone")
BESIDE = {own.name: own.beside for own in TABLE if own.beside}
TOGETHER = {own.name: own.together for own in TABLE if own.together}


def described(among: Container[str]) -> str:
    """Names of functions ``among`` those given and what each is, in one sentence."""
    return "; ".join(f"{own.name}: {own.about}" for own in TABLE if own.name in among)
