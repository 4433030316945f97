"""Commands and what several of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..design.choices import EXECUTORS
from ..design.loading import shipped_robots
from ..robot.model import ALIKE
from .arguments import Parser, assignment, count, examples, number
from .design_options import design_options

TOPOLOGY = """\
How a pipeline with a module for each joint is organised after the robot's tree.

A branch is a chain of joints between links where the tree forks. Each branch
has an array of modules of its own, except that limbs which are alike up to
signs - legs, arms - may be time-multiplexed in one. A joint's module handles a column
for each coordinate that moves its body; the work of an array is the columns of
all limbs that it serves. The limbs of most work are time-multiplexed in one array, which
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
    """Add the option of all commands that write a folder."""
    made.add_argument(
        "--force",
        action="store_true",
        help="replace what rbdgen has made there of another robot or of other choices",
    )


def queued(made: Parser, jobs: str) -> None:
    """Add the options of all commands that several machines can serve; ``jobs``: the default."""
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
    """Add the option of all commands that run the contents of a folder."""
    made.add_argument(
        "--trust",
        action="store_true",
        help="take the folder's files as they are, though they changed since generate wrote them",
    )


def printed(made: Parser) -> None:
    """Add the options of every command, the last ones in its help."""
    group = made.add_argument_group("what is printed")
    group.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, nothing else there"
    )
    group.add_argument("--quiet", action="store_true", help="no progress on standard error")


def robot_command(commands: Any, name: str, about: str, *shown: str) -> Parser:
    """A command about a robot."""
    made = command(commands, name, about, *shown)
    _robot(made, "?" if name == "compare" else None)
    design_options(made, name)
    return made


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
    design_options(made, "topology")
    group = made.add_argument_group("the arrays")
    group.add_argument(
        "--tolerance",
        type=number,
        default=ALIKE,
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
        help="a URDF, xacro or MJCF file, a YAML design that names one and whose choices hold "
        "where no option says another, - for standard input, a "
        f"name of robot_descriptions, or one of {', '.join(shipped_robots())}",
    )


def folder_command(commands: Any, name: str, about: str, *shown: str) -> Parser:
    made = command(commands, name, about, *shown)
    made.add_argument("folder", metavar="DIR", help="what generate wrote")
    return made
