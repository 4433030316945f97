"""What can be said of a robot's design on the command line: the options, and their choices."""

from __future__ import annotations

import argparse
from typing import Any

from ..design.choices import (
    ALIASES,
    CODES,
    FACTORISATIONS,
    FOLDS,
    FORMULATIONS,
    HELD,
    INTEGRATORS,
    INVERSES,
    NETWORKS,
    PARAMETERS,
    PRODUCTS,
    ROOTS,
    SCHEDULERS,
    STYLES,
    TOLERANCE,
    WHOLE,
)
from ..design.target import TARGETS
from .arguments import checked, number, numbers, whole


def computed(group: argparse._ArgumentGroup) -> None:
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
        f"(default: the design's, else id). Pinocchio's names do too: {', '.join(ALIASES)}",
    )
    group.add_argument(
        "--formulation",
        choices=FORMULATIONS,
        help="auto (default): with --style latency that of the fewest cycles, else composite; "
        "composite: from link to link, gradients of composite bodies, the fewest "
        "multiplications; recursive: gradients carried from link to link as others do; "
        "logarithmic: sums in one frame for each tree, far fewer cycles on long chains; of id "
        "alone: linear, from link to link with one matrix a joint, and Lathrop's of 1985, "
        "lathrop-linear and lathrop-log, to compare with",
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
        help="make sines on the chip (default), or take sines and cosines as inputs",
    )
    group.add_argument(
        "--code",
        choices=CODES,
        help="of --to cpp and cuda: inlined (default), all operations one after another; loops, a "
        "function for each kind of joint and of pair of joints, called by tables: far less code, "
        "for robots of many joints; of id, m, did, difd, minv and fd",
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


def base(group: argparse._ActionsContainer) -> None:
    """How the base is held, and who moves mimic joints."""
    group.add_argument(
        "--base", choices=("fixed", "floating"), help="floating: free to move (default: fixed)"
    )
    group.add_argument(
        "--mimic",
        choices=("fold", "independent"),
        help="a mimic joint follows its master (default), or is free as in Pinocchio's default",
    )


def modelled(group: argparse._ArgumentGroup) -> None:
    """What counts of the robot."""
    group.add_argument(
        "--root",
        choices=ROOTS,
        help="a floating base's own coordinates: free (default), part of the function; given, its "
        "motion comes in and only the joints' rows and columns come out; ignored, it is held "
        "still; each, of an accelerator: a task says by its function's code which of them",
    )
    group.add_argument(
        "--base-link",
        metavar="LINK",
        help="the link that a floating base holds: best, where the tree is least deep, or a name "
        "(default: the file's root)",
    )
    group.add_argument(
        "--no-friction",
        action="store_const",
        const=False,
        dest="friction",
        help="leave joints' damping and friction out; rotors' inertias (armature) stay",
    )
    group.add_argument(
        "--friction-width",
        type=checked("friction_width"),
        metavar="X[,JOINT=X]",
        help="rad/s or m/s from which on friction has its whole size, of every joint, or of those "
        "named (default: the design's, else 0.1 rad/s and 0.01 m/s)",
    )
    group.add_argument(
        "--gravity", type=number, nargs=3, metavar=("X", "Y", "Z"), help="default: 0 0 -9.81 m/s²"
    )
    group.add_argument(
        "--snap",
        type=checked("snap"),
        metavar="TOL",
        help="angles this near [rad] to a multiple of 90° become it (default: 1e-5; 0: none)",
    )
    group.add_argument(
        "--alike",
        type=checked("alike"),
        metavar="X",
        help="limbs that differ by no more than this part of their length, mass and moments are "
        "made alike, so that they can take turns: the first one's figures stand for all (default: "
        "0, none; rbdgen topology says by how much they differ)",
    )


def limits(group: argparse._ArgumentGroup) -> None:
    """What states words have room for."""
    for name, unit, otherwise in (
        ("velocity", "rad/s or m/s", "the design's, else the URDF's, else 10 rad/s and 2 m/s"),
        ("acceleration", "rad/s² or m/s²", "the design's, else 10"),
        ("effort", "N·m or N, of what forward dynamics takes", "as much as the accelerations take"),
    ):
        group.add_argument(
            f"--{name}",
            type=checked(name),
            metavar="X[,JOINT=X]",
            help=f"{unit}: of every joint, or of those named (default: {otherwise})",
        )


def words(group: argparse._ArgumentGroup) -> None:
    """How long words are, or how exact results."""
    width(group)
    group.add_argument(
        "--guard",
        type=checked("guard"),
        metavar="BITS",
        help="more bits of words that no multiplier reads: they take no multipliers, and long sums "
        "are more exact (default: 1)",
    )
    group.add_argument(
        "--proven",
        nargs="?",
        const="all",
        type=checked("proven"),
        metavar="WHICH",
        help="words that no state within the limits overflows, by a proof: one-bit, those that it "
        "costs a bit or less; all, as when nothing is named, or a line says which has none "
        "(default: none; info says what is proven of searched words)",
    )
    group.add_argument(
        "--error",
        type=checked("error"),
        metavar="RMS",
        help="relative error of every output array (such as 1e-4) in place of a width: each word "
        "gets the bits that this takes, more than a hardware multiplier's only where it must",
    )


def width(group: argparse._ArgumentGroup) -> None:
    """How long words are."""
    group.add_argument(
        "--width", type=checked("width"), metavar="BITS", help="of words (default: 18)"
    )


def sized(group: argparse._ArgumentGroup, several: bool) -> None:
    """The part, the interval and what takes turns; ``several``: intervals."""
    group.add_argument("--target", choices=tuple(TARGETS), help="the part (default: ecp5-85f)")
    group.add_argument(
        "--ii",
        type=numbers if several else checked("ii"),
        metavar="K[,K]" if several else "K",
        help="initiation interval: a task every K cycles on a K-th of the multipliers (default: "
        + ("those up to 32 that save some)" if several else "the shortest that fits the part)"),
    )
    group.add_argument(
        "--multipliers",
        type=checked("multipliers"),
        metavar="N",
        help="hardware multipliers to use, in place of --ii: the smallest interval that fits",
    )
    group.add_argument(
        "--fold",
        choices=FOLDS,
        help="what --ii and --multipliers fold: limbs, n limbs that are alike up to signs take "
        "turns in the hardware of one; joints, joints do, in the least logic; "
        "none, operations share multipliers; auto (default), limbs where there are such, and in "
        "accelerators the columns of a product",
    )
    if not several:
        group.add_argument(
            "--no-fit",
            action="store_const",
            const=False,
            dest="fit",
            help="a task every cycle, however large, where neither --ii, --multipliers nor --fold "
            "says otherwise (default: the fastest design that fits the part)",
        )
    group.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        help="of a folded design: list (default, seconds), or exact (OR-tools CP-SAT, minutes: the "
        "shortest latency, often proven)",
    )
    group.add_argument(
        "--style",
        choices=STYLES,
        help="throughput (default); or latency, the fewest cycles from start to done within the "
        "multipliers that there are",
    )
    group.add_argument(
        "--clock",
        type=checked("clock"),
        metavar="NS",
        help="with --style latency: operations chained within a slow clock of this period, not "
        "pipelined for a fast one",
    )


def accelerator(group: argparse._ArgumentGroup) -> None:
    """What accelerators alone are asked."""
    group.add_argument(
        "--accelerator",
        action="store_const",
        const=True,
        help="one accelerator for id, fd, m, minv, did, dfd and difd, or for what --function "
        "names: each task says which it wants; --ii and --multipliers then speak of the slowest "
        "function",
    )
    group.add_argument(
        "--slots",
        type=checked("slots"),
        metavar="N",
        help="tasks under way at a time, a power of two (default: as many as keep it busy)",
    )
    group.add_argument(
        "--mix",
        type=checked("mix"),
        metavar="NAME=K[,NAME=K]",
        help="so many tasks of each function come together, once every --ii cycles; each stage is "
        "made as fast as that takes (default: any function alone)",
    )
    group.add_argument(
        "--in-order",
        action="store_const",
        const="issued",
        dest="order",
        help="results as their tasks came, not as they finish",
    )


def choices_of(options: argparse.Namespace) -> dict[str, Any]:
    """What the options say of a design: fields of Design, None where they say nothing."""
    forces = options.external_forces
    functions = tuple(options.function) if options.function else None
    accelerator = getattr(options, "accelerator", None)
    if accelerator and functions is None:
        functions = WHOLE
    return {
        "functions": functions,
        "width": options.width,
        "guard": options.guard,
        "proven": options.proven,
        "error": options.error,
        "target": options.target,
        "base": options.base,
        "mimic": options.mimic,
        "velocity": options.velocity,
        "acceleration": options.acceleration,
        "effort": options.effort,
        "friction": options.friction,
        "friction_width": options.friction_width,
        "gravity": tuple(options.gravity) if options.gravity else None,
        "snap": options.snap,
        "alike": options.alike,
        "external_forces": tuple(forces) if forces is not None else None,
        "payload": options.payload,
        "parameters": options.parameters,
        "tolerance": options.tolerance,
        "frames": options.frames,
        "contact": options.contact,
        "contact_damping": options.contact_damping,
        "angles": options.angles,
        "rotation": options.rotation,
        "formulation": options.formulation,
        "network": options.network,
        "products": options.products,
        "frame": options.frame,
        "factorisation": options.factorisation,
        "inverse": options.inverse,
        "nearby": options.nearby,
        "step": options.step,
        "integrator": options.integrator,
        "root": options.root,
        "base_link": options.base_link,
        "code": options.code,
        "float_error": options.float_error,
        "ii": options.ii,
        "multipliers": options.multipliers,
        "scheduler": options.scheduler,
        "style": options.style,
        "clock": options.clock,
        "fold": options.fold,
        "fit": getattr(options, "fit", None),
        "accelerator": accelerator,
        "slots": getattr(options, "slots", None),
        "order": getattr(options, "order", None),
        "mix": getattr(options, "mix", None),
    }
