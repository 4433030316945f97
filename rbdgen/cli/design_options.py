"""The command line's options for a robot's design, from the table of them, and their choices."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..design.functions import WHOLE
from ..design.option import GROUPS, Option
from ..design.options import OPTIONS
from .arguments import Parser, checked, number, numbers, whole

EVERY = f"{', '.join(WHOLE[:-1])} and {WHOLE[-1]}"
# The defaults in which commands differ, by option; of all others the table of options has them.
OF_TASKS = {"functions": f"the design's, else id; with --accelerator {EVERY}"}
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "info": OF_TASKS,
    "generate": OF_TASKS,
    "states": {"functions": f"the arrays of {EVERY}"},
    "explore": {
        "formulation": "composite and recursive of functions with gradients, else auto",
        "ii": "those of 1 to 6, 8, 10, 12, 16, 20, 24 and 32 that save multipliers; with --quick, "
        "all for which the part has the multipliers",
        "fold": "auto; with --quick none",
    },
    "compare": {
        "functions": "did and difd, whatever the design's are",
        "angles": "sincos for did and difd, else on-chip",
        "gravity": "0 0 0 for did and difd, as others have built them; else the robot's",
        "target": "xcup",
        "ii": "1, 8 and 24, of which those are left out for which the part has too few multipliers",
    },
}
WORDS: Mapping[type, Any] = {str: str, int: whole, float: number}


def design_options(made: Parser, command: str) -> None:
    """Add the options that the command has, in the parts of its help."""
    own = [said for said in OPTIONS.values() if said.check and command in said.commands]
    for title in GROUPS:
        if those := [said for said in own if said.group == title]:
            group = made.add_argument_group(title)
            for said in those:
                add_option(group, said.key, command)
    for said in own:
        if not said.group:
            add_option(made, said.key, command)


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
        many = f"{said.line['metavar']}[,{said.line['metavar']}]"
        return {**said.line, "type": numbers, "metavar": many}
    if said.line.get("action") == "store_const":
        return said.line
    read = WORDS[said.each] if said.each else checked(said.key, said.separator)
    if said.choices and "nargs" not in said.line:
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
