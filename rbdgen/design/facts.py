"""Facts of a robot, of a design and of its simulations: for reports and the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..graph.accuracy import SCALES
from ..system.records import NamedWord, Record
from .clock import ClockEstimate, Span
from .coordinates import CoordinateError, Field, said, worst_at
from .energy import EnergyEstimate
from .limits import LimitRow
from .wishes import Wishes


@dataclass(frozen=True)
class CoreRun(Record):
    """A core's run: ``latency``, ``initiation_interval`` [cycles]; ``overflows``: states with one.

    The interval is None where no run had two tasks. ``coordinates``: the errors of each.
    ``promised``: the error that the design was made for, and ``judged`` whether the states are
    enough to judge that. ``calibration``: the robot whose words its registers held, unless their
    own. ``notes`` say what the states are too few for.
    """

    states: int
    seed: int
    bit_exact: bool
    stalled_states: int
    latency: int
    initiation_interval: int | None
    overflows: int
    promised: float | None
    coordinates: tuple[CoordinateError, ...]
    calibration: str | None = None
    judged: bool = True
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """A one-line summary."""
        worst = worst_at(self.coordinates, SCALES[0])
        return (
            f"{self.states} states, every bit equal, latency {self.latency}, "
            f"{self.overflows} overflows{', ' + said(worst, SCALES[0]) if worst else ''}"
        )


@dataclass(frozen=True)
class FunctionRun(Record):
    """A function's run: ``latency`` of a task alone, a batch's ``interval`` and whole [cycles]."""

    latency: int
    interval: float
    batch_cycles: int
    overflows: int
    coordinates: tuple[CoordinateError, ...]


@dataclass(frozen=True)
class MixedRun(Record):
    """A run of tasks of all functions, in random order."""

    tasks: int
    cycles: int


@dataclass(frozen=True)
class AcceleratorRun(Record):
    """An accelerator's run: each function alone, in batches of ``batch`` tasks, and all mixed."""

    states: int
    seed: int
    bit_exact: bool
    batch: int
    functions: Mapping[str, FunctionRun]
    mixed: MixedRun
    multipliers: int
    calibration: str | None = None

    @property
    def headline(self) -> str:
        """A one-line summary."""
        latencies = ", ".join(f"{name} {own.latency}" for name, own in self.functions.items())
        return f"every bit and tag equal; latency {latencies}"


Operations = Mapping[str, int]  # by kind: mul, mulc, add, neg, sincos, recip


@dataclass(frozen=True)
class Rewritten(Record):
    """Operations that are left after the rewrite called ``name``."""

    name: str
    operations: Operations


@dataclass(frozen=True)
class Chosen(Record):
    """The choices that made a design fit its part, as in `Choice`."""

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


@dataclass(frozen=True, kw_only=True)
class RobotFacts(Record):
    """A robot, and its functions that a design computes.

    ``limits``: those that the design is for. ``operations``: of the graph over real numbers;
    ``rewrites``: what is left of them after each, where that was counted. ``base_parameters``: of
    Yb's columns, in their order: the parameters of links that each is the sum of, with factors.
    """

    robot: str
    functions: tuple[str, ...]
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    base: str
    root: str
    base_link: str | None
    nq: int
    nv: int
    limits: tuple[LimitRow, ...]
    notes: tuple[str, ...]
    operations: Operations | None = None
    rewrites: tuple[Rewritten, ...] | None = None
    base_parameters: Mapping[str, Mapping[str, float]] | None = None


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
class OverflowFacts(Record):
    """How many signals could overflow by their operands' words: those of which it is ``proven``
    that no state within the limits makes them, and those whose ranges were ``searched``."""

    proven: int
    searched: int


@dataclass(frozen=True)
class LimbFacts(Record):
    """How many limbs are time-multiplexed, 1 for none, and the operations of one, or of all there
    are."""

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


@dataclass(frozen=True, kw_only=True)
class Operand(Field):
    """An input of a function, as ``qdd[2]``, and the ``word`` of a task it comes in, as ``u[2]``.

    ``turns``: of an angle [rad], after how many it means the same again; None where never.
    """

    word: str
    turns: int | None = None


@dataclass(frozen=True)
class FunctionFacts(Record):
    """A function of an accelerator: its words, its rate [cycles].

    ``latency_of``: "first task" after reset, alone; or, about, each "step" of a rollout.
    ``longest``: from a task that comes in any cycle, alone, to its result, at most; None in a
    folder of an earlier version.
    ``route``: stage → those that its results go to.
    """

    code: int
    inputs: tuple[Operand, ...]
    outputs: tuple[Field, ...]
    interval: int
    latency: int
    latency_of: str
    route: Mapping[str, tuple[str, ...]]
    longest: int | None = None


@dataclass(frozen=True)
class ResultWords(Record):
    """How many words a result has at most, and the bits of the widest."""

    words: int
    width: int


@dataclass(frozen=True)
class StageFacts(Record):
    """A stage of an accelerator.

    ``takes_every``: n where it takes tasks in every n-th cycle, counted from reset. ``reads``: each
    word that another stage gives, and that stage.
    """

    interval: int
    latency: int
    multipliers: int
    limbs_in_turn: int
    operations: Operations
    takes_every: int = 1
    reads: Mapping[str, str] | None = None


@dataclass(frozen=True)
class TaskFacts(Record):
    """Functions with their words, stages with their rates.

    ``slots``: tasks under way; 0 in a design without, whose tasks compute all functions.
    ``inputs``: of an accelerator's stages, those that no stage gives.
    """

    slots: int
    order: str
    multipliers: int
    functions: Mapping[str, FunctionFacts]
    words: tuple[NamedWord, ...]
    result: ResultWords
    stages: Mapping[str, StageFacts]
    inputs: tuple[NamedWord, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class HardwareFacts(RobotFacts):
    """A robot's functions in fixed point, on stages.

    ``clock`` [ns]; ``fitted`` is None of a design that was not made to fit. The last four are of a
    core, and None of others: its words, and its schedule [cycles].
    """

    target: str
    style: str
    clock: float | None
    width: int
    fitted: Chosen | None
    tasks: TaskFacts
    formats: Formats | None = None
    ranges: OverflowFacts | None = None
    latency: int | None = None
    initiation_interval: int | None = None

    @property
    def is_core(self) -> bool:
        """Whether each task computes all functions, in one stage without slots."""
        return not self.tasks.slots

    @property
    def headline(self) -> str:
        """The rest of a one-line summary, after robot and functions."""
        multipliers = f"{self.tasks.multipliers} multipliers"
        if not self.is_core:
            return f", an accelerator for {self.target}: {multipliers}"
        interval = self.initiation_interval
        every = "every cycle" if interval == 1 else f"every {interval} cycles"
        return f" on {self.target}: latency {self.latency} cycles, a task {every}, {multipliers}"


@dataclass(frozen=True)
class ProgramFacts(Record):
    """The same functions in C++: ``operations`` in a state, as the folder's README counts them, and
    ``ns`` of a state on one core of this machine, in batches; None where it was not compiled.
    """

    operations: int
    ns: float | None


@dataclass(frozen=True)
class SmallerFacts(Record):
    """A smaller design than the one that was chosen: the ``options`` that make it, and by which
    factor it misses each wish at best; where it misses none, it may reach them."""

    options: Mapping[str, Any]
    misses: Mapping[str, float]


@dataclass(frozen=True)
class ChosenFacts(Record):
    """The answer to wishes: whether the design should ``reach`` them, why that is ``doubtful``
    (empty where it is not), the ``options`` that make it, its µs and M tasks/s at a speed grade,
    the answer in a line, watts where a power was wanted, and of the ``smaller`` designs that were
    ``tried`` the nearest to the wishes, if there is one."""

    wishes: Wishes
    reach: bool
    doubtful: str
    options: Mapping[str, Any]
    speed: int
    us: Span
    rate: Span
    tried: int
    line: str
    watts: Span | None = None
    smaller: SmallerFacts | None = None


@dataclass(frozen=True, kw_only=True)
class DesignFacts(HardwareFacts):
    """A design as `info` describes it, compiled but not written.

    ``merged``: links that are fixed to their parents; ``drivetrains``: of joints that have any.
    ``lowered_operations``, ``adder_bits``, ``mean_width``: of what is scheduled. ``estimated`` is
    None of a family without an area model; ``lines``: function → its tasks on the line to a board,
    where tasks are of one function; ``errors``: in states at random, of each coordinate.
    ``largest_errors``: array → how far an entry is off, at most, unless a flag rises; None where
    that is not known; empty of a design whose words are all searched. ``limbs``, ``program``: of a
    core. ``clocks``: at each speed grade, estimated; none where no clock model was fitted.
    ``wanted``: what it was chosen for. ``energy`` of a core's results, estimated; None where no
    model was fitted.
    """

    file: str
    bodies: int
    joints: int
    depth: int
    merged: tuple[str, ...]
    drivetrains: tuple[DrivetrainRow, ...]
    lowered_operations: Operations
    adder_bits: int
    mean_width: float
    multipliers: int
    estimated: Area | None
    lines: Mapping[str, BoardLine]
    errors: tuple[CoordinateError, ...] = ()
    largest_errors: Mapping[str, float | None]
    limbs: LimbFacts | None = None
    program: ProgramFacts | None = None
    clocks: tuple[ClockEstimate, ...] = ()
    energy: EnergyEstimate | None = None
    wanted: ChosenFacts | None = None
