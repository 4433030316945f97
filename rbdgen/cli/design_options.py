"""The command line's options for a robot's design, and their choices."""

from __future__ import annotations

import argparse
from typing import Any

from ..design.choices import (
    ERROR,
    FOLDS,
    ROOTS,
    SCHEDULERS,
    STYLES,
    WHOLE,
)
from ..design.target import TARGETS
from .arguments import checked, number, numbers
from .defaults import Defaults


def called(group: argparse._ActionsContainer) -> None:
    """The name of all that is written."""
    group.add_argument(
        "--name",
        type=checked("name"),
        help="of files, modules, symbols, header guards and CMake targets (default: the robot, "
        "what its choices make of it, and the functions)",
    )


def base(group: argparse._ActionsContainer) -> None:
    """How the base is held, and who moves mimic joints."""
    group.add_argument(
        "--base", choices=("fixed", "floating"), help="fixed (default), or floating: free to move"
    )
    group.add_argument(
        "--mimic",
        choices=("fold", "independent"),
        help="fold (default): a mimic joint follows its master; independent: it is free, as in "
        "Pinocchio's default",
    )
    group.add_argument(
        "--open-loops",
        action="store_const",
        const=True,
        help="leave out what closes loops or couples joints (connect, weld, tendons, second "
        "parents of links, joints within <gazebo>), and compute the open tree (default: such a "
        "robot is refused)",
    )
    group.add_argument(
        "--xacro",
        action="append",
        type=checked("xacro"),
        metavar="NAME:=VALUE",
        help="an argument of a robot that is xacro; once for each (default: the file's defaults)",
    )


def modelled(group: argparse._ArgumentGroup, default: Defaults) -> None:
    """Add the options that choose how the robot is modelled."""
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
        "--gravity",
        type=number,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help=f"of the base's frame (default: {default.gravity})",
    )
    group.add_argument(
        "--snap",
        type=checked("snap"),
        metavar="TOL",
        help="angles this near [rad] to a multiple of 90° become it (default: 1e-5 in words, 0 "
        "in floating point)",
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
    """Add the options for the limits of states, by which words are sized."""
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
        help="relative error of each coordinate (such as 1e-3: of every tau[k], and of every row "
        "of a matrix, beside its own size at the limits, and ten times that at a tenth of them): "
        "each word gets the bits that this takes, more than a hardware multiplier's only where it "
        f"must (default: {ERROR:g}; of accelerators, and with --guard or --proven, --width 18)",
    )


def width(group: argparse._ArgumentGroup) -> None:
    """How long words are."""
    group.add_argument(
        "--width",
        type=checked("width"),
        metavar="BITS",
        help="of all words, in place of --error (default: 18; accelerators have these)",
    )


def sized(group: argparse._ArgumentGroup, several: bool, default: Defaults) -> None:
    """The part, the interval and what takes turns; ``several``: intervals."""
    group.add_argument(
        "--target", choices=tuple(TARGETS), help=f"the part (default: {default.target})"
    )
    group.add_argument(
        "--ii",
        type=numbers if several else checked("ii"),
        metavar="K[,K]" if several else "K",
        help="initiation interval: a task every K cycles, in hardware that is shared (default: "
        f"{default.ii})",
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
        "turns in the hardware of one; joints, joints do, in the least logic; none, operations "
        "share multipliers; auto, limbs where there are such and the interval is no longer for it, "
        "else joints where the area model says that it saves 30 %% of the LUTs and M is not "
        "inverted, else none; auto of an accelerator, stage by stage: limbs, else joints where it "
        "is large or does not fit the part, and columns of products "
        f"(default: {default.fold})",
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
    """Add the options of accelerators."""
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


def xacro_of(options: argparse.Namespace) -> dict[str, str] | None:
    """Arguments of a robot that is xacro, by name; of two of a name the last."""
    if options.xacro is None:
        return None
    return {name: value for one in options.xacro for name, value in one.items()}


def choices_of(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of Design that the options set; None for an option that is absent."""
    forces = options.external_forces
    functions = tuple(options.function) if options.function else None
    accelerator = getattr(options, "accelerator", None)
    if accelerator and functions is None:
        functions = WHOLE
    return {
        "name": getattr(options, "name", None),
        "functions": functions,
        "width": options.width,
        "guard": options.guard,
        "proven": options.proven,
        "error": options.error,
        "target": options.target,
        "base": options.base,
        "mimic": options.mimic,
        "open_loops": options.open_loops,
        "xacro": xacro_of(options),
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
