"""Figures of the pages that ``rbdgen info`` prints: ``python -m tests.figures`` says which moved.

tests/figures.txt has a command, then the places of pages that hold its figures: a page, then a
part of its text with the figures as ``{latency}``, broken into lines anywhere; ``…`` stands for
any text within a cell. ``--write`` puts the new figures in their places.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "tests/figures.txt"
FIELD = re.compile(r"\{([a-z.]+)\}")
NUMBER = r"(\d+(?:\.\d+)?)"
NAMES = {"interval": "initiation_interval"}  # where the report has another name
THOUSANDS = "luts"  # printed in thousands


@dataclass(frozen=True)
class Line:
    """A part of a line of ``page`` with figures in it."""

    page: Path
    template: str

    @property
    def fields(self) -> list[str]:
        return FIELD.findall(self.template)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches the part as the page has it, a group for each figure."""
        parts = (re.escape(text) for text in FIELD.sub("\0", self.template).split("\0"))
        return re.compile(NUMBER.join(parts).replace("…", "[^|]*?").replace("\\ ", r"[\s\\]+"))

    def places(self, text: str) -> list[re.Match[str]]:
        return list(self.pattern.finditer(text))


@dataclass(frozen=True)
class Command:
    """A command of rbdgen and the lines that its figures stand in."""

    words: str
    lines: tuple[Line, ...]

    def facts(self) -> dict[str, Any]:
        """What it prints, as data. CalledProcessError where it fails."""
        words = shlex.split(self.words.removeprefix("rbdgen "))
        made = subprocess.run(
            [sys.executable, "-m", "rbdgen", *words, "--json", "--quiet"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
        )
        return dict(json.loads(made.stdout))


def listed(text: str) -> list[Command]:
    """The commands of tests/figures.txt."""
    found = []
    for block in text.strip().split("\n\n"):
        words, *lines = block.splitlines()
        split = (line.partition(" ") for line in lines)
        found.append(Command(words, tuple(Line(ROOT / page, rest) for page, _, rest in split)))
    return found


def figure(facts: Mapping[str, Any], name: str) -> float:
    """A field of what ``info`` printed; ``id.latency`` is of an accelerator's function."""
    if "." in name:
        function, _, name = name.partition(".")
        return float(facts["tasks"]["functions"][function][name])
    if name in facts["operations"]:
        return float(facts["operations"][name])
    if name == THOUSANDS:
        return float(facts["estimated"]["luts"]) / 1000
    return float(facts[NAMES.get(name, name)])


def moved(line: Line, facts: Mapping[str, Any]) -> Iterator[tuple[str, re.Match[str], int, str]]:
    """Each figure that is not as printed now: its field, its place, its group, the new text."""
    for place in line.places(line.page.read_text()):
        for k, name in enumerate(line.fields, 1):
            digits = len(place[k].partition(".")[2])
            now = f"{figure(facts, name):.{digits}f}"
            if now != place[k]:
                yield name, place, k, now


def main() -> int:
    """Compare every figure, or those of commands that hold ``--only``; 1 where one moved."""
    parser = argparse.ArgumentParser(prog="python -m tests.figures", description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="put the new figures in their places")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="commands that have TEXT in them"
    )
    options = parser.parse_args()
    found = 0
    for command in listed(PLACE.read_text()):
        if options.only not in command.words:
            continue
        print(command.words, file=sys.stderr, flush=True)
        facts = command.facts()
        for line in command.lines:
            for name, place, k, now in reversed(list(moved(line, facts))):
                text = line.page.read_text()
                number = text.count("\n", 0, place.start()) + 1
                page = line.page.relative_to(ROOT)
                print(f"{page}:{number}: {name} {place[k]}, now {now}", flush=True)
                found += 1
                if options.write:
                    line.page.write_text(text[: place.start(k)] + now + text[place.end(k) :])
    print(f"{found} figures moved")
    return int(found > 0 and not options.write)


if __name__ == "__main__":
    sys.exit(main())
