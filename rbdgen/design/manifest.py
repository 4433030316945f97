"""The manifest of a generated design, for hosts and tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..codegen.interface import ArrayInterface
from ..system.records import NamedWord, Record
from .coordinates import Field
from .facts import ChosenFacts, HardwareFacts, RobotFacts


@dataclass(frozen=True)
class Angle(Record):
    """How a host makes an angle whose sine and cosine the design takes: ``multiplier`` times the
    coordinate of v's order, plus ``offset``."""

    joint: str
    coordinate: int
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Multipliers(Record):
    """The numbers of multipliers by what they are made of."""

    hardware: int
    logic: int


@dataclass(frozen=True, kw_only=True)
class PortField(Field):
    """A word of a payload, from bit ``low`` on."""

    low: int = 0

    @property
    def high(self) -> int:
        """Its highest bit in the payload."""
        return self.low + self.width - 1


@dataclass(frozen=True)
class StreamPayload(Record):
    """Fields of a stream, packed from bit 0 on."""

    fields: tuple[PortField, ...]

    @classmethod
    def packed(cls, words: Iterable[Field]) -> Self:
        """The words, each behind the one before."""
        fields, low = [], 0
        for word in words:
            fields.append(PortField(**vars(word), low=low))
            low += word.width
        return cls(tuple(fields))


@dataclass(frozen=True)
class OverflowPorts(Record):
    """Flags that stay set until they are cleared, and the results that they are of."""

    sticky: str
    clear: str
    bits: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ParameterRegister(NamedWord):
    """A register for many tasks; ``initial``: the word in it until it is written."""

    initial: int


@dataclass(frozen=True)
class RegisterPorts(Record):
    """Ports that write registers for many tasks: in each cycle of ``write`` the ``word`` (signed,
    ``width`` bits) enters the last of ``registers``, and all others move up one. ``first``: the
    word in the first one."""

    word: str
    write: str
    first: str
    width: int
    registers: tuple[ParameterRegister, ...]


@dataclass(frozen=True)
class NumberFacts(Record):
    """A number that a robot of the design's model has to itself, and what words are made for."""

    joint: str
    what: str
    unit: str
    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class ManifestPorts(Record):
    """The ports of a design: clock, reset and what brings it up; the streams; a core's flags, and
    its registers for many tasks."""

    clock: str
    reset: str
    start: str
    input: StreamPayload
    output: StreamPayload
    overflow: OverflowPorts | None = None
    registers: RegisterPorts | None = None

    @property
    def results(self) -> tuple[str, ...]:
        """The names of a result's words, without flags."""
        return tuple(word.name for word in self.output.fields if word.signed)


@dataclass(frozen=True)
class BitFacts(Record):
    """A bit of a register."""

    name: str
    position: int
    meaning: str = ""


@dataclass(frozen=True)
class RegisterFacts(Record):
    """A register of a shell of tasks; all can be read."""

    name: str
    offset: int
    meaning: str
    bits: tuple[BitFacts, ...]
    writable: bool = False


@dataclass(frozen=True, kw_only=True)
class ShellFacts(Record):
    """A shell; ``clocks_per_task``: of each function, or one number where a task is of all.

    ``tdata``: bits of its streams, ``beats``: of a task and of a result, both of a core's shell.
    ``lanes``: words of a beat, ``registers``: both of a shell of tasks.
    """

    top: str | None = None
    tdata_in: int | None = None
    tdata_out: int | None = None
    beats_in: int | None = None
    beats_out: int | None = None
    lanes: int | None = None
    clocks_per_task: int | Mapping[str, int]
    registers: tuple[RegisterFacts, ...] | None = None


@dataclass(frozen=True)
class Example(Record):
    """A task with a random state within the limits, and its result: words by name, as they are in
    the payloads. ``functions``: those that the task asks for; a core's asks for all."""

    functions: tuple[str, ...]
    task: Mapping[str, int]
    result: Mapping[str, int]


@dataclass(frozen=True)
class TickFacts(Record):
    """A controller: the module ``top`` has a tick every ``cycles`` around the core.

    ``watchdog``: ticks that a command may be late. ``delay``: cycles from a tick to its efforts, at
    least and at most. ``state``, ``efforts``: fields of the ports of that name. ``command``: words
    of a packet, of 32 bits each. ``safe``: word of a command → that of the safe law, or the word of
    the state that it is. ``trip``: bits of the port, the first in bit 0.
    """

    top: str
    cycles: int
    watchdog: int
    delay: tuple[int, ...]
    state: tuple[PortField, ...]
    command: tuple[Field, ...]
    efforts: tuple[PortField, ...]
    safe: Mapping[str, str]
    trip: tuple[str, ...]


@dataclass(frozen=True)
class Region(Record):
    """The cycle in which a region's first register loads."""

    fires: int


@dataclass(frozen=True)
class Fifo(Record):
    """A channel between regions."""

    from_: str
    to: str
    words: int
    bits: int
    depth: int
    capacity: int


@dataclass(frozen=True, kw_only=True)
class DesignManifest(RobotFacts):
    """A design's folder, in any language. ``files``: name → SHA-256."""

    LAST = ("files",)

    generator: str
    name: str
    choices: Mapping[str, Any]
    gravity: tuple[float, ...]
    files: Mapping[str, str]

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        raise NotImplementedError

    @property
    def picture(self) -> str | None:
        """The file that shows it."""
        return None


@dataclass(frozen=True, kw_only=True)
class HardwareManifest(HardwareFacts, DesignManifest):
    """A design in Verilog.

    ``identity``: of robot and design, 16 digits; ``packet_format``: of tasks of one function. What
    is time-multiplexed, regions and FIFOs are of a core, and None of others. ``wanted``: what it
    was chosen for, and whether it should reach that. ``ticks``: of a controller that has any.
    """

    angles: Mapping[str, Angle]
    multipliers: Multipliers
    ports: ManifestPorts
    axi: Mapping[str, ShellFacts]
    identity: str = ""
    packet_format: int | None = None
    limbs_in_turn: int | None = None
    joints_in_turn: bool | None = None
    regions: Mapping[str, Region] | None = None
    fifos: tuple[Fifo, ...] | None = None
    numbers: tuple[NumberFacts, ...] | None = None
    examples: tuple[Example, ...] = ()
    wanted: ChosenFacts | None = None
    ticks: TickFacts | None = None

    @property
    def picture(self) -> str:
        """The file that shows it."""
        return "pipeline.svg" if self.is_core else "accelerator.svg"

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> Self:
        """The record that ``data`` is; an accelerator of the version before has other keys."""
        if isinstance(data, Mapping) and "accelerator" in data:
            of_before = {"tasks": data["accelerator"], "style": "throughput", "clock": None}
            data = {**of_before, **data}
        return super().from_json(data, where)


@dataclass(frozen=True, kw_only=True)
class ProgramManifest(DesignManifest):
    """Functions in another language than Verilog; ``facts``: what the language has besides."""

    language: str
    interface: ArrayInterface
    facts: Mapping[str, Any]

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        return f" in {self.language}"
