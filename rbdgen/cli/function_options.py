"""The command line's options for a design's functions and their formulations."""

from __future__ import annotations

import argparse

from ..design.choices import (
    ALIASES,
    CODES,
    FACTORISATIONS,
    FORMULATIONS,
    HELD,
    INTEGRATORS,
    INVERSES,
    NETWORKS,
    PARAMETERS,
    PRODUCTS,
    TOLERANCE,
)
from .arguments import checked, whole
from .defaults import Defaults


def computed(group: argparse._ArgumentGroup, default: Defaults) -> None:
    """The functions, and how they are formulated."""
    group.add_argument(
        "--function",
        "--functions",
        type=checked("functions", ","),
        action="extend",
        metavar="NAME[,NAME]",
        help="several share one graph, and the option may be repeated. "
        "id: inverse dynamics, tau from q, qd, qdd; fd: forward dynamics, qdd from q, qd, tau; "
        "m: mass matrix; minv: its inverse; did: tau and its gradients dtau_dq, dtau_dqd; "
        "dfd: qdd and its gradients dqdd_dq, dqdd_dqd; difd: dqdd_dq, dqdd_dqd from q, qd, qdd "
        "and a given Minv; ddid: d2tau_dq2, d2tau_dqd2, d2tau_dq_dqd and dM_dq, second derivatives "
        "of tau; step: q and qd after a step of semi-implicit Euler, and their "
        "derivatives A by q and qd, B by tau; g: gravity's share of tau; nle: all of tau but "
        "M qdd, from q, qd; of --frames: pose, p and R; twist, from q, qd; jac, the Jacobian J; "
        "drift, its change times qd; cfd, fd while they are held, as feet on the ground are: qdd_c "
        "and what holds them, lambda_c; com and jcom: centre of mass, its Jacobian; energy: "
        "kinetic and potential, from q, qd; ag and hg: centroidal momentum matrix Ag, and Ag qd; "
        "of an accelerator also euler and rk4: q and qd after so many steps "
        f"(default: {default.function}). Pinocchio's names do too: {', '.join(ALIASES)}",
    )
    group.add_argument(
        "--formulation",
        choices=FORMULATIONS,
        help="auto: with --style latency that of the fewest cycles, else composite; "
        "composite: from link to link, gradients of composite bodies, the fewest "
        "multiplications; recursive: gradients carried from link to link as others do; "
        "logarithmic: sums in one frame for each tree, far fewer cycles on long chains; of id "
        "alone: linear, from link to link with one matrix a joint, and Lathrop's of 1985, "
        "lathrop-linear and lathrop-log, to compare with "
        f"(default: {default.formulation})",
    )
    group.add_argument(
        "--network",
        choices=NETWORKS,
        help="how --formulation logarithmic composes rotations: sklansky (default), the fewest "
        "cycles; kogge-stone, no word read by many; brent-kung, the fewest products",
    )
    group.add_argument(
        "--products",
        choices=PRODUCTS,
        help="how --formulation logarithmic makes gradients' entries: plain (default); winograd, "
        "one product for two and more adders, for long chains",
    )
    group.add_argument(
        "--frame",
        metavar="LINK",
        help="the link whose axes --formulation logarithmic adds along (default: the middle of "
        "each tree that stands on the base)",
    )
    group.add_argument(
        "--factorisation",
        choices=FACTORISATIONS,
        help="how minv, fd and dfd invert the mass matrix: ltdl, factors with the tree's "
        "sparsity; mminvgen, articulated bodies; auto (default), the cheaper for this robot, "
        "and ltdl from 30 coordinates on; "
        "blocks, cofactors of up to four coordinates: the fewest cycles, the largest errors",
    )
    group.add_argument(
        "--inverse",
        choices=INVERSES,
        help="near: minv, fd and dfd of --formulation logarithmic take M⁻¹ of a state nearby, the "
        "last one's, as Minv, correct it, and say where it was far (default: computed)",
    )
    group.add_argument(
        "--nearby",
        type=checked("nearby"),
        metavar="STEP",
        help="of --inverse near: how far each coordinate of that state may be off, for which words "
        "have room (default: 0.01 rad or m)",
    )
    group.add_argument(
        "--step",
        type=checked("step"),
        metavar="SECONDS",
        help="how long --function step goes on (default: 0.001); a power of two, as 0.0009765625, "
        "takes no adders",
    )
    group.add_argument(
        "--integrator",
        choices=INTEGRATORS,
        help="how --function step goes on: euler (default), semi-implicit; rk4, the classical rule "
        "of Runge and Kutta, which takes forward dynamics and its gradients four times",
    )
    group.add_argument(
        "--external-forces", nargs="*", metavar="LINK", help='links with a force input, or "all"'
    )
    group.add_argument(
        "--payload",
        type=checked("payload"),
        metavar="LINK",
        help="the link that carries a tool, whose mass, centre of mass and inertia become inputs; "
        "a fixed one, too",
    )
    group.add_argument(
        "--parameters",
        choices=PARAMETERS,
        help="what differs between robots of one model: constants (default), or words in registers "
        "that rbdgen calibrate makes for each robot",
    )
    group.add_argument(
        "--tolerance",
        type=checked("tolerance"),
        metavar="X",
        help="by how much the parameters of such robots may differ, as a part (default: "
        f"{TOLERANCE:g}); angles in radians",
    )
    group.add_argument(
        "--frames",
        type=checked("frames", ","),
        metavar="LINK[,LINK]",
        help="the links whose frames pose, twist, jac, drift and cfd are of; fixed ones, too",
    )
    group.add_argument(
        "--contact",
        choices=tuple(HELD),
        help="what --function cfd holds of each of those frames: point (default), its origin; "
        "surface, its turn, too",
    )
    group.add_argument(
        "--contact-damping",
        type=checked("contact_damping"),
        metavar="X",
        help="by how much such a frame gives way, in 1/kg (default: 0, not at all): makes contacts "
        "regular that are not independent, or nearly",
    )
    group.add_argument(
        "--angles",
        choices=("on-chip", "sincos"),
        help="make sines on the chip, or take sines and cosines as inputs "
        f"(default: {default.angles})",
    )
    group.add_argument(
        "--code",
        choices=CODES,
        help="of --to cpp, cuda and hls: inlined (default), all operations one after another; "
        "loops, a function for each kind of joint and of pair of joints, called by tables: far "
        "less code, for robots of many joints; of id, m, did, difd, minv, fd, dfd and step",
    )
    group.add_argument(
        "--float-error",
        type=checked("float_error"),
        metavar="X",
        help="of --to cpp and cuda: the largest error of a result in float, by the largest entry "
        "of its array; operations that take more than float's precision are in double (default: "
        "1e-5; 1: float alone)",
    )
    group.add_argument(
        "--rotation", type=whole, choices=(3, 4), help="multiplications per rotation (default: 4)"
    )
