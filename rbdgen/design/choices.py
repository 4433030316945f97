"""The values that choices may have, a design's and a command's, their defaults and bounds."""

from __future__ import annotations

from typing import NamedTuple

VERILOG = "verilog"
LANGUAGES = (VERILOG, "cpp", "c", "cuda", "hls")  # that a design can be written in
OF_ACCELERATORS = (VERILOG, "c")  # those that an accelerator can
OF_LOOPS = ("cpp", "cuda", "hls")  # those that loops are written in
OF_NUMBERS = ("cpp", "cuda")  # those that have neither words nor hardware, and what is only of them
# Programs over real numbers, compiled for this machine: in double, and with 32 in float.
COMPILED = ("cpp", "cpp32", "cuda", "cuda32", "cuda-on-cpu", "cuda32-on-cpu")
KNOTS, MOST_KNOTS = 32, 1000  # steps that a controller looks ahead
PARAMETERS = ("constants", "registers")  # what a robot's masses and lengths are in hardware
TOLERANCE, LARGEST_TOLERANCE = 0.05, 0.5  # of parameters in registers
MODELS = ("golden", "float", *COMPILED, "fixed", "c", "hls", "rtl")  # of batches of states
FORMULATIONS = (
    *("auto", "composite", "recursive", "logarithmic", "linear", "lathrop-linear", "lathrop-log"),
)
LATHROP = ("lathrop-linear", "lathrop-log")  # to compare with; of constants alone
OF_ID = ("linear", *LATHROP)  # formulations of inverse dynamics alone
NETWORKS = ("sklansky", "kogge-stone", "brent-kung")
PRODUCTS = ("plain", "winograd")
REALS = ("integer", "float")  # what a program in C computes in
CODES = ("inlined", "loops")  # how programs over real numbers are written
FACTORISATIONS = ("auto", "ltdl", "mminvgen", "blocks")
EXECUTORS = ("local", "slurm")  # what runs jobs: this machine, a cluster's queue
INVERSES = ("computed", "near")  # M⁻¹; near: from that of a state nearby, an input
# Of what is computed as visits to joints: in programs, and in hardware.
LOOPED_FORMULATIONS = ("composite", "logarithmic", *OF_ID)
TURNING_FORMULATIONS = ("composite", *LATHROP)
WORDS = ("width", "error")  # choices that say how long words are
ERROR = 1e-3  # of a coordinate's own size at the limits, ten times that at a tenth of them
FLOAT_ERROR = 1e-5  # of programs in float, by an array's largest entry
LEAST_FLOAT_ERROR = 1e-6
NEARBY = 0.01  # rad or m: 10 rad/s for 1 ms
EVERY = "all"  # links that joints move, of external forces and of named frames
STEP = 0.001  # s, of the function step
GAINS = ("constants", "inputs")  # of a controller
# Gains where nobody says: of computed torque 1/s² (critically damped at 32 rad/s), of the others
# N·m/rad and N·m·s/rad. Powers of two: products by them cost nothing.
KP = {"computed_torque": 1024.0, "impedance": 128.0}
KD = {"impedance": 8.0, "gravity": 1.0}
LARGEST_GAIN = 1e9
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
LONGEST_TICK = 1 << 28  # cycles: a second and more of a clock of 250 MHz
MOST_LATE = 1 << 16  # ticks of a watchdog
LARGEST_INTERVAL = 64  # cycles; by then a fold is all multiplexers
LARGEST_OF_JOINTS = 1024  # cycles; time-multiplexed joints take no more
FOLDS = ("auto", "none", "limbs", "joints")
ORDERS = ("finished", "issued")
MOST_SLOTS = 64
LARGEST_SHARE = 1000
WIDTHS = (12, 32)  # bit
MOST_GUARD = 3  # bit
LARGEST_SNAP = 0.1  # rad; more than that would bend a robot


class Paper(NamedTuple):
    """A paper that `rbdgen reproduce` repeats; ``name``: of the file that does."""

    name: str
    title: str


# The papers by the numbers that rbdgen gives them.
PAPERS = {
    "000": Paper("yang2016_scan", "Yang, Wu and Pan 2016, prefix sums"),
    "001": Paper("yang2016_forward", "Yang, Wu and Pan 2016, forward dynamics on a GPU"),
    "002": Paper("dadu_rbd", "Yang, Chen and Han 2023, Dadu-RBD"),
    "003": Paper("lathrop1985", "Lathrop 1985, parallelism in manipulator dynamics"),
    "004": Paper("plancher2021", "Plancher et al. 2021, gradients on a CPU, GPU and FPGA"),
}
