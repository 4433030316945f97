"""What each choice of a design may be. A check takes the value from Python or as YAML text,
returns it in its final type, or raises ValueError that says what would be right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..robot.xml_lines import did_you_mean, quoted
from .target import TARGETS

# Function: the state that it needs and the arrays that it gives. q (N, nq); qd, qdd, tau (N, nv);
# Minv and all else as `SHAPES` says. Of a rollout: h [s], steps (N,), the effort held
# over so many steps of so long; the state after them.
NEEDS: dict[str, tuple[str, ...]] = {
    "id": ("q", "qd", "qdd"),
    "fd": ("q", "qd", "tau"),
    "m": ("q",),
    "minv": ("q",),
    "did": ("q", "qd", "qdd"),
    "dfd": ("q", "qd", "tau"),
    "difd": ("q", "qd", "qdd", "Minv"),
    "ddid": ("q", "qd", "qdd"),
    "cfd": ("q", "qd", "tau"),
    "step": ("q", "qd", "tau"),
    "g": ("q",),
    "nle": ("q", "qd"),
    "pose": ("q",),
    "twist": ("q", "qd"),
    "jac": ("q",),
    "drift": ("q", "qd"),
    "com": ("q",),
    "jcom": ("q",),
    "energy": ("q", "qd"),
    "ag": ("q",),
    "hg": ("q", "qd"),
    "euler": ("q", "qd", "tau", "h", "steps"),
    "rk4": ("q", "qd", "tau", "h", "steps"),
    "fd_given": ("q", "qd", "tau", "qdd"),
    "minv_given": ("q",),
    "dfd_given": ("q", "qd", "tau", "qdd"),
}
GIVES: dict[str, tuple[str, ...]] = {
    "id": ("tau",),
    "fd": ("qdd",),
    "m": ("M",),
    "minv": ("Minv",),
    "did": ("tau", "dtau_dq", "dtau_dqd"),
    "dfd": ("qdd", "dqdd_dq", "dqdd_dqd"),
    "difd": ("dqdd_dq", "dqdd_dqd"),
    "ddid": ("d2tau_dq2", "d2tau_dqd2", "d2tau_dq_dqd", "dM_dq"),
    "cfd": ("qdd_c", "lambda_c"),
    "step": ("q_next", "qd_next", "A", "B"),
    "g": ("g",),
    "nle": ("nle",),
    "pose": ("p", "R"),
    "twist": ("twist",),
    "jac": ("J",),
    "drift": ("drift",),
    "com": ("com",),
    "jcom": ("Jcom",),
    "energy": ("kinetic", "potential"),
    "ag": ("Ag",),
    "hg": ("hg",),
    "euler": ("q", "qd"),
    "rk4": ("q", "qd"),
    "fd_given": ("qdd",),
    "minv_given": ("Minv",),
    "dfd_given": ("qdd", "dqdd_dq", "dqdd_dqd"),
}
OF_FRAMES = ("pose", "twist", "jac", "drift")  # of links that are named
AT_FRAMES = (*OF_FRAMES, "cfd")  # with those that hold them where they are
OF_MASSES = ("com", "jcom", "energy", "ag", "hg")  # of what all bodies weigh, and where
UNFORCED = ("m", "minv", "g", "nle", *OF_FRAMES, *OF_MASSES)  # what no force changes
ROLLOUTS = ("euler", "rk4")  # of an accelerator only
# Of an accelerator whose tasks say what the base does: the function whose base moves as it is told,
# which reads the first entries of qdd and not those of tau → that whose base is free. What the
# others compute of the joints is the same.
GIVEN_BASE = {"fd_given": "fd", "minv_given": "minv", "dfd_given": "dfd"}
BASE = 6  # a floating base's coordinates of v
FUNCTIONS = tuple(name for name in NEEDS if name not in (*ROLLOUTS, *GIVEN_BASE))
WHOLE: tuple[str, ...] = ("id", "fd", "m", "minv", "did", "dfd", "difd")  # where nobody says which
ON_ACCELERATORS = (*WHOLE, "g", "nle")  # those that may be, rollouts besides
ALIASES = {  # what Pinocchio calls them
    "rnea": "id",
    "aba": "fd",
    "crba": "m",
    "computeMinverse": "minv",
    "computeRNEADerivatives": "did",
    "computeABADerivatives": "dfd",
    "computeABADerivativesFromMinverse": "difd",
    "ComputeRNEASecondOrderDerivatives": "ddid",
    "constraintDynamics": "cfd",
    "computeGeneralizedGravity": "g",
    "nonLinearEffects": "nle",
    "updateFramePlacements": "pose",
    "getFrameVelocity": "twist",
    "computeFrameJacobian": "jac",
    "getFrameClassicalAcceleration": "drift",
    "centerOfMass": "com",
    "jacobianCenterOfMass": "jcom",
    "computeMechanicalEnergy": "energy",
    "computeCentroidalMap": "ag",
    "computeCentroidalMomentum": "hg",
}


LANGUAGES = ("verilog", "cpp", "c", "cuda", "hls")  # that a design can be written in
OF_ACCELERATORS = ("verilog", "c")  # those that an accelerator can
OF_LOOPS = ("cpp", "cuda", "hls")  # those that loops are written in
OF_NUMBERS = ("cpp", "cuda")  # those that have neither words nor hardware, and what is only of them
OF_HARDWARE = (
    *(
        "width",
        "guard",
        "proven",
        "error",
        "target",
        "ii",
        "multipliers",
        "scheduler",
        "style",
        "clock",
        "fold",
        "fit",
    ),
    *("slots", "mix", "order"),
)
# Programs over real numbers, compiled for this machine: in double, and with 32 in float.
COMPILED = ("cpp", "cpp32", "cuda", "cuda32", "cuda-on-cpu", "cuda32-on-cpu")
TO_COMPARE = ("lathrop-linear", "lathrop-log")  # formulations of constants alone
PARAMETERS = ("constants", "registers")  # what a robot's masses and lengths are in hardware
TOLERANCE, LARGEST_TOLERANCE = 0.05, 0.5  # of parameters in registers
MODELS = ("golden", "float", *COMPILED, "fixed", "c", "hls", "rtl")  # of batches of states
FORMULATIONS = (
    *("auto", "composite", "recursive", "logarithmic", "linear", "lathrop-linear", "lathrop-log"),
)
OF_BODIES = ("lathrop-linear", "lathrop-log")  # whose inertias are those of the file; as of
# `OF_MASSES`, whatever the formulation
NETWORKS = ("sklansky", "kogge-stone", "brent-kung")
PRODUCTS = ("plain", "winograd")
CODES = ("inlined", "loops")  # how programs over real numbers are written
FACTORISATIONS = ("auto", "ltdl", "mminvgen", "blocks")
EXECUTORS = ("local", "slurm")  # what runs jobs: this machine, a cluster's queue
INVERSES = ("computed", "near")  # M⁻¹; near: from that of a state nearby, an input
INVERTING = ("minv", "fd", "dfd", "step")  # the functions that ask for it
FLOAT_ERROR = 1e-5  # of programs in float, by an array's largest entry
LEAST_FLOAT_ERROR = 1e-6
NEARBY = 0.01  # rad or m: 10 rad/s for 1 ms
STEP = 0.001  # s, of the function step
HELD = {"point": 3, "surface": 6}  # of a frame in contact: its origin's directions; its turn, too
LARGEST_DAMPING = 1.0  # of contacts
INTEGRATORS = ("euler", "rk4")  # of it
LONGEST_STEP = 0.1  # s: of 10 rad/s a radian
PROVEN = ("none", "one-bit", "all")  # which words
STYLES = ("throughput", "latency")
LONGEST_CLOCK = 1000.0  # ns
ROOTS = ("free", "given", "ignored", "each")
BEST = "best"  # in place of a link's name: where the tree is least deep
SCHEDULERS = ("list", "exact")
LARGEST_INTERVAL = 64  # cycles; by then a fold is all multiplexers
LARGEST_OF_JOINTS = 1024  # cycles; joints in turn take no more
FOLDS = ("auto", "none", "limbs", "joints")
ORDERS = ("finished", "issued")
MOST_SLOTS = 64
LARGEST_SHARE = 1000
WIDTHS = (12, 32)  # bit
MOST_GUARD = 3  # bit
_LARGEST_SNAP = 0.1  # rad; more than that would bend a robot


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number, not {quoted(str(value))}") from None
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number


def _numbers(count: int) -> Callable[[Any], tuple[float, ...]]:
    def check(value: Any) -> tuple[float, ...]:
        if isinstance(value, str | int | float) or len(value) != count:
            raise ValueError(f"expected {count} numbers in brackets")
        return tuple(_number(v) for v in value)

    return check


def _positive(value: Any) -> float:
    number = _number(value)
    if number <= 0:
        raise ValueError(f"must be above 0, is {number:g}")
    return number


def _not_negative(value: Any) -> float:
    number = _number(value)
    if number < 0:
        raise ValueError(f"must not be below 0, is {number:g}")
    return number


def _interval(value: Any) -> tuple[float, ...]:
    lower, upper = _numbers(2)(value)
    if not lower < upper:
        raise ValueError(f"lower ({lower:g}) must be below upper ({upper:g})")
    return lower, upper


def _one_of(*known: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in known:
            hint = did_you_mean(str(value), known, f"; one of {', '.join(known)}")
            raise ValueError(f"{quoted(str(value))} is unknown{hint}")
        return str(value)

    return check


def _words(value: Any) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else tuple(value)
    if len(set(words)) < len(words):
        raise ValueError("a name stands twice")
    return tuple(str(word) for word in words)


def _name(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"a link's name, or {BEST}, not {quoted(str(value))}")
    return value


def _link(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"a link's name, not {quoted(str(value))}")
    return value


def _function(value: Any) -> str:
    """A function by its name here, or by Pinocchio's."""
    word, known = str(value), (*FUNCTIONS, *ROLLOUTS, *GIVEN_BASE)
    name = ALIASES.get(word, word)
    if name not in known:
        hint = did_you_mean(word, (*known, *ALIASES), f"; one of {', '.join(known)}")
        raise ValueError(f"{quoted(word)} is unknown{hint}")
    return name


def _functions(value: Any) -> tuple[str, ...]:
    names = _words([_function(word) for word in _words(value)])
    if not names:
        raise ValueError(f"name at least one of {', '.join((*FUNCTIONS, *ROLLOUTS))}")
    return names


def _width(value: Any) -> int:
    number = _number(value)
    if number != int(number) or not WIDTHS[0] <= number <= WIDTHS[1]:
        raise ValueError(f"a whole number of bits from {WIDTHS[0]} to {WIDTHS[1]}, not {value}")
    return int(number)


def _guard(value: Any) -> int:
    number = _number(value)
    if number != int(number) or not 1 <= number <= MOST_GUARD:
        raise ValueError(f"a whole number of bits from 1 to {MOST_GUARD}, not {value}")
    return int(number)


def _snap(value: Any) -> float:
    number = _number(value)
    if not 0 <= number <= _LARGEST_SNAP:
        raise ValueError(f"an angle from 0 to {_LARGEST_SNAP} rad, not {number:g}")
    return number


def _tolerance(value: Any) -> float:
    number = _number(value)
    if not 0 < number <= LARGEST_TOLERANCE:
        raise ValueError(
            f"a part of what parameters are, above 0 up to {LARGEST_TOLERANCE:g}, not {number:g}"
        )
    return number


def _alike(value: Any) -> float:
    number = _number(value)
    if not 0 <= number < 1:
        raise ValueError(f"a part of a limb's size, from 0 to less than 1, not {number:g}")
    return number


def _nearby(value: Any) -> float:
    number = _number(value)
    if not 0 < number <= 1:
        raise ValueError(f"a step above 0 and up to 1 rad or m, not {number:g}")
    return number


def _step(value: Any) -> float:
    number = _number(value)
    if not 0 < number <= LONGEST_STEP:
        raise ValueError(f"seconds above 0 and up to {LONGEST_STEP:g}, not {number:g}")
    return number


def _damping(value: Any) -> float:
    number = _number(value)
    if not 0 <= number <= LARGEST_DAMPING:
        raise ValueError(f"1/kg from 0 to {LARGEST_DAMPING:g}, not {number:g}")
    return number


def _rotation(value: Any) -> int:
    if _number(value) not in (3, 4):
        raise ValueError(f"3 or 4 multiplications, not {value}")
    return int(_number(value))


def _error(value: Any) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if not 1e-7 <= number <= 0.1:
        raise ValueError(f"a relative error from 1e-7 to 0.1, not {number:g}")
    return number


def _float_error(value: Any) -> float:
    number = _number(value)
    if not LEAST_FLOAT_ERROR <= number <= 1:
        raise ValueError(
            f"a part of the largest entry from {LEAST_FLOAT_ERROR:g} to 1, which is float alone, "
            f"not {number:g}"
        )
    return number


def _clock(value: Any) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if not 0 < number <= LONGEST_CLOCK:
        raise ValueError(f"a period above 0 and up to {LONGEST_CLOCK:g} ns, not {number:g}")
    return number


def _whole(lowest: int, highest: int, what: str) -> Callable[[Any], int | None]:
    def check(value: Any) -> int | None:
        if value is None:
            return None
        number = _number(value)
        if number != int(number) or not lowest <= number <= highest:
            raise ValueError(f"a whole number of {what} from {lowest} to {highest}, not {value}")
        return int(number)

    return check


def _flag(value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"true or false, not {quoted(str(value))}")
    return str(value).lower() == "true"


def mix(value: Any) -> dict[str, int]:
    """``id=8,dfd=1`` → how many tasks of each function come together."""
    found: dict[str, int] = {}
    for part in str(value).replace(" ", "").split(","):
        name, _, number = part.partition("=")
        name = _function(name)
        if name in found or not number.isdecimal() or not 0 < int(number) <= LARGEST_SHARE:
            raise ValueError(
                f"functions once each, with a number from 1 to {LARGEST_SHARE}, such as "
                f"id=8,dfd=1; not {quoted(str(value))}"
            )
        found[name] = int(number)
    return found


def _mix(value: Any) -> str | None:
    if value is None:
        return None
    return ",".join(f"{name}={number}" for name, number in mix(value).items())


def by_joint(value: Any) -> dict[str, float]:
    """``3``, ``3,wrist=8`` or ``elbow=2,wrist=8`` → number by joint's name, "" of all others.

    A mapping of the same is as good.
    """
    if isinstance(value, Mapping):
        parts = [(str(name), number) for name, number in value.items()]
    else:
        words = [word.strip().rpartition("=") for word in str(value).split(",")]
        parts = [(name.strip(), number) for name, _, number in words]
    found: dict[str, float] = {}
    for name, number in parts:
        if name in found:
            what = quoted(name) if name else "the number of all joints"
            raise ValueError(f"{what} stands twice; keep one of them")
        if "," in name or "=" in name:
            raise ValueError(f"{quoted(name)} cannot be named here; use limits: joints: of a file")
        found[name] = _positive(number)
    return found


def _by_joint(value: Any) -> float | str | None:
    if value is None:
        return None
    found = by_joint(value)
    if list(found) == [""]:
        return found[""]
    return ",".join(
        f"{name}={number!r}" if name else repr(number) for name, number in found.items()
    )


def _slots(value: Any) -> int | None:
    number = _whole(2, MOST_SLOTS, "tasks")(value)
    if number is not None and number & (number - 1):
        raise ValueError(f"a power of two, not {number}")
    return number


CHECKS: dict[str, Callable[[Any], Any]] = {
    "velocity": _by_joint,
    "acceleration": _by_joint,
    "effort": _by_joint,
    "friction": _flag,
    "friction_width": _by_joint,
    "base": _one_of("fixed", "floating"),
    "mimic": _one_of("fold", "independent"),
    "gravity": _numbers(3),
    "snap": _snap,
    "alike": _alike,
    "functions": _functions,
    "width": _width,
    "guard": _guard,
    "proven": _one_of(*PROVEN),
    "target": _one_of(*TARGETS),
    "external_forces": _words,
    "payload": _link,
    "parameters": _one_of(*PARAMETERS),
    "tolerance": _tolerance,
    "frames": _words,
    "contact": _one_of(*HELD),
    "contact_damping": _damping,
    "angles": _one_of("on-chip", "sincos"),
    "rotation": _rotation,
    "error": _error,
    "float_error": _float_error,
    "formulation": _one_of(*FORMULATIONS),
    "network": _one_of(*NETWORKS),
    "products": _one_of(*PRODUCTS),
    "code": _one_of(*CODES),
    "frame": _name,
    "factorisation": _one_of(*FACTORISATIONS),
    "inverse": _one_of(*INVERSES),
    "nearby": _nearby,
    "step": _step,
    "integrator": _one_of(*INTEGRATORS),
    "root": _one_of(*ROOTS),
    "base_link": _name,
    "ii": _whole(1, LARGEST_OF_JOINTS, "cycles"),
    "multipliers": _whole(1, 100_000, "multipliers"),
    "scheduler": _one_of(*SCHEDULERS),
    "style": _one_of(*STYLES),
    "clock": _clock,
    "fold": _one_of(*FOLDS),
    "fit": _flag,
    "accelerator": _flag,
    "slots": _slots,
    "mix": _mix,
    "order": _one_of(*ORDERS),
}

# of what a design checks unless joints take turns
NOT_OF_JOINTS: dict[str, Callable[[Any], Any]] = {"ii": _whole(1, LARGEST_INTERVAL, "cycles")}

LIMIT_CHECKS: dict[str, Callable[[Any], Any]] = {
    "velocity": _positive,
    "acceleration": _positive,
    "position": _interval,
    "force": _positive,
    "moment": _positive,
    "effort": _positive,
    **dict.fromkeys(("payload_mass", "payload_reach", "payload_inertia"), _positive),
}
JOINT_LIMITS = ("velocity", "acceleration", "position", "effort")  # what may differ by joint

# of a joint's rotor, damping and friction
DRIVETRAIN_CHECKS: dict[str, Callable[[Any], Any]] = {
    "armature": _not_negative,
    "damping": _not_negative,
    "friction": _not_negative,
    "friction_width": _positive,
}
