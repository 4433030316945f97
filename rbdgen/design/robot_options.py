"""The options of a robot: its base, its loops and friction, and the limits of its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import checks
from .choices import LARGEST_SNAP, ROOTS
from .nested import JointDrivetrain, MotionLimits
from .option import LIMITS, NAMES, OF_TREES, ROBOT, option


@dataclass(frozen=True)
class RobotOptions:
    """How the robot's file is read, and how far and fast the robot moves.

    ``robot`` is the path of the URDF.
    """

    robot: str
    base: str = option(
        "fixed",
        checks.OneOf("fixed", "floating"),
        "fixed (default), or floating: free to move",
        ROBOT,
        commands=OF_TREES,
    )
    mimic: str = option(
        "fold",
        checks.OneOf("fold", "independent"),
        "fold (default): a mimic joint follows its master; independent: it is free, as in "
        "Pinocchio's default",
        ROBOT,
        commands=OF_TREES,
    )
    open_loops: bool = option(
        False,
        checks.flag,
        "omit elements that close loops or couple joints (connect, weld, tendons, second parents "
        "of links, joints within <gazebo>), and compute the open tree (default: such a robot is "
        "refused)",
        ROBOT,
        commands=OF_TREES,
        line={"action": "store_const", "const": True},
    )
    xacro: Mapping[str, str] | None = option(
        None,
        checks.arguments,
        "an argument of a xacro file; may be repeated (default: the file's defaults)",
        ROBOT,
        commands=OF_TREES,
        use=NAMES,
        line={"action": "append", "metavar": "NAME:=VALUE"},
    )
    root: str = option(
        "free",
        checks.OneOf(*ROOTS),
        "role of a floating base's coordinates: free (default), part of the function; given, the "
        "base's motion is an input, and outputs have only the joints' rows and columns; ignored, "
        "the base does not move; each, for an accelerator: each task selects the role by its "
        "function code",
        ROBOT,
    )
    base_link: str | None = option(
        None,
        checks.base_name,
        "the link to which a floating base's joint is attached: best, where the tree is least "
        "deep, or a name (default: the file's root)",
        ROBOT,
        line={"metavar": "LINK"},
    )
    friction: bool = option(
        True,
        checks.flag,
        "omit joints' damping and friction; rotors' inertias (armature) remain",
        ROBOT,
        flags=("--no-friction",),
        line={"action": "store_const", "const": False},
    )
    friction_width: Any = option(
        None,
        checks.number_by_joint,
        "speed in rad/s or m/s from which on friction has its full size, for every joint or those "
        "named (default: the design's, else 0.1 rad/s and 0.01 m/s)",
        ROBOT,
        line={"metavar": "X[,JOINT=X]"},
    )
    joints: Mapping[str, JointDrivetrain] = option(
        dict,
        None,
        "rotors' inertias, damping and friction by joint name; they override the file's",
    )
    gravity: tuple[float, float, float] | None = option(
        None,
        checks.gravity,
        "in the base's frame (default: {default})",
        ROBOT,
        usual="the robot's, else 0 0 -9.81 m/s²",
        each=float,
        line={"nargs": 3, "metavar": ("X", "Y", "Z")},
    )
    snap: float | None = option(
        None,
        checks.real(f"an angle from 0 to {LARGEST_SNAP} rad", 0, LARGEST_SNAP, unset=True),
        "angles within this [rad] of a multiple of 90° are rounded to it (default: 1e-5 in words, "
        "0 in floating point)",
        ROBOT,
        line={"metavar": "TOL"},
    )
    alike: float = option(
        0.0,
        checks.real("a part of a limb's size, from 0 to less than 1", 0, 1, below=True),
        "limbs whose lengths, masses and moments differ by at most this part are unified, so that "
        "they can be time-multiplexed. The first one's parameters replace those of the others "
        "(default: 0, none; rbdgen topology prints the differences)",
        ROBOT,
        line={"metavar": "X"},
    )
    velocity: Any = option(
        None,
        checks.number_by_joint,
        "rad/s or m/s, for every joint or those named (default: the design's, else the URDF's, "
        "else 10 rad/s and 2 m/s)",
        LIMITS,
        line={"metavar": "X[,JOINT=X]"},
    )
    acceleration: Any = option(
        None,
        checks.number_by_joint,
        "rad/s² or m/s², for every joint or those named (default: the design's, else 10)",
        LIMITS,
        line={"metavar": "X[,JOINT=X]"},
    )
    effort: Any = option(
        None,
        checks.number_by_joint,
        "N·m or N, for the inputs of forward dynamics: for every joint or those named (default: "
        "the design's, else the efforts of the accelerations)",
        LIMITS,
        line={"metavar": "X[,JOINT=X]"},
    )
    limits: MotionLimits = option(
        MotionLimits,
        None,
        "the limits of every joint, of external forces, of a payload and of contacts",
    )
    joint_limits: Mapping[str, MotionLimits] = option(
        dict,
        None,
        "limits by joint name, which override the former; in a file, limits: joints:",
    )
