"""Lines for people: notes, progress, refusals, and the text of others quoted in them.

A note says what is left out, approximated or chosen for the user. A refusal says what is wrong,
where, and what cures it. Text of others, such as the names of a robot's links, is quoted as each
language that is written needs it.

What a file says is data: the comment, string or page that it stands in goes on behind it. Each
`Language` says how such text is made fit for its comments and strings (`plain`), in which another
character stands for each that would mean something, and how it is written so that a program has it
as it is in the file (`literal`). `rbdgen.system.templates` fills all templates by these.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Self

CHANGES = " (changes results)"


def changing(note: str) -> str:
    """The note, marked as one that makes results differ: from what the file says in full, or from
    what Pinocchio computes of it. The mark is text, so that files of all kinds carry it."""
    return note + CHANGES


def idle(key: str, said: object, serves: str, cure: str = "leave it out") -> str:
    """A line on a choice that nothing reads: its value, what it is for, and what would be right."""
    return f"{key}: {said} is for {serves}; {cure}"


def changes_results(note: str) -> bool:
    """Whether a note is marked so."""
    return note.endswith(CHANGES)


def listed(words: Iterable[str], last: str = "and") -> str:
    """``a, b and c``: the ``last`` two are joined by a word."""
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


Progress = Callable[[str], None]
QUIET = 10.0  # s without a line, after which a step says how far it is


class Steps:
    """Progress in numbered steps, callable as one.

    ``expected``: step → seconds that it takes, of those whose time is known, about. While it is
    open, `QUIET` seconds do not pass without a line.
    """

    def __init__(self, say: Progress, names: Sequence[str], quiet: float = QUIET) -> None:
        self._say, self._names, self._quiet = say, names, quiet
        self.expected: dict[str, float] = {}
        self._now = ""
        self._began = self._said = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __call__(self, line: str) -> None:
        self._said = time.monotonic()
        self._say(line)

    def begin(self, name: str) -> None:
        """Begin the step of that name, with a line that has the seconds it and those after it take,
        where they are known."""
        self._now, self._began = name, time.monotonic()
        own = self.expected.get(name)
        self(self._where() + (f": about {own:.0f} s" if own else "") + self._left(0.0))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _where(self) -> str:
        return f"step {self._names.index(self._now) + 1} of {len(self._names)}, {self._now}"

    def _left(self, gone: float) -> str:
        """The time until the end, where it is known."""
        names = self._names[self._names.index(self._now) :]
        if not all(name in self.expected for name in names):
            return ""
        now, *later = (self.expected[name] for name in names)
        return f"; about {max(now - gone, 0.0) + sum(later):.0f} s until the end"

    def _watch(self) -> None:
        while not self._over.wait(max(self._said + self._quiet - time.monotonic(), 0.01)):
            if self._now and time.monotonic() - self._said >= self._quiet:
                gone = time.monotonic() - self._began
                self(f"{self._where()}: {gone:.0f} s so far{self._left(gone)}")


class Refusal(Exception):
    """An error that the command line prints as it is, in one line, without a traceback."""

    usage = False  # whether it is of what was typed


_LONE = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")  # surrogates that stand for no byte
UNSEEN = "\N{REPLACEMENT CHARACTER}"


def printable(text: str, but: str = "") -> str:
    """``text`` with U+FFFD for each character that is not to be seen, but for those of ``but``.

    Such are controls, with which lines end and terminals are steered, marks that turn the direction
    of writing, and all spaces but the common one. Bytes of a file's name that Python had no
    character for, in a locale that has ASCII alone, are read as UTF-8.
    """
    if not text.isprintable():
        text = _LONE.sub(UNSEEN, text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() or c in but else UNSEEN for c in text)


def lines(text: str) -> str:
    """`printable`, of a text of several lines."""
    return printable(text, "\n")


@dataclass(frozen=True)
class Language:
    """A language, or several that have comments and strings in common.

    ``active``: what means something within a comment, a string or running text; ``instead``: what
    stands there in its place.
    """

    active: re.Pattern[str]
    literal: Callable[[str], str] | None = None
    instead: str = "_"

    def plain(self, text: str) -> str:
        """``text`` as part of a comment or of a string, or as code in Markdown."""
        return self.active.sub(self.instead, printable(text))


def _in_bytes(text: str) -> str:
    """A string of C, C++ or Verilog, of the text's bytes in UTF-8."""
    own = text.encode("utf-8", "surrogatepass")
    kept = bytes(range(0x20, 0x7F)).translate(None, b'"\\?')  # ?: trigraphs
    return '"' + "".join(chr(b) if b in kept else f"\\{b:03o}" for b in own) + '"'


def _in_code_points(text: str) -> str:
    """A string of Python, or a double-quoted one of YAML."""

    def spelt(c: str) -> str:
        if c in '"\\':
            return f"\\{c}"
        return c if c.isascii() and c.isprintable() else f"\\U{ord(c):08X}"

    return '"' + "".join(map(spelt, text)) + '"'


def _in_prose(text: str) -> str:
    """Running text of Markdown; in its code a backslash would be one."""
    return _MARKDOWN.sub(lambda found: "".join(f"\\{c}" for c in found[0]), printable(text))


# code, HTML, emphasis, entities, cells of a table; links, of which addresses become some by
# themselves; underscores that are not within a word
_MARKDOWN = re.compile(r"[`<>*\\&|~$@]|\](?=[(\[:])|:(?=//)|(?<=www)\.|(?<!\w)_+|_+(?!\w)")
# what ends a string, joins lines, is a macro of Verilog; ends or begins a comment; trigraphs
C = Language(re.compile(r'["\\`]|(?<=\*)/|(?<=/)\*|(?<=\?)\?'), _in_bytes)
PYTHON = Language(re.compile(r"[\"'\\]"), _in_code_points)
# braces that have no partner count in comments, too
TCL = Language(re.compile(r'["\\$;\[\]{}]'))
CMAKE = Language(re.compile(r'["\\$;#@()<>\[\]]'))
YAML = Language(re.compile(r"[^\w ./+-]"), _in_code_points)
VHDL = Language(re.compile(r"[^ !#-~]"))  # ASCII, without quotation marks
MARKDOWN = Language(_MARKDOWN, _in_prose, "-")

LANGUAGES = {
    **dict.fromkeys(("c", "h", "cpp", "cc", "hpp", "inc", "cu", "v", "sv"), C),
    **dict.fromkeys(("py", "pyi", "toml"), PYTHON),
    **dict.fromkeys(("tcl", "xdc", "mk", "cfg"), TCL),
    "txt": CMAKE,  # CMakeLists.txt
    **dict.fromkeys(("core", "yaml"), YAML),
    "vhd": VHDL,
    "md": MARKDOWN,
}


def markup(text: str) -> str:
    """``text`` as it stands in HTML or XML, in an element or in a quoted attribute."""
    return escape(lines(text))
