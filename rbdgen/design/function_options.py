"""The options of what is computed: functions, their inputs, and how they are formulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..robot.frames import ALIGNED, REFERENCES
from ..system.quoting import listed
from . import checks
from .choices import (
    CODES,
    EVERY,
    FACTORISATIONS,
    FLOAT_ERROR,
    GAINS,
    HELD,
    INTEGRATORS,
    INVERSES,
    KD,
    KNOTS,
    KP,
    LARGEST_DAMPING,
    LARGEST_TOLERANCE,
    LEAST_FLOAT_ERROR,
    LONGEST_STEP,
    MOST_KNOTS,
    NEARBY,
    NETWORKS,
    PARAMETERS,
    PRODUCTS,
    REALS,
    STEP,
    TOLERANCE,
)
from .functions import (
    ALIASES,
    AT_FRAMES,
    FOLLOWING,
    FUNCTIONS,
    LAWS,
    OF_CONTACTS,
    PROGRAMS,
    ROLLOUTS,
    described,
)
from .option import COMPUTED, IN_C, OF_BOARDS, REGISTERS, TEXTS, option

PLAIN = tuple(name for name in FUNCTIONS if name not in LAWS)


@dataclass(frozen=True)
class FunctionOptions:
    """Which functions, of which inputs, by which algorithms."""

    functions: tuple[str, ...] = option(
        ("id",),
        checks.functions,
        "functions of the design; several share one graph, and the option may be repeated. "
        f"{described(PLAIN)}; for an accelerator also {' and '.join(ROLLOUTS)}: q and qd after a "
        f"number of steps (default: {{default}}). Pinocchio's names are accepted, too: "
        f"{', '.join(ALIASES)}",
        COMPUTED,
        usual="the design's, else id",
        flags=("--function", "--functions"),
        commands=OF_BOARDS,
        separator=",",
        line={"action": "extend", "metavar": "NAME[,NAME]"},
    )
    formulation: str = option(
        "auto",
        checks.FORMULATION,
        "auto: with --style latency the formulation with the fewest cycles, else composite; "
        "composite: link-to-link recursion, gradients by composite bodies, the fewest "
        "multiplications; recursive: gradients by the usual recursion from link to link; "
        "logarithmic: the common-frame formulation, one frame for each tree, far fewer cycles on "
        "long chains. For id alone, linear: link-to-link with one matrix a joint; "
        "lathrop-linear and lathrop-log: Lathrop's of 1985, for comparison (default: {default})",
        COMPUTED,
        usual="auto",
    )
    network: str = option(
        "sklansky",
        checks.OneOf(*NETWORKS),
        "prefix network by which --formulation logarithmic composes rotations: sklansky "
        "(default), the fewest cycles; kogge-stone, no word with many readers; brent-kung, the "
        "fewest products",
        COMPUTED,
    )
    products: str = option(
        "plain",
        checks.OneOf(*PRODUCTS),
        "products of gradients in --formulation logarithmic: plain (default); winograd, half the "
        "products and more adders, for long chains",
        COMPUTED,
    )
    frame: str | None = option(
        None,
        checks.link_name,
        "the link whose frame --formulation logarithmic uses for all bodies (default: the middle "
        "of each tree on the base)",
        COMPUTED,
        line={"metavar": "LINK"},
    )
    factorisation: str = option(
        "auto",
        checks.OneOf(*FACTORISATIONS),
        "inversion of the mass matrix in minv, fd and dfd: auto (default), the cheaper of the next "
        "two for this robot, and ltdl from 30 coordinates on; ltdl, factors with the tree's "
        "sparsity; mminvgen, articulated bodies; blocks, cofactors of up to four coordinates, the "
        "fewest cycles and the largest errors",
        COMPUTED,
    )
    inverse: str = option(
        "computed",
        checks.OneOf(*INVERSES),
        "near: with --formulation logarithmic, minv, fd and dfd take the input Minv, M⁻¹ of a "
        "nearby state such as the previous one. They correct it, and report where it was too far "
        "(default: computed)",
        COMPUTED,
    )
    nearby: float = option(
        NEARBY,
        checks.real("a step above 0 and up to 1 rad or m", 0, 1, above=True),
        "for --inverse near: the largest difference of each coordinate of that state for which "
        f"words have room (default: {NEARBY:g} rad or m)",
        COMPUTED,
        line={"metavar": "STEP"},
    )
    step: float = option(
        STEP,
        checks.real(f"seconds above 0 and up to {LONGEST_STEP:g}", 0, LONGEST_STEP, above=True),
        f"length of a step of --function step (default: {STEP:g}); a power of two, such as "
        "0.0009765625, takes no adders",
        COMPUTED,
        line={"metavar": "SECONDS"},
    )
    integrator: str = option(
        "euler",
        checks.OneOf(*INTEGRATORS),
        "integrator of --function step: euler (default), semi-implicit; rk4, the classical rule "
        "of Runge and Kutta, which takes forward dynamics and its gradients four times",
        COMPUTED,
        clear=False,
    )
    external_forces: tuple[str, ...] = option(
        (),
        checks.words,
        f'links with a force input, or "{EVERY}"',
        COMPUTED,
        each=str,
        line={"nargs": "*", "metavar": "LINK"},
    )
    payload: str | None = option(
        None,
        checks.link_name,
        "the link that carries a tool, whose mass, centre of mass and inertia become inputs; it "
        "may be a fixed link",
        COMPUTED,
        line={"metavar": "LINK"},
    )
    parameters: str = option(
        "constants",
        checks.OneOf(*PARAMETERS),
        "parameters that differ between robots of one model: constants (default), or registers, "
        "whose words rbdgen calibrate computes for each robot",
        COMPUTED,
        use=REGISTERS,
        clear=False,
    )
    tolerance: float = option(
        TOLERANCE,
        checks.real(
            f"a part of what parameters are, above 0 up to {LARGEST_TOLERANCE:g}",
            0,
            LARGEST_TOLERANCE,
            above=True,
        ),
        f"largest difference of the parameters of such robots, as a part (default: {TOLERANCE:g}) "
        "of the largest parameter of the same kind of a joint or link; angles in radians",
        COMPUTED,
        use=REGISTERS,
        line={"metavar": "X"},
    )
    frames: tuple[str, ...] = option(
        (),
        checks.words,
        f"the links whose frames {', '.join(AT_FRAMES)} refer to, including fixed ones; may be "
        f"repeated. {EVERY}: for each joint the link that it moves, which has the joint's frame",
        COMPUTED,
        separator=",",
        line={"action": "extend", "metavar": "LINK[,LINK]"},
    )
    kp: Any = option(
        None,
        checks.gain_by_joint,
        f"stiffness of {' and '.join(FOLLOWING)}, for every joint or those named: in 1/s² of "
        f"computed_torque (default: {KP['computed_torque']:g}), in N·m/rad or N/m of impedance "
        f"(default: {KP['impedance']:g})",
        COMPUTED,
        line={"metavar": "X[,JOINT=X]"},
    )
    kd: Any = option(
        None,
        checks.gain_by_joint,
        f"damping of {listed(LAWS)}, likewise: in 1/s of computed_torque (default: 2 √kp, "
        f"critical), in N·m·s/rad or N·s/m of the others (default: {KD['impedance']:g} and "
        f"{KD['gravity']:g})",
        COMPUTED,
        line={"metavar": "X[,JOINT=X]"},
    )
    gains: str = option(
        "constants",
        checks.OneOf(*GAINS),
        "constants (default); inputs: kp and kd come with each task, up to those of --kp and --kd",
        COMPUTED,
        clear=False,
    )
    reference: str = option(
        ALIGNED,
        checks.OneOf(*REFERENCES),
        "frame of reference of twist, jac and drift: local-world-aligned (default), of the "
        "frame's origin along the world's axes; local, along its own axes; world, spatial vectors "
        "about the world's origin",
        COMPUTED,
        clear=False,
    )
    contact: str = option(
        "point",
        checks.OneOf(*HELD),
        f"what --function {' or '.join(OF_CONTACTS)} constrains of each of those frames: point "
        "(default), its origin; surface, its orientation, too",
        COMPUTED,
        clear=False,
    )
    contact_damping: float = option(
        0.0,
        checks.real(f"1/kg from 0 to {LARGEST_DAMPING:g}", 0, LARGEST_DAMPING),
        "compliance of such a frame in 1/kg, for moments in 1/(kg m²) (default: 0, rigid): "
        "regularises contacts that are dependent, or nearly",
        COMPUTED,
        line={"metavar": "X"},
    )
    angles: str = option(
        "on-chip",
        checks.OneOf("on-chip", "sincos"),
        "compute sines on the chip, or take sines and cosines as inputs (default: {default})",
        COMPUTED,
        usual="on-chip",
    )
    code: str = option(
        "inlined",
        checks.OneOf(*CODES),
        "for --to cpp, cuda and hls: inlined (default), all operations one after another; loops, a "
        "function for each kind of joint and of pair of joints, called by tables. Loops are far "
        "less code for robots of many joints, for id, m, did, difd, minv, fd, dfd and step",
        COMPUTED,
        use=TEXTS,
    )
    real: str = option(
        "integer",
        checks.OneOf(*REALS),
        "numbers of --to c: integer (default), the hardware's words, bit for bit; float, for "
        "microcontrollers that have single precision. A controller ilqr is in double, or in float",
        COMPUTED,
        use=IN_C,
    )
    float_error: float = option(
        FLOAT_ERROR,
        checks.real(
            f"a part of the largest entry from {LEAST_FLOAT_ERROR:g} to 1, which is float alone",
            LEAST_FLOAT_ERROR,
            1,
        ),
        "for --to cpp and cuda: the largest error of a result in float, relative to the largest "
        "entry of its array. Operations that need more than float's precision are in double "
        "(default: 1e-5; 1: float alone)",
        COMPUTED,
        use=TEXTS,
        line={"metavar": "X"},
    )
    rotation: int = option(
        4,
        checks.OneNumber("multiplications", 3, 4),
        "multiplications per rotation: 4 (default), or 3 with one more bit of noise",
        COMPUTED,
        each=int,
    )
    controller: str = option(
        "none",
        checks.CONTROLLER,
        f"a law, a function like others, or a program: none (default); {described(LAWS)}; "
        f"{described(PROGRAMS)}",
        COMPUTED,
        commands=OF_BOARDS,
        line={"metavar": "NAME"},
    )
    knots: int = option(
        KNOTS,
        checks.whole(1, MOST_KNOTS, "steps", unset=False),
        f"steps that --controller ilqr looks ahead (default: {KNOTS})",
        COMPUTED,
        commands=("generate",),
        line={"metavar": "N"},
    )
