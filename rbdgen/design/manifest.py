"""The manifest of a generated design, for hosts and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..codegen.interface import Interface
from ..system.named_word import NamedWord
from ..system.records import Record
from .facts import AcceleratorFacts, Chosen, Formats, Operations, Ranges, Rewritten, pace_of
from .limits import LimitRow


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


@dataclass(frozen=True)
class Payload(Record):
    """Fields of a stream, packed from bit 0 on."""

    fields: tuple[NamedWord, ...]


@dataclass(frozen=True)
class OverflowPorts(Record):
    """Flags that stay set until they are cleared, and the results that they are of."""

    sticky: str
    clear: str
    bits: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Register(NamedWord):
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
    registers: tuple[Register, ...]


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
class Ports(Record):
    """The ports of a design: clock, reset and what brings it up; the streams; a core's flags, and
    its registers for many tasks."""

    clock: str
    reset: str
    start: str
    input: Payload
    output: Payload
    overflow: OverflowPorts | None = None
    registers: RegisterPorts | None = None


@dataclass(frozen=True)
class ShellFacts(Record):
    """A shell of a core; ``tdata``: bits of its streams."""

    top: str
    tdata_in: int
    tdata_out: int
    beats_in: int
    beats_out: int
    clocks_per_task: int


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


@dataclass(frozen=True)
class DesignManifest(Record):
    """A design in any language. ``files``: name → SHA-256."""

    LAST = ("files",)

    generator: str
    name: str
    robot: str
    functions: tuple[str, ...]
    choices: Mapping[str, Any]
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    base: str
    root: str
    base_link: str | None
    nq: int
    nv: int
    gravity: tuple[float, ...]
    limits: tuple[LimitRow, ...]
    notes: tuple[str, ...]
    files: Mapping[str, str]


@dataclass(frozen=True)
class HardwareManifest(DesignManifest):
    """A design in Verilog. ``PICTURE``: the file that shows it."""

    PICTURE: ClassVar[str]

    angles: Mapping[str, Angle]
    target: str
    width: int
    multipliers: Multipliers
    fitted: Chosen | None
    ports: Ports


@dataclass(frozen=True)
class CoreManifest(HardwareManifest):
    """A design each task of which computes all functions.

    ``tasks``: the same as an accelerator of one stage, `core`, and no slots.
    """

    PICTURE = "pipeline.svg"

    style: str
    clock: float | None
    limbs_in_turn: int
    joints_in_turn: bool
    latency: int
    initiation_interval: int
    operations: Operations
    rewrites: tuple[Rewritten, ...]
    formats: Formats
    ranges: Ranges
    tasks: AcceleratorFacts
    axi: Mapping[str, ShellFacts]
    regions: Mapping[str, Region]
    fifos: tuple[Fifo, ...]
    numbers: tuple[NumberFacts, ...] | None = None

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        pace = pace_of(self.latency, self.initiation_interval, self.multipliers.hardware)
        return f" on {self.target}: {pace}"


@dataclass(frozen=True)
class BitFacts(Record):
    """A bit of a register."""

    name: str
    position: int


@dataclass(frozen=True)
class RegisterFacts(Record):
    """A register of a shell of tasks."""

    name: str
    offset: int
    meaning: str
    bits: tuple[BitFacts, ...]


@dataclass(frozen=True)
class TaskShellFacts(Record):
    """A shell of an accelerator; ``lanes``: words of a beat."""

    lanes: int
    clocks_per_task: Mapping[str, int]
    registers: tuple[RegisterFacts, ...]


@dataclass(frozen=True)
class AcceleratorManifest(HardwareManifest):
    """An accelerator. ``identity``: of robot and design, 16 digits."""

    PICTURE = "accelerator.svg"

    accelerator: AcceleratorFacts
    axi: Mapping[str, TaskShellFacts]
    packet_format: int
    identity: str
    numbers: tuple[NumberFacts, ...] | None = None

    @property
    def tasks(self) -> AcceleratorFacts:
        """The operands and results of tasks, as of a design of one stage."""
        return self.accelerator

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        return f", an accelerator for {self.target}"


@dataclass(frozen=True)
class ProgramManifest(DesignManifest):
    """Functions in another language than Verilog.

    ``operations``: of the graph over real numbers; ``facts``: what the language has besides.
    """

    language: str
    interface: Interface
    operations: Operations
    facts: Mapping[str, Any]
