"""What can be said of a robot's design on the command line, and how it is read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..design.choices import (
    ALIASES,
    CODES,
    EXECUTORS,
    FACTORISATIONS,
    FOLDS,
    FORMULATIONS,
    INVERSES,
    NETWORKS,
    PRODUCTS,
    ROOTS,
    SCHEDULERS,
    STYLES,
    WHOLE,
)
from ..design.loading import shipped_robots
from ..design.target import TARGETS
from ..robot.topology import TOLERANCE
from .arguments import (
    Parser,
    assignment,
    checked,
    count,
    examples,
    number,
    numbers,
    whole,
)

TOPOLOGY = """\
How a pipeline with a module for each joint is organised after the robot's tree.

A branch is a chain of joints between links where the tree forks. Each branch
has an array of modules of its own, except that limbs which are alike up to
signs - legs, arms - may take turns in one. A joint's module handles a column
for each coordinate that moves its body; the work of an array is the columns of
all limbs that it serves. The limbs of most work take turns in one array, which
sets the pace; every other array serves as many limbs as keep it. A floating
robot may be rooted at another link: best is where the tree is least deep.
"""


def command(commands: Any, name: str, about: str, *shown: str, long: str = "") -> Parser:
    """A command with its examples; ``long``: the description in place of ``about``."""
    made: Parser = commands.add_parser(
        name, help=about, description=long or about, epilog=examples(*shown)
    )
    return made


def forced(made: Parser) -> None:
    """What every command has that writes a folder."""
    made.add_argument(
        "--force",
        action="store_true",
        help="replace what rbdgen has made there of another robot or of other choices",
    )


def queued(made: Parser, jobs: str) -> None:
    """What every command has whose work may be done by several machines; ``jobs``: the default."""
    group = made.add_argument_group("several machines")
    group.add_argument(
        "--jobs", type=count, metavar="N", help=f"so many pieces of work at a time ({jobs})"
    )
    group.add_argument(
        "--executor",
        choices=EXECUTORS,
        help="through submitit, as jobs of slurm's queue, or as processes of this machine: a lost "
        "one is asked for again, what is done is kept, and jobs/jobs.json says what ran where",
    )
    group.add_argument(
        "--executor-option",
        action="append",
        default=[],
        type=assignment,
        metavar="KEY=VALUE",
        help="of submitit: slurm_partition=long, mem_gb=8, timeout_min=600; may be repeated",
    )


def trusted(made: Parser) -> None:
    """What every command has that runs what a folder holds."""
    made.add_argument(
        "--trust",
        action="store_true",
        help="take the folder's files as they are, though they changed since generate wrote them",
    )


def printed(made: Parser) -> None:
    """What every command has, last in its help."""
    group = made.add_argument_group("what is printed")
    group.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else there"
    )
    group.add_argument("--quiet", action="store_true", help="no progress on standard error")


def robot_command(
    commands: Any, name: str, about: str, *shown: str, several: bool = False
) -> Parser:
    """A command about a robot; ``several``: at several initiation intervals."""
    made = command(commands, name, about, *shown)
    _robot(made, "?" if name == "compare" else None)
    _computed(made.add_argument_group("what is computed"))
    model = made.add_argument_group("the robot")
    _base(model)
    _modelled(model)
    _limits(made.add_argument_group("limits, which words have room for"))
    _words(made.add_argument_group("words"))
    _sized(made.add_argument_group("the part, and how much of it"), several)
    if name in ("info", "generate"):
        _accelerator(made.add_argument_group("an accelerator"))
    return made


def _computed(group: argparse._ArgumentGroup) -> None:
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
        "and a given Minv; g: gravity's share of tau; nle: all of tau but M qdd, from q, qd; of "
        "--frames: pose, p and R; twist, from q, qd; jac, the Jacobian J; drift, its change times "
        "qd; com and jcom: centre of mass, its Jacobian; energy: kinetic and potential, from q, "
        "qd; ag and hg: centroidal momentum matrix Ag, and Ag qd; "
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
        "sparsity; mminvgen, articulated bodies; auto (default), the cheaper for this robot; "
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
        "--external-forces", nargs="*", metavar="LINK", help='links with a force input, or "all"'
    )
    group.add_argument(
        "--frames",
        type=checked("frames", ","),
        metavar="LINK[,LINK]",
        help="the links whose frames pose, twist, jac and drift are of; fixed ones, too",
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
        "for robots of many joints; of id, m and did",
    )
    group.add_argument(
        "--rotation", type=whole, choices=(3, 4), help="multiplications per rotation (default: 4)"
    )


def _base(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--base", choices=("fixed", "floating"), help="floating: free to move (default: fixed)"
    )
    group.add_argument(
        "--mimic",
        choices=("fold", "independent"),
        help="a mimic joint follows its master (default), or is free as in Pinocchio's default",
    )


def _modelled(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--root",
        choices=ROOTS,
        help="a floating base's own coordinates: free (default), part of the function; given, its "
        "motion comes in and only the joints' rows and columns come out; ignored, it is held still",
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


def _limits(group: argparse._ArgumentGroup) -> None:
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


def _words(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--width", type=checked("width"), metavar="BITS", help="of words (default: 18)"
    )
    group.add_argument(
        "--guard",
        type=checked("guard"),
        metavar="BITS",
        help="more bits of words that no multiplier reads: they take no multipliers, and long sums "
        "are more exact (default: 1)",
    )
    group.add_argument(
        "--error",
        type=checked("error"),
        metavar="RMS",
        help="relative error of every output array (such as 1e-4) in place of a width: each word "
        "gets the bits that this takes, more than a hardware multiplier's only where it must",
    )


def _sized(group: argparse._ArgumentGroup, several: bool) -> None:
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


def _accelerator(group: argparse._ArgumentGroup) -> None:
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


def topology_command(commands: Any) -> Parser:
    made = command(
        commands,
        "topology",
        "a tree's branches, the arrays of modules that serve them, and its best root",
        "rbdgen topology hyq --base floating -o hyq.svg",
        "rbdgen topology tiago_like",
        "rbdgen topology humanoid --base floating --tolerance 0.01 --reroot",
        long=TOPOLOGY,
    )
    _robot(made)
    _base(made.add_argument_group("the robot"))
    group = made.add_argument_group("the arrays")
    group.add_argument(
        "--tolerance",
        type=number,
        default=TOLERANCE,
        metavar="X",
        help="limbs are alike where they differ by no more than this part of their length, mass "
        "and moments (default: %(default)g); what differs by a little more is listed",
    )
    group.add_argument(
        "--turns",
        type=count,
        metavar="N",
        help="most limbs of the longest kind in one array (default: all that are alike: fewest "
        "modules; 1: the longest limb alone sets the pace)",
    )
    group.add_argument(
        "--reroot", action="store_true", help="as seen from the best root; needs a floating base"
    )
    group.add_argument("-o", "--output", metavar="SVG", type=Path, help="draw it, too")
    return made


def _robot(made: Parser, nargs: str | None = None) -> None:
    made.add_argument(
        "robot",
        metavar="ROBOT",
        nargs=nargs,
        default="iiwa14",
        help="a URDF, xacro or MJCF file, a YAML design that names one, - for standard input, a "
        f"name of robot_descriptions, or one of {', '.join(shipped_robots())}",
    )


def folder_command(commands: Any, name: str, about: str, *shown: str) -> Parser:
    made = command(commands, name, about, *shown)
    made.add_argument("folder", metavar="DIR", help="what generate wrote")
    return made


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
        "frames": options.frames,
        "angles": options.angles,
        "rotation": options.rotation,
        "formulation": options.formulation,
        "network": options.network,
        "products": options.products,
        "frame": options.frame,
        "factorisation": options.factorisation,
        "inverse": options.inverse,
        "nearby": options.nearby,
        "root": options.root,
        "base_link": options.base_link,
        "code": options.code,
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
