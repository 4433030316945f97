"""What can be said of a robot's design on the command line, and how it is read."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from .robot.choices import (
    CHECKS,
    FACTORISATIONS,
    FOLDS,
    FORMULATIONS,
    FUNCTIONS,
    ROOTS,
    SCHEDULERS,
    STYLES,
)
from .robot.loading import shipped_robots
from .robot.topology import TOLERANCE
from .target import TARGETS

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


def robot_command(
    commands: Any, name: str, run: Any, about: str, several: bool = False
) -> argparse.ArgumentParser:
    """A command about a robot; ``several``: at several initiation intervals."""
    command = commands.add_parser(name, help=about, description=about)
    _robot(command, "?" if name == "compare" else None)
    command.add_argument(
        "--function",
        "--functions",
        type=functions,
        action="extend",
        metavar="NAME[,NAME]",
        help="what to compute; several share one graph, and the option may be repeated. "
        "id: inverse dynamics, tau from q, qd, qdd; fd: forward dynamics, qdd from q, qd, tau; "
        "m: mass matrix; minv: its inverse; did: tau and its gradients dtau_dq, dtau_dqd; "
        "dfd: qdd and its gradients dqdd_dq, dqdd_dqd; difd: dqdd_dq, dqdd_dqd from q, qd, qdd "
        "and a given Minv; of an accelerator also euler and rk4: q and qd after so many steps "
        "(default: the design's, else id)",
    )
    command.add_argument(
        "--formulation",
        choices=FORMULATIONS,
        help="of the gradients: composite bodies (default, half the multiplications), or "
        "recursive, derivatives carried from body to body as others do",
    )
    command.add_argument(
        "--factorisation",
        choices=FACTORISATIONS,
        help="how minv, fd and dfd invert the mass matrix: ltdl, factors with the tree's "
        "sparsity; mminvgen, articulated bodies; auto (default), the cheaper for this robot",
    )
    command.add_argument("--width", type=int, metavar="BITS", help="of words (default: 18)")
    command.add_argument(
        "--error",
        type=float,
        metavar="RMS",
        help="relative error of every output array (such as 1e-4) in place of a width: each word "
        "gets the bits that this takes, more than a hardware multiplier's only where it must",
    )
    command.add_argument("--target", choices=tuple(TARGETS), help="default: ecp5-85f")
    command.add_argument(
        "--ii",
        type=numbers if several else int,
        metavar="K[,K]" if several else "K",
        help="initiation interval: a task every K cycles on a K-th of the multipliers (default: "
        + ("those up to 32 that save some)" if several else "1)"),
    )
    command.add_argument(
        "--multipliers",
        type=int,
        metavar="N",
        help="hardware multipliers to use, in place of --ii: the smallest interval that fits",
    )
    command.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        help="of a folded design: list (default, seconds), or exact (OR-tools CP-SAT, minutes: the "
        "shortest latency, often proven)",
    )
    command.add_argument(
        "--style",
        choices=STYLES,
        help="throughput (default); or latency, the fewest cycles from start to done within the "
        "multipliers that there are",
    )
    command.add_argument(
        "--clock",
        type=float,
        metavar="NS",
        help="with --style latency: operations chained within a slow clock of this period, not "
        "pipelined for a fast one",
    )
    _base(command)
    command.add_argument(
        "--root",
        choices=ROOTS,
        help="a floating base's own coordinates: free (default), part of the function; given, its "
        "motion comes in and only the joints' rows and columns come out; ignored, it is held still",
    )
    command.add_argument(
        "--base-link",
        metavar="LINK",
        help="the link that a floating base holds: best, where the tree is least deep, or a name "
        "(default: the file's root)",
    )
    _mimic(command)
    command.add_argument(
        "--gravity", type=float, nargs=3, metavar=("X", "Y", "Z"), help="default: 0 0 -9.81 m/s²"
    )
    command.add_argument(
        "--snap",
        type=float,
        metavar="TOL",
        help="angles this near [rad] to a multiple of 90° become it (default: 1e-5; 0: none)",
    )
    command.add_argument(
        "--external-forces", nargs="*", metavar="LINK", help='links with a force input, or "all"'
    )
    command.add_argument(
        "--angles",
        choices=("on-chip", "sincos"),
        help="make sines on the chip (default), or take sines and cosines as inputs",
    )
    command.add_argument(
        "--rotation", type=int, choices=(3, 4), help="multiplications per rotation (default: 4)"
    )
    command.add_argument(
        "--fold",
        choices=FOLDS,
        help="what --ii and --multipliers fold: limbs, n limbs that are alike up to signs take "
        "turns in the hardware of one; joints, the joints of a chain do, in the least logic; "
        "none, operations share multipliers; auto (default), limbs where there are such, and in "
        "accelerators the columns of a product",
    )
    if name in ("info", "generate"):
        _accelerator_options(command)
    command.set_defaults(run=run)
    return command


def _accelerator_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--accelerator",
        action="store_const",
        const=True,
        help="one accelerator for all functions, or those that --function names: each task says "
        "which it wants; --ii and --multipliers then speak of the slowest function",
    )
    command.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help="of an accelerator: tasks under way at a time, a power of two (default: as many as "
        "keep it busy)",
    )
    command.add_argument(
        "--mix",
        metavar="NAME=K[,NAME=K]",
        help="of an accelerator: so many tasks of each function come together, once every --ii "
        "cycles; each stage is made as fast as that takes (default: any function alone)",
    )
    command.add_argument(
        "--in-order",
        action="store_const",
        const="issued",
        dest="order",
        help="of an accelerator: results as their tasks came, not as they finish",
    )


def topology_command(commands: Any, name: str, run: Any) -> argparse.ArgumentParser:
    about = "a tree's branches, the arrays of modules that serve them, and its best root"
    command = commands.add_parser(
        name, help=about, description=TOPOLOGY, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _robot(command)
    _base(command)
    _mimic(command)
    command.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        metavar="X",
        help="limbs are alike where they differ by no more than this part of their length, mass "
        "and moments (default: %(default)g); what differs by a little more is listed",
    )
    command.add_argument(
        "--turns",
        type=count,
        metavar="N",
        help="most limbs of the longest kind in one array (default: all that are alike: fewest "
        "modules; 1: the longest limb alone sets the pace)",
    )
    command.add_argument(
        "--reroot", action="store_true", help="as seen from the best root; needs a floating base"
    )
    command.add_argument("-o", "--output", metavar="SVG", type=Path, help="draw it, too")
    command.set_defaults(run=run)
    return command


def _robot(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    command.add_argument(
        "robot",
        metavar="ROBOT",
        nargs=nargs,
        default="iiwa14",
        help=f"a URDF, a YAML design that names one, or one of {', '.join(shipped_robots())}",
    )


def _base(command: argparse.ArgumentParser) -> None:
    command.add_argument("--base", choices=("fixed", "floating"), help="default: fixed")


def _mimic(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--mimic",
        choices=("fold", "independent"),
        help="a mimic joint follows its master (default), or is free as in Pinocchio's default",
    )


def folder_command(commands: Any, name: str, run: Any, about: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=about, description=about)
    command.add_argument("folder", metavar="DIR", help="what generate wrote")
    command.set_defaults(run=run)
    return command


def choices_of(options: argparse.Namespace) -> dict[str, Any]:
    forces = options.external_forces
    functions = tuple(options.function) if options.function else None
    accelerator = getattr(options, "accelerator", None)
    if accelerator and functions is None:
        functions = FUNCTIONS
    return {
        "functions": functions,
        "width": options.width,
        "error": options.error,
        "target": options.target,
        "base": options.base,
        "mimic": options.mimic,
        "gravity": tuple(options.gravity) if options.gravity else None,
        "snap": options.snap,
        "external_forces": tuple(forces) if forces is not None else None,
        "angles": options.angles,
        "rotation": options.rotation,
        "formulation": options.formulation,
        "factorisation": options.factorisation,
        "root": options.root,
        "base_link": options.base_link,
        "ii": options.ii,
        "multipliers": options.multipliers,
        "scheduler": options.scheduler,
        "style": options.style,
        "clock": options.clock,
        "fold": options.fold,
        "accelerator": accelerator,
        "slots": getattr(options, "slots", None),
        "order": getattr(options, "order", None),
        "mix": getattr(options, "mix", None),
    }


def functions(text: str) -> tuple[str, ...]:
    try:
        return tuple(CHECKS["functions"](text.split(",")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError("whole numbers with commas between") from None


def positive(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("a number above 0")
    return number


def seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("not negative")
    return number
