"""Argument parsing with errors of one line, that say what was probably meant."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from copy import copy
from textwrap import fill
from typing import Any, NoReturn

from ..design.choices import LANGUAGES
from ..design.options import CHECKS
from ..robot.xml_lines import closest, did_you_mean, quoted
from ..system.quoting import printable

USAGE = 2  # exit status of a command that was typed wrong
WIDTH = 80  # columns of a screen
EVERYTHING = "all"  # the word behind --help that asks for every option
CLAUSE = re.compile(r"; |\. |, that is")  # what ends the first clause of an option's help


class Parser(argparse.ArgumentParser):
    """argparse, whose errors are one line without the usage, and whose help keeps its lines."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **kwargs)
        # given the words of a command line that asks for help: what the help is to leave out
        self.narrow: Callable[[Sequence[str]], None] = lambda _: None
        # the options that a first help shows, if the whole help is longer than a screen
        self.often: Container[str] = ()
        self.brief = False
        # options that it had once, and where what they did is now
        self.moved: Mapping[str, str] = {}

    def error(self, message: str) -> NoReturn:
        line = " ".join(message.removeprefix("argument ").split())
        if "arguments are required" in line:
            line += f"; see {self.prog} --help"
        print(f"rbdgen: {printable(line)}", file=sys.stderr)
        raise SystemExit(USAGE)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuses unknown options first: what else is wrong mostly follows from them."""
        given = sys.argv[1:] if args is None else list(args)
        if (whole := f"--help={EVERYTHING}") in given:
            at = given.index(whole)
            given[at : at + 1] = ["--help", EVERYTHING]
        if {"-h", "--help"} & {*given}:
            self.narrow(given)
            self.brief = EVERYTHING not in given
        for word in given:
            if word == "--" or (self._subparsers and not word.startswith("-")):
                break  # what follows are no options, or those of a command
            if word.startswith("--") and not self._option_of(word):
                name = word.partition("=")[0]
                if place := self.moved.get(name):
                    self.error(f"{name} moved: {place}")
                known = {option.lstrip("-"): option for option in self._options()}
                near = closest(name.lstrip("-"), known)
                hint = f"did you mean {known[near]}?" if near else f"see {self.prog} --help"
                self.error(f"no option {quoted(name)}; {hint}")
        found, extras = super().parse_known_args(given, namespace)
        if extras:
            self.error(f"{quoted(extras[0])} is one argument too many; see {self.prog} --help")
        return found, extras

    def format_help(self) -> str:
        """The help; of a long one a first screen, unless the command line asks for ``all``."""
        if not (self.brief and self.often):
            return super().format_help()
        text = self._get_formatter()
        text.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        text.add_text(self.description)
        known = [own for own in self._actions if own.help != argparse.SUPPRESS]
        shown = [own for own in known if own.dest in self.often or not own.option_strings]
        text.start_section("often used")
        for own in shown:
            first = copy(own)
            first.help = first_clause(own.help or "")
            short = [name for name in own.option_strings if len(name) == 2]
            long = [name for name in own.option_strings if len(name) > 2]
            first.option_strings = short + long[:1]
            text.add_argument(first)
        text.end_section()
        lines = []
        for group in self._action_groups:
            rest = [own for own in group._group_actions if own in known and own not in shown]
            names = ", ".join(own.option_strings[-1] for own in rest if own.option_strings)
            if names:
                line = f"{group.title}: {names}"
                lines.append(fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
        text.add_text("\n".join(lines))
        text.add_text(self.epilog)
        text.add_text(f"{self.prog} --help {EVERYTHING} explains every option.")
        return text.format_help()

    def leave_out(self, keys: Container[str]) -> None:
        """Have none of the options of these names in the help, and say of no part of it where it
        acts."""
        for action in self._actions:
            if action.dest in keys:
                action.help = argparse.SUPPRESS
        for group in self._action_groups:
            group.description = None

    def _options(self) -> list[str]:
        return [name for name in self._option_string_actions if name.startswith("--")]

    def _option_of(self, word: str) -> bool:
        """Whether argparse takes ``word`` for an option: it may be shortened, if not too much."""
        name = word.partition("=")[0]
        return any(known.startswith(name) for known in self._options())

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError:  # says how many values, and not of what
            said = self._get_formatter()
            shown = said._format_args(action, said._get_default_metavar_for_optional(action))
            many = f"{action.nargs} values" if isinstance(action.nargs, int) else "a value"
            raise argparse.ArgumentError(action, f"expects {many}: {shown}") from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        otherwise = f"; one of {', '.join(known)}"
        if isinstance(action, argparse._SubParsersAction):
            hint = did_you_mean(str(value), [*known, *self._options()], otherwise)
            self.error(f"no command {quoted(str(value))}{hint}")
        hint = did_you_mean(str(value), known, otherwise)
        raise argparse.ArgumentError(action, f"{quoted(str(value))} is unknown{hint}")


def first_clause(text: str) -> str:
    """An option's help up to the first end of a clause that is in no brackets."""
    for end in CLAUSE.finditer(text):
        before = text[: end.start()]
        if before.count("(") == before.count(")"):
            return before
    return text


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])


def checked(key: str, separator: str = "") -> Callable[[str], Any]:
    """A reader of the design's choice ``key``: what is wrong is said of the option.

    ``separator``: what stands between several; they come as a tuple.
    """

    def read(text: str) -> Any:
        try:
            return CHECKS[key](text.split(separator)) if separator else CHECKS[key](text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def listed_choices(key: str, text: str) -> tuple[Any, ...]:
    """Several values of the design's choice ``key``, with commas between."""
    read = checked(key)
    return tuple(read(own) for own in text.split(","))


def languages(text: str) -> str | tuple[str, ...]:
    """One name, or several with commas between."""
    names = tuple(text.split(","))
    for name in names:
        if name not in LANGUAGES:
            hint = did_you_mean(name, LANGUAGES, f"; one of {', '.join(LANGUAGES)}")
            raise argparse.ArgumentTypeError(f"no language {quoted(name)}{hint}")
    return names if len(names) > 1 else names[0]


def names(text: str) -> tuple[str, ...]:
    """NAME[,NAME]."""
    return tuple(text.split(","))


def assignment(text: str) -> tuple[str, Any]:
    """``key=value``, a whole number where it is one."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"KEY=VALUE, not {quoted(text)}")
    return key, int(value) if value.isdecimal() else value


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number, not {quoted(text)}") from None


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number, not {quoted(text)}") from None


def count(text: str) -> int:
    found = whole(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"at least 1, not {found}")
    return found


def numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"whole numbers with commas between, not {quoted(text)}"
        ) from None


def positive(text: str) -> float:
    found = number(text)
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"a number above 0, not {quoted(text)}")
    return found


def pair(text: str) -> tuple[float, float]:
    """Two numbers from 0 on, with a comma between."""
    parts = text.split(",")
    found = [number(part) for part in parts]
    if len(found) != 2 or not all(0 <= own < float("inf") for own in found):
        raise argparse.ArgumentTypeError(f"two numbers from 0 on, as 1e-5,1e-3; not {quoted(text)}")
    return found[0], found[1]


def seed(text: str) -> int:
    found = whole(text)
    if found < 0:
        raise argparse.ArgumentTypeError(f"not negative, as {found} is")
    return found
