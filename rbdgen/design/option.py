"""An option of a design: all that is said of it stands in one place, beside its field.

The fields of `Design` are made by `option`: name and type are the field's, and the rest is an
`Option`. The command line's parser, the checks of a design and of its file, `--help`, and the pages
of these documents read them there. Which options go with which others is in `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field
from typing import Any

# The parts of a command's help, in their order.
COMPUTED, ROBOT = "what is computed", "the robot"
LIMITS, WORDS = "limits, which words have room for", "words"
PART, ACCELERATOR = "the part, and how much of it", "an accelerator"
GROUPS = (COMPUTED, ROBOT, LIMITS, WORDS, PART, ACCELERATOR)

# Commands that take a design's options.
OF_ROBOTS = ("info", "states", "evaluate", "fit", "generate", "explore", "compare")
OF_ONE_INTERVAL = tuple(name for name in OF_ROBOTS if name not in ("explore", "compare"))
OF_TREES = (*OF_ROBOTS, "topology")
OF_BOARDS = (*OF_ROBOTS, "board")

# What reads an option: all that computes; words and hardware; their schedule; a program over real
# numbers; a program in C; registers; or none of these, since it says what others are called or
# made of.
NUMBERS, HARDWARE, SCHEDULES = "numbers", "hardware", "schedules"
TEXTS, IN_C, REGISTERS, NAMES = "texts", "c", "registers", "names"


@dataclass(frozen=True)
class Option:
    """One choice, as Python, a design's file and the command line have it.

    ``check``   takes a value from Python, or the text of a file or of a command line, and returns
                it in its final type; ValueError says what would be right. None: a block of a file,
                which `loading` reads.
    ``help``    one sentence or several, as ``--help`` has them; ``{default}`` stands for a default
                in which commands differ, which is ``usual`` where they do not.
    ``group``   the part of the help; "" for none. ``commands``: those that have it; none: files and
                Python alone.
    ``use``     what reads it, as above.
    ``flags``   on the command line; unless said the key with hyphens. ``line``: what argparse is
                told besides. ``separator``: between several values in one word; ``each``: the type
                of one word, where several make a value or a number is chosen. ``lists``: commands
                that take a list of values, to try one after another.
    ``clear``   whether one of its ``choices`` alone says what it is of, in a folder's name.
    ``key``, ``default``, ``type``  are the field's.
    """

    check: Callable[[Any], Any] | None
    help: str
    group: str = ""
    commands: tuple[str, ...] = OF_ROBOTS
    use: str = NUMBERS
    usual: str = ""
    flags: tuple[str, ...] = ()
    line: Mapping[str, Any] = field(default_factory=dict)
    separator: str = ""
    each: type | None = None
    clear: bool = True
    lists: tuple[str, ...] = ()
    key: str = ""
    default: Any = None
    type: str = ""

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that there are, if they are a few."""
        return getattr(self.check, "known", ())

    def options(self) -> tuple[str, ...]:
        """The names that set it on the command line."""
        return self.flags or (f"--{self.key.replace('_', '-')}",)

    def words(self, value: Any) -> list[str] | None:
        """The words of the command line that set it to ``value``; None where none do."""
        name = self.options()[0]
        if self.check is None:
            return None
        if self.line.get("action") == "store_const":
            return {self.line["const"]: [name], self.default: []}.get(value)
        if isinstance(value, Mapping) and self.line.get("action") == "append":
            return [word for own in value for word in (name, f"{own}:={value[own]}")]
        values = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(own, str | int | float) for own in values):
            return None
        said = [str(own) for own in values]
        if not self.separator:
            return [name, *said]
        if any(self.separator in own for own in said):
            return None
        return [name, self.separator.join(said)]


def option(
    default: Any, check: Callable[[Any], Any] | None, help: str, group: str = "", **others: Any
) -> Any:
    """The field of a choice; a ``default`` that can be called makes it. ``others``: of `Option`."""
    said = {"option": Option(check, help, group, **others)}
    if isinstance(default, type):
        return field(default_factory=default, metadata=said)
    return field(default=default, metadata=said)


def option_of(own: Field[Any]) -> Option | None:
    """The option that a field was made by, with its name, default and type; None for others."""
    said: Option | None = own.metadata.get("option")
    if said is None:
        return None
    default = own.default_factory() if own.default_factory is not MISSING else own.default
    return Option(**{**vars(said), "key": own.name, "default": default, "type": str(own.type)})
