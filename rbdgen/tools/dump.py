"""Value change dumps: read as a clocked design sees them, and with words as the numbers they are.

A dump's reals are shown by every viewer; a binary point of a word is known to few.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from .toolchain import SimulationError

Int64 = NDArray[np.int64]

Lines = Iterator[tuple[int, str]]  # with their numbers
WIDEST = 62  # bits of a signal that is read
REMARKS = ("$version", "$timescale", "$date", "$comment")

_VARIABLE = re.compile(r"\$var \w+ (\d+) (\S+) (.+?)(?: \[\d+(?::\d+)?\])? \$end")
_BITS = re.compile(r"b([01]+) (\S+)")
_BIT = re.compile(r"([01])(\S+)")
_REAL = re.compile(r"r\S+ \S+")


def read_vcd(file: Path, clock: str, names: Collection[str]) -> dict[str, Int64]:
    """Name → (cycles,): a signal's value before each rising edge of ``clock``, not negative.

    Names are those of the scopes and of the signal, joined by "/".

    Raises SimulationError for a file that cannot be read or is no such dump, with its line, and for
    a signal that it lacks or that has more than 62 bits.
    """
    try:
        with file.open(encoding="ascii") as text:
            lines = ((number, line.strip()) for number, line in enumerate(text, 1))
            codes = _codes(file, lines, {clock, *names})
            value = dict.fromkeys(codes.values(), 0) | {codes[clock]: 1}
            found: dict[str, list[int]] = {name: [] for name in names}
            for changes in _changes(file, lines, value.keys()):
                if changes.get(codes[clock]) and not value[codes[clock]]:
                    for name, values in found.items():
                        values.append(value[codes[name]])
                value |= changes
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"{file}: {error}") from None
    return {name: np.array(values, np.int64) for name, values in found.items()}


def _codes(
    file: Path, lines: Lines, wanted: Collection[str], all_of_them: bool = True
) -> dict[str, str]:
    """The name of each wanted signal in the dump's body; the header's lines are used up.

    ``all_of_them``: a signal that is not there is an error; else it is left out.
    """
    codes: dict[str, str] = {}
    scopes: list[str] = []
    for number, line in lines:
        match line.split():
            case ["$scope", _, scope, "$end"]:
                scopes.append(scope)
            case ["$upscope", "$end"] if scopes:
                scopes.pop()
            case ["$var", *_] if found := _VARIABLE.fullmatch(line):
                name = "/".join([*scopes, found[3]])
                if name in wanted and int(found[1]) > WIDEST:
                    raise SimulationError(
                        f"{file}:{number}: {name} has {found[1]} bits, at most {WIDEST} are read"
                    )
                codes[name] = found[2]
            case ["$enddefinitions", "$end"]:
                missing = [name for name in wanted if name not in codes]
                if missing and all_of_them:
                    raise SimulationError(f"{file}: no signal {min(missing)}")
                return {name: codes[name] for name in wanted if name in codes}
            case [first, *_] if first not in REMARKS:
                raise SimulationError(f"{file}:{number}: not of a dump's header: {line}")
    raise SimulationError(f"{file}: ends within its header")


def _changes(file: Path, lines: Lines, codes: Collection[str]) -> Iterator[dict[str, int]]:
    """The new values that each point of time brings for the signals called ``codes``."""
    time, new = -1, dict[str, int]()
    for number, line in lines:
        if line[:1] == "#":
            yield new
            new = {}
            if not line[1:].isdigit() or int(line[1:]) <= time:
                raise SimulationError(f"{file}:{number}: time does not advance: {line}")
            time = int(line[1:])
        elif line and not _REAL.fullmatch(line):
            found = _change(line)
            if not found or time < 0:
                raise SimulationError(f"{file}:{number}: no change of a value: {line}")
            if found[2] in codes:
                new[found[2]] = int(found[1], 2)
    yield new


def _change(line: str) -> re.Match[str] | None:
    """The value and the code of a line that changes a signal; of one bit it has no blank."""
    return _BITS.fullmatch(line) or _BIT.fullmatch(line)


@dataclass(frozen=True)
class Number:
    """A real variable of a dump: the signed word of ``width`` bits called ``signal``, as `read_vcd`
    has it, times 2^-``fraction``. ``scope`` and ``name``: letters, digits and underscores.

    ``where``: a signal and its value; while it has another one, the number stays as it is.
    """

    scope: str
    name: str
    signal: str
    width: int
    fraction: int
    where: tuple[str, int] | None = None


NUMBERS = "numbers"  # the scope around the scopes of numbers


def add_numbers(source: Path, target: Path, numbers: Sequence[Number]) -> list[Number]:
    """Write the dump ``source`` as ``target``, with real variables that follow its words.

    Returns the numbers whose signals are in the dump; the others are left out. Raises
    SimulationError as `read_vcd` does.
    """
    try:
        with source.open(encoding="ascii") as text, target.open("w", encoding="ascii") as out:
            return _follow(source, text, out, numbers)
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"{source}: {error}") from None


def _follow(source: Path, text: TextIO, out: TextIO, numbers: Sequence[Number]) -> list[Number]:
    """The same, of files that are open."""
    head = list(_head(text))
    lines = ((number, line.strip()) for number, line in enumerate(head, 1))
    wanted = {own.signal for own in numbers} | {own.where[0] for own in numbers if own.where}
    codes = _codes(source, lines, wanted, all_of_them=False)
    numbers = [own for own in numbers if own.signal in codes]
    # codes that are longer than any of the dump's own
    longest = max(len(found[2]) for line in head if (found := _VARIABLE.search(line)))
    made = {own: f"{'!' * longest}{k}" for k, own in enumerate(numbers)}
    out.writelines([*head[:-1], *_scopes(made), head[-1]])
    followers: dict[str, list[Number]] = {}
    for own in numbers:
        for name in (own.signal, own.where[0]) if own.where else (own.signal,):
            followers.setdefault(codes[name], []).append(own)
    words, changed = dict.fromkeys(followers, 0), dict[Number, None]()
    for line in chain(text, "#"):
        if line[0] == "#":  # what changed until here, at once
            for own in changed:
                if own.where is None or words[codes[own.where[0]]] == own.where[1]:
                    word = words[codes[own.signal]]
                    value = (word - (word >> (own.width - 1) << own.width)) / 2.0**own.fraction
                    out.write(f"r{value!r} {made[own]}\n")
            changed = {}
        if line != "#":
            out.write(line)
        found = _change(line.rstrip())
        if found and found[2] in followers:
            words[found[2]] = int(found[1], 2)
            changed |= dict.fromkeys(followers[found[2]])
    return numbers


def _head(text: Iterable[str]) -> Iterator[str]:
    """The lines up to the end of a dump's header."""
    for line in text:
        yield line
        if line.strip() == "$enddefinitions $end":
            return


def _scopes(made: dict[Number, str]) -> Iterator[str]:
    """Declarations of the real variables, by scope."""
    yield f"$scope module {NUMBERS} $end\n"
    for scope in dict.fromkeys(own.scope for own in made):
        yield f"$scope module {scope} $end\n"
        for own, code in made.items():
            if own.scope == scope:
                yield f"$var real 64 {code} {own.name} $end\n"
        yield "$upscope $end\n"
    yield "$upscope $end\n"
