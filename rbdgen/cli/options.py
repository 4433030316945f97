"""Commands, the options that several of them share, and a design's from the table of options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..design.choices import EXECUTORS, LANGUAGES
from ..design.effects import unread_in
from ..design.functions import WHOLE
from ..design.loading import shipped_robots
from ..design.option import GROUPS, Option
from ..design.options import OPTIONS
from ..robot.model import ALIKE
from ..system.quoting import listed
from .arguments import (
    Parser,
    assignment,
    checked,
    count,
    examples,
    listed_choices,
    number,
    numbers,
    whole,
)

EVERY = listed(WHOLE)
# The defaults in which commands differ, by option; of all others the table of options has them.
OF_TASKS = {"functions": f"the design's, else id; with --accelerator {EVERY}"}
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "info": OF_TASKS,
    "generate": OF_TASKS,
    "states": {"functions": f"the arrays of {EVERY}"},
    "explore": {
        **OF_TASKS,
        "formulation": "composite and recursive of functions with gradients, else auto",
        "ii": "1 to 6, 8, 10, 12, 16, 20, 24, 32 where multipliers are saved, of accelerators "
        "all; with --quick all that fit",
        "fold": "auto; several are compared; with --quick none",
    },
    "compare": {
        "functions": "did and difd, whatever the design's are",
        "angles": "sincos for did and difd, else on-chip",
        "gravity": "0 0 0 for did and difd, as others have built them; else the robot's",
        "target": "xcup",
        "ii": "1, 8 and 24, of which those are left out for which the part has too few multipliers",
    },
}
# The options that the first help of a command shows, where the whole is longer than a screen.
DESIGNS = ("functions", "base", "target", "ii", "error", "accelerator", "frames")
OFTEN: Mapping[str, tuple[str, ...]] = {
    "info": DESIGNS,
    "topology": ("base", "reroot", "output"),
    "states": ("functions", "base", "states", "seed", "output"),
    "evaluate": ("model", "input", "output", "functions", "base"),
    "fit": ("margin", "output", "functions", "base"),
    "generate": ("to", "output", *DESIGNS),
    "explore": ("functions", "base", "target", "ii", "widths", "quick", "no_synthesis", "output"),
    "compare": ("functions", "ii", "target", "design", "pinocchio", "cpu", "output"),
    "synthesize": ("target", "place_and_route", "speed", "seeds", "frequency"),
    "board": ("list", "functions", "ii", "load", "link", "simulate", "check", "port"),
}
# Options that moved: command → option → where what it did is now.
MOVED: Mapping[str, Mapping[str, str]] = {"simulate": {"--waves": "rbdgen waves DIR"}}
WORDS: Mapping[type, Any] = {str: str, int: whole, float: number}


def design_options(made: Parser, command: str) -> None:
    """Add the options that the command has, in the parts of its help."""
    own = [said for said in OPTIONS.values() if said.check and command in said.commands]
    for title in GROUPS:
        if those := [said for said in own if said.group == title]:
            where = _acting(those) if command == "generate" else None
            group = made.add_argument_group(title, where)
            for said in those:
                add_option(group, said.key, command)
    for said in own:
        if not said.group:
            add_option(made, said.key, command)


def _acting(options: Sequence[Option]) -> str | None:
    """The languages in which options of a part of the help act, unless that is all of them."""
    found = [own for own in LANGUAGES if {said.key for said in options} - unread_in(own)]
    return None if found == [*LANGUAGES] else f"of --to {listed(found)}"


def shown_of_languages(made: Parser, words: Sequence[str]) -> None:
    """Leave out of a help what acts in none of the languages that ``--to`` names in ``words``."""
    said = [own.removeprefix("--to=") for own in words if own.startswith("--to=")]
    said += [own for before, own in pairwise(words) if before == "--to"]
    names = [name for own in said for name in own.split(",") if name in LANGUAGES]
    if names:
        made.leave_out(frozenset.intersection(*map(unread_in, names)))


def add_option(
    group: argparse._ActionsContainer, key: str, command: str = "", help: str = ""
) -> None:
    """Add one of the table's options; ``help`` of a command that says it in other words."""
    said = OPTIONS[key]
    default = DEFAULTS.get(command, {}).get(key, said.usual)
    text = help or said.help.replace("{default}", default)
    group.add_argument(*said.options(), dest=key, help=text, **_read(said, command))


def _read(said: Option, command: str) -> Mapping[str, Any]:
    """How argparse reads an option."""
    if command in said.lists:
        one = said.line.get("metavar", said.key.upper())
        several = partial(listed_choices, said.key) if said.choices else numbers
        return {**said.line, "type": several, "metavar": f"{one}[,{one}]"}
    if said.line.get("action") == "store_const":
        return said.line
    read = WORDS[said.each] if said.each else checked(said.key, said.separator)
    if said.choices and said.line.keys().isdisjoint(("nargs", "metavar")):
        return {"choices": said.choices, "type": read if said.each else str}
    return {**said.line, "type": read}


def choices_of(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of Design that the options of a command set."""
    found = {}
    for key, said in OPTIONS.items():
        value = getattr(options, key, None) if options.command in said.commands else None
        if isinstance(value, list):
            mappings = all(isinstance(one, Mapping) for one in value) and value
            # of two arguments of a name the last
            value = {k: v for one in value for k, v in one.items()} if mappings else tuple(value)
        if value is not None:
            found[key] = value
    if found.get("accelerator"):
        found.setdefault("functions", WHOLE)
    return found


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


WISHES = ("latency", "rate", "power")


def wishes(made: Parser, group: Any = None, power: bool = True) -> None:
    """Add the options of commands that choose a design for a latency, a rate, and a ``power``."""
    group = group or made.add_argument_group("a design that is chosen")
    group.add_argument(
        "--latency",
        metavar="TIME",
        help="the smallest design of hardware whose result should be there within this time (such "
        "as 3us) of its task, in whatever cycle that comes. The clock is estimated; synthesize "
        "--place-and-route says whether it is reached. The part is the smallest ECP5, unless a "
        "target or a board is given",
    )
    group.add_argument(
        "--rate",
        metavar="RATE",
        help="the same for so many tasks a second of the core alone, without a link (such as 1MHz)",
    )
    if power:
        group.add_argument(
            "--power",
            metavar="WATTS",
            help="the same for at most so many watts of a core (such as 200mW) at that rate, or at "
            "full rate; estimated, without the part's standby",
        )


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
    made.usage = f"{made.prog} [OPTION ...] {'[ROBOT]' if name == 'compare' else 'ROBOT'}"
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
        help=f"a URDF, xacro or MJCF file, or one of {', '.join(shipped_robots())}; or a YAML "
        "design that names one and whose choices hold where no option says another, a name of "
        "robot_descriptions, or - for standard input",
    )


def folder_command(commands: Any, name: str, about: str, *shown: str) -> Parser:
    made = command(commands, name, about, *shown)
    made.add_argument("folder", metavar="DIR", help="what generate wrote")
    return made
