"""The functions that there are, what each takes and gives, and what a design's choices may be."""

from __future__ import annotations

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
}
OF_FRAMES = ("pose", "twist", "jac", "drift")  # of links that are named
AT_FRAMES = (*OF_FRAMES, "cfd")  # with those that hold them where they are
OF_MASSES = ("com", "jcom", "energy", "ag", "hg")  # of what all bodies weigh, and where
UNFORCED = ("m", "minv", "g", "nle", *OF_FRAMES, *OF_MASSES)  # what no force changes
# what neither gravity nor friction changes, and what friction alone does not
OF_MOTION = ("m", "minv", *OF_FRAMES, "com", "jcom", "ag", "hg")
FRICTIONLESS = (*OF_MOTION, "g", "energy")
ROLLOUTS = ("euler", "rk4")  # of an accelerator only
MOVING = ("step", *ROLLOUTS)  # which give the positions that a state leads to
# Of an accelerator whose tasks say what the base does: the function whose base moves as it is told,
# which reads the first entries of qdd and not those of tau → that whose base is free. What the
# others compute of the joints is the same.
GIVEN_BASE = {f"{name}_given": name for name in ("fd", "minv", "dfd")}
for _given, _free in GIVEN_BASE.items():
    GIVES[_given] = GIVES[_free]
    NEEDS[_given] = (*NEEDS[_free], "qdd") if "tau" in NEEDS[_free] else NEEDS[_free]
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


VERILOG = "verilog"
LANGUAGES = (VERILOG, "cpp", "c", "cuda", "hls")  # that a design can be written in
OF_ACCELERATORS = (VERILOG, "c")  # those that an accelerator can
OF_LOOPS = ("cpp", "cuda", "hls")  # those that loops are written in
OF_NUMBERS = ("cpp", "cuda")  # those that have neither words nor hardware, and what is only of them
# Programs over real numbers, compiled for this machine: in double, and with 32 in float.
COMPILED = ("cpp", "cpp32", "cuda", "cuda32", "cuda-on-cpu", "cuda32-on-cpu")
PARAMETERS = ("constants", "registers")  # what a robot's masses and lengths are in hardware
TOLERANCE, LARGEST_TOLERANCE = 0.05, 0.5  # of parameters in registers
MODELS = ("golden", "float", *COMPILED, "fixed", "c", "hls", "rtl")  # of batches of states
FORMULATIONS = (
    *("auto", "composite", "recursive", "logarithmic", "linear", "lathrop-linear", "lathrop-log"),
)
LATHROP = ("lathrop-linear", "lathrop-log")  # to compare with; of constants alone
OF_ID = ("linear", *LATHROP)  # formulations of inverse dynamics alone
OF_BODIES = LATHROP  # whose inertias are those of the file; as of
# `OF_MASSES`, whatever the formulation
NETWORKS = ("sklansky", "kogge-stone", "brent-kung")
PRODUCTS = ("plain", "winograd")
CODES = ("inlined", "loops")  # how programs over real numbers are written
FACTORISATIONS = ("auto", "ltdl", "mminvgen", "blocks")
EXECUTORS = ("local", "slurm")  # what runs jobs: this machine, a cluster's queue
INVERSES = ("computed", "near")  # M⁻¹; near: from that of a state nearby, an input
INVERTING = ("minv", "fd", "dfd", "step")  # the functions that ask for it
FACTORING = (*INVERTING, "cfd")  # those that go between M's factors
SLOPES = ("did", "dfd", "difd", "ddid", "step")  # those that have gradients
# What is computed as visits, in loops, and as joints in turn; by which formulations. Of those that
# are τ of id by another name a design has one alone.
LOOPED = ("id", "did", "m", "minv", "fd", "dfd", "difd", "step")
LOOPED_FORMULATIONS = ("composite", "logarithmic", *OF_ID)
TURNING = tuple(name for name in LOOPED if name != "step")
TURNING_FORMULATIONS = ("composite", *LATHROP)
ALONE = ("g", "nle")
WORDS = ("width", "error")  # choices that say how long words are
ERROR = 1e-3  # of a coordinate's own size at the limits, ten times that at a tenth of them
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
LARGEST_SNAP = 0.1  # rad; more than that would bend a robot
