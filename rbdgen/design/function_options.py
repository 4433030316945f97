"""The options of what is computed: functions, their inputs, and how they are formulated."""

from __future__ import annotations

from dataclasses import dataclass

from . import checks
from .choices import (
    CODES,
    FACTORISATIONS,
    FLOAT_ERROR,
    HELD,
    INTEGRATORS,
    INVERSES,
    LARGEST_DAMPING,
    LARGEST_TOLERANCE,
    LEAST_FLOAT_ERROR,
    LONGEST_STEP,
    NEARBY,
    NETWORKS,
    PARAMETERS,
    PRODUCTS,
    STEP,
    TOLERANCE,
)
from .functions import ALIASES, ROLLOUTS, described
from .option import COMPUTED, OF_BOARDS, REGISTERS, TEXTS, option


@dataclass(frozen=True)
class FunctionOptions:
    """Which functions, of which inputs, by which algorithms."""

    functions: tuple[str, ...] = option(
        ("id",),
        checks.functions,
        f"several share one graph, and the option may be repeated. {described()}; of an "
        f"accelerator also {' and '.join(ROLLOUTS)}: q and qd after so many steps (default: "
        f"{{default}}). Pinocchio's names do too: {', '.join(ALIASES)}",
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
        "auto: with --style latency that of the fewest cycles, else composite; "
        "composite: from link to link, gradients of composite bodies, the fewest "
        "multiplications; recursive: gradients carried from link to link as others do; "
        "logarithmic: sums in one frame for each tree, far fewer cycles on long chains; of id "
        "alone: linear, from link to link with one matrix a joint, and Lathrop's of 1985, "
        "lathrop-linear and lathrop-log, to compare with (default: {default})",
        COMPUTED,
        usual="auto",
    )
    network: str = option(
        "sklansky",
        checks.OneOf(*NETWORKS),
        "how --formulation logarithmic composes rotations: sklansky (default), the fewest cycles; "
        "kogge-stone, no word read by many; brent-kung, the fewest products",
        COMPUTED,
    )
    products: str = option(
        "plain",
        checks.OneOf(*PRODUCTS),
        "how --formulation logarithmic makes gradients' entries: plain (default); winograd, one "
        "product for two and more adders, for long chains",
        COMPUTED,
    )
    frame: str | None = option(
        None,
        checks.link_name,
        "the link whose axes --formulation logarithmic adds along (default: the middle of each "
        "tree that stands on the base)",
        COMPUTED,
        line={"metavar": "LINK"},
    )
    factorisation: str = option(
        "auto",
        checks.OneOf(*FACTORISATIONS),
        "how minv, fd and dfd invert the mass matrix: ltdl, factors with the tree's sparsity; "
        "mminvgen, articulated bodies; auto (default), the cheaper for this robot, and ltdl from "
        "30 coordinates on; blocks, cofactors of up to four coordinates: the fewest cycles, the "
        "largest errors",
        COMPUTED,
    )
    inverse: str = option(
        "computed",
        checks.OneOf(*INVERSES),
        "near: minv, fd and dfd of --formulation logarithmic take M⁻¹ of a state nearby, the last "
        "one's, as Minv, correct it, and say where it was far (default: computed)",
        COMPUTED,
    )
    nearby: float = option(
        NEARBY,
        checks.real("a step above 0 and up to 1 rad or m", 0, 1, above=True),
        "of --inverse near: how far each coordinate of that state may be off, for which words have "
        f"room (default: {NEARBY:g} rad or m)",
        COMPUTED,
        line={"metavar": "STEP"},
    )
    step: float = option(
        STEP,
        checks.real(f"seconds above 0 and up to {LONGEST_STEP:g}", 0, LONGEST_STEP, above=True),
        f"how long --function step goes on (default: {STEP:g}); a power of two, as 0.0009765625, "
        "takes no adders",
        COMPUTED,
        line={"metavar": "SECONDS"},
    )
    integrator: str = option(
        "euler",
        checks.OneOf(*INTEGRATORS),
        "how --function step goes on: euler (default), semi-implicit; rk4, the classical rule of "
        "Runge and Kutta, which takes forward dynamics and its gradients four times",
        COMPUTED,
        clear=False,
    )
    external_forces: tuple[str, ...] = option(
        (),
        checks.words,
        'links with a force input, or "all"',
        COMPUTED,
        each=str,
        line={"nargs": "*", "metavar": "LINK"},
    )
    payload: str | None = option(
        None,
        checks.link_name,
        "the link that carries a tool, whose mass, centre of mass and inertia become inputs; a "
        "fixed one, too",
        COMPUTED,
        line={"metavar": "LINK"},
    )
    parameters: str = option(
        "constants",
        checks.OneOf(*PARAMETERS),
        "what differs between robots of one model: constants (default), or words in registers that "
        "rbdgen calibrate makes for each robot",
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
        "by how much the parameters of such robots may differ, as a part (default: "
        f"{TOLERANCE:g}) of the largest of their kind that a joint or link has; angles in radians",
        COMPUTED,
        use=REGISTERS,
        line={"metavar": "X"},
    )
    frames: tuple[str, ...] = option(
        (),
        checks.words,
        "the links whose frames pose, twist, jac, drift and cfd are of; fixed ones, too",
        COMPUTED,
        separator=",",
        line={"metavar": "LINK[,LINK]"},
    )
    contact: str = option(
        "point",
        checks.OneOf(*HELD),
        "what --function cfd holds of each of those frames: point (default), its origin; surface, "
        "its turn, too",
        COMPUTED,
        clear=False,
    )
    contact_damping: float = option(
        0.0,
        checks.real(f"1/kg from 0 to {LARGEST_DAMPING:g}", 0, LARGEST_DAMPING),
        "by how much such a frame gives way, in 1/kg, of moments 1/(kg m²) (default: 0, not at "
        "all): makes contacts regular that are not independent, or nearly",
        COMPUTED,
        line={"metavar": "X"},
    )
    angles: str = option(
        "on-chip",
        checks.OneOf("on-chip", "sincos"),
        "make sines on the chip, or take sines and cosines as inputs (default: {default})",
        COMPUTED,
        usual="on-chip",
    )
    code: str = option(
        "inlined",
        checks.OneOf(*CODES),
        "of --to cpp, cuda and hls: inlined (default), all operations one after another; "
        "loops, a function for each kind of joint and of pair of joints, called by tables: far "
        "less code, for robots of many joints; of id, m, did, difd, minv, fd, dfd and step",
        COMPUTED,
        use=TEXTS,
    )
    float_error: float = option(
        FLOAT_ERROR,
        checks.real(
            f"a part of the largest entry from {LEAST_FLOAT_ERROR:g} to 1, which is float alone",
            LEAST_FLOAT_ERROR,
            1,
        ),
        "of --to cpp and cuda: the largest error of a result in float, by the largest entry of its "
        "array; operations that take more than float's precision are in double (default: 1e-5; 1: "
        "float alone)",
        COMPUTED,
        use=TEXTS,
        line={"metavar": "X"},
    )
    rotation: int = option(
        4,
        checks.OneNumber("multiplications", 3, 4),
        "multiplications per rotation: 4 (default), or 3 with one bit more noise",
        COMPUTED,
        each=int,
    )
