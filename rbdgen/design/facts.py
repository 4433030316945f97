"""Facts of a robot and of a design, for reports and for the design's manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..system.named_word import NamedWord
from ..system.records import Record
from .coordinates import CoordinateError
from .limits import LimitRow

Operations = Mapping[str, int]  # by kind: mul, mulc, add, neg, sincos, recip


@dataclass(frozen=True)
class Rewritten(Record):
    """Operations that are left after the rewrite called ``name``."""

    name: str
    operations: Operations


@dataclass(frozen=True)
class Chosen(Record):
    """The choices that made a design fit its part, as in `Fitted`."""

    note: str
    fits: bool
    ii: int | None
    fold: str


@dataclass(frozen=True)
class DrivetrainRow(Record):
    """A joint's rotor, damping and friction, with ``Drivetrain``'s numbers and units."""

    joint: str
    armature: float
    damping: float
    friction: float
    friction_width: float


@dataclass(frozen=True)
class RobotFacts(Record):
    """A robot before fixed point: joints, rewrites, operations.

    ``merged``: links that are fixed to their parents; ``drivetrains``: of joints that have any;
    ``limits``: those that the design is for.
    """

    robot: str
    file: str
    functions: tuple[str, ...]
    base: str
    root: str
    base_link: str | None
    bodies: int
    joints: int
    depth: int
    nq: int
    nv: int
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    merged: tuple[str, ...]
    drivetrains: tuple[DrivetrainRow, ...]
    operations: Operations
    rewrites: tuple[Rewritten, ...]
    limits: tuple[LimitRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Width(Record):
    """The width of a word: its bits, and how many of them are fractional."""

    width: int
    fraction: int


@dataclass(frozen=True)
class Formats(Record):
    """Words by name. A name may be in both."""

    input: Mapping[str, Width]
    output: Mapping[str, Width]


@dataclass(frozen=True)
class Ranges(Record):
    """How many signals could overflow by their operands' words: those of which it is ``proven``
    that no state within the limits makes them, and those whose ranges were ``searched``."""

    proven: int
    searched: int


@dataclass(frozen=True)
class Limbs(Record):
    """How many limbs take turns, 1 for none, and the operations of one, or of all there are."""

    in_turn: int
    operations: Operations


@dataclass(frozen=True)
class Area(Record):
    """Estimated cells of a design; ``error``: the model's, relative RMS where it was fitted."""

    luts: int
    logic: int
    memory: int
    flip_flops: int
    block_rams: int
    error: float


def pace_of(latency: int, interval: int, multipliers: int) -> str:
    """How fast a core is, and on how much."""
    every = "every cycle" if interval == 1 else f"every {interval} cycles"
    return f"latency {latency} cycles, a task {every}, {multipliers} multipliers"


@dataclass(frozen=True)
class BoardLine(Record):
    """The cost of a function's calls to a board.

    Bytes of a task's and of a result's frame; µs of a call of one task, without the core's, and
    tasks a second of many, by a serial line of 3 Mbaud and by gigabit Ethernet.
    """

    task_bytes: int
    result_bytes: int
    uart_call_us: int
    uart: int
    udp_call_us: int
    udp: int


@dataclass(frozen=True)
class CoreFacts(RobotFacts):
    """A design of its own: its words, what the passes left, its schedule.

    ``latency``, ``initiation_interval`` [cycles], ``clock`` [ns]; ``estimated`` is None of a family
    without an area model, ``fitted`` of a design that was not made to fit. ``largest_errors``:
    array → how far an entry is off, at most, unless a flag rises; None where that is not known;
    empty of a design whose words are all searched. ``errors``: in states at random, of each
    coordinate. ``lines``: function → its tasks on the line to
    a board, where there is one function.
    """

    width: int
    formats: Formats
    lowered_operations: Operations
    adder_bits: int
    mean_width: float
    ranges: Ranges
    largest_errors: Mapping[str, float | None]
    latency: int
    initiation_interval: int
    multipliers: int
    limbs: Limbs
    estimated: Area | None
    target: str
    style: str
    clock: float | None
    fitted: Chosen | None
    lines: Mapping[str, BoardLine]
    errors: tuple[CoordinateError, ...] = ()

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        pace = pace_of(self.latency, self.initiation_interval, self.multipliers)
        return f" on {self.target}: {pace}"


@dataclass(frozen=True, kw_only=True)
class Operand(NamedWord):
    """An input of a function, as ``qdd[2]``, and the ``word`` of a task it comes in, as ``u[2]``.

    ``turns``: of an angle [rad], after how many it means the same again; None where never.
    """

    word: str
    turns: int | None = None


@dataclass(frozen=True)
class FunctionFacts(Record):
    """A function of an accelerator: its words, its rate [cycles].

    ``latency_of``: "first task" after reset, alone; or, about, each "step" of a rollout.
    ``route``: stage → those that its results go to.
    """

    code: int
    inputs: tuple[Operand, ...]
    outputs: tuple[NamedWord, ...]
    interval: int
    latency: int
    latency_of: str
    route: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class ResultWords(Record):
    """How many words a result has at most, and the bits of the widest."""

    words: int
    width: int


@dataclass(frozen=True)
class StageFacts(Record):
    """A stage of an accelerator."""

    interval: int
    latency: int
    multipliers: int
    limbs_in_turn: int
    operations: Operations


@dataclass(frozen=True)
class AcceleratorFacts(Record):
    """Functions with their words, stages with their rates.

    ``slots``: tasks under way; 0 in a design without, whose tasks compute all functions.
    """

    slots: int
    order: str
    multipliers: int
    functions: Mapping[str, FunctionFacts]
    words: tuple[NamedWord, ...]
    result: ResultWords
    stages: Mapping[str, StageFacts]


@dataclass(frozen=True)
class EstimatedAccelerator(AcceleratorFacts):
    """The same, about what it maps to, and its tasks on the line to a board."""

    estimated: Area | None
    lines: Mapping[str, BoardLine]


@dataclass(frozen=True)
class AcceleratedFacts(RobotFacts):
    """A robot's functions on an accelerator."""

    fitted: Chosen | None
    accelerator: EstimatedAccelerator
    errors: tuple[CoordinateError, ...] = ()

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        return f", an accelerator: {self.accelerator.multipliers} multipliers"
