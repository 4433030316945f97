"""The options of hardware: its words, its part, how it is shared, and accelerators."""

from __future__ import annotations

from dataclasses import dataclass

from . import checks
from .choices import (
    ERROR,
    LONGEST_CLOCK,
    LONGEST_TICK,
    MOST_GUARD,
    MOST_LATE,
    ORDERS,
    PROVEN,
    SCHEDULERS,
    STYLES,
    WIDTHS,
)
from .option import (
    ACCELERATOR,
    HARDWARE,
    NAMES,
    OF_BOARDS,
    OF_ONE_INTERVAL,
    PART,
    SCHEDULES,
    WORDS,
    option,
)
from .target import TARGETS

OF_TICKS = ("info", "generate")  # commands that have the options of ticks
OF_ACCELERATORS = ("info", "generate", "explore")  # commands that have the options of accelerators


@dataclass(frozen=True)
class HardwareOptions:
    """How long words are, what is time-multiplexed on which part, and how tasks come and go."""

    width: int = option(
        18,
        checks.whole(*WIDTHS, "bits", unset=False),
        "width of all words, instead of --error (default: 18; accelerators have these)",
        WORDS,
        commands=OF_BOARDS,
        use=HARDWARE,
        line={"metavar": "BITS"},
    )
    guard: int = option(
        1,
        checks.whole(1, MOST_GUARD, "bits", unset=False),
        "additional bits of words that feed no multiplier: they take no multipliers, and make "
        "long sums more exact (default: 1)",
        WORDS,
        use=HARDWARE,
        line={"metavar": "BITS"},
    )
    proven: str = option(
        "none",
        checks.OneOf(*PROVEN),
        "words that are proven not to overflow in any state within the limits: one-bit, those for "
        "which that costs a bit or less; all (if none is named), every word, and a signal without "
        "a proof is an error (default: none; info counts the proven words of the search)",
        WORDS,
        use=HARDWARE,
        clear=False,
        line={"nargs": "?", "const": "all", "metavar": "WHICH"},
    )
    error: float | None = option(
        None,
        checks.real("a relative error from 1e-7 to 0.1", 1e-7, 0.1, unset=True),
        "error bound of each coordinate, every tau[k] and every row of a matrix (such as 1e-3). It "
        "is relative to its size at the limits, and ten times that at a tenth of them. Each "
        "word gets the bits that this takes, more than a hardware multiplier's only where "
        f"necessary (default: {ERROR:g}; for accelerators, and with --guard or --proven, "
        "--width 18)",
        WORDS,
        use=HARDWARE,
        line={"metavar": "RMS"},
    )
    target: str = option(
        "ecp5-85f",
        checks.OneOf(*TARGETS),
        "the part (default: {default})",
        PART,
        use=HARDWARE,
        usual="ecp5-85f",
    )
    ii: int | None = option(
        None,
        checks.INTERVAL,
        "initiation interval: a task every K cycles (default: {default})",
        PART,
        commands=OF_BOARDS,
        use=HARDWARE,
        usual="the shortest that fits the part",
        lists=("explore", "compare"),
        line={"metavar": "K"},
    )
    multipliers: int | None = option(
        None,
        checks.whole(1, 100_000, "multipliers"),
        "hardware multipliers to use, instead of --ii: the smallest interval that fits",
        PART,
        use=HARDWARE,
        line={"metavar": "N"},
    )
    fold: str = option(
        "auto",
        checks.FOLD,
        "resource sharing for --ii and --multipliers: limbs, mirrored or equal limbs are "
        "time-multiplexed in the datapath of one; joints, joints are time-multiplexed, in the "
        "least logic; none, operations share multipliers. auto: limbs if a robot has such and "
        "the interval does not grow; else joints if the area model says that they save 30 %% of "
        "the LUTs and M is not inverted; else none. auto of an accelerator decides for each stage: "
        "limbs, else joints if it is large or does not fit the part, and columns of products "
        "(default: {default})",
        PART,
        use=HARDWARE,
        usual="auto",
        clear=False,
        lists=("explore",),
    )
    fit: bool = option(
        True,
        checks.flag,
        "a task every cycle, however large, unless --ii, --multipliers or --fold is given "
        "(default: the fastest design that fits the part)",
        PART,
        use=HARDWARE,
        commands=OF_ONE_INTERVAL,
        flags=("--no-fit",),
        line={"action": "store_const", "const": False},
    )
    scheduler: str = option(
        "list",
        checks.OneOf(*SCHEDULERS),
        "scheduler of a folded design: list (default, seconds), or exact (OR-tools CP-SAT, "
        "minutes: the shortest latency, often proven)",
        PART,
        use=SCHEDULES,
    )
    style: str = option(
        "throughput",
        checks.OneOf(*STYLES),
        "throughput (default); or latency, the fewest cycles from input to result within the "
        "available multipliers",
        PART,
        use=HARDWARE,
    )
    clock: float | None = option(
        None,
        checks.real(
            f"a period above 0 and up to {LONGEST_CLOCK:g} ns",
            0,
            LONGEST_CLOCK,
            above=True,
            unset=True,
        ),
        "with --style latency: period of a slow clock within which operations are chained, "
        "instead of pipelining for a fast one",
        PART,
        use=HARDWARE,
        line={"metavar": "NS"},
    )
    tick: int | None = option(
        None,
        checks.whole(2, LONGEST_TICK, "cycles"),
        "cycles from one tick of a controller to the next: 8000 cycles of 160 MHz are 20 kHz; the "
        "law gets a time base, the last good command, a watchdog and an enable around it (default: "
        "the law alone, as a task)",
        PART,
        use=SCHEDULES,
        commands=OF_TICKS,
        line={"metavar": "CYCLES"},
    )
    watchdog: int = option(
        4,
        checks.whole(0, MOST_LATE, "ticks", unset=False),
        "ticks that a command may be late before gravity compensation with damping takes over, "
        "until the controller is enabled again (default: 4)",
        PART,
        use=SCHEDULES,
        commands=OF_TICKS,
        line={"metavar": "TICKS"},
    )
    accelerator: bool = option(
        False,
        checks.flag,
        "one accelerator for id, fd, m, minv, did, dfd and difd, or for the functions that "
        "--function names. Each task selects one; --ii and --multipliers apply to the slowest "
        "function",
        ACCELERATOR,
        use=NAMES,
        commands=OF_ACCELERATORS,
        line={"action": "store_const", "const": True},
    )
    slots: int | None = option(
        None,
        checks.slots,
        "tasks in flight at a time, a power of two (default: as many as avoid idle cycles)",
        ACCELERATOR,
        use=SCHEDULES,
        commands=OF_ACCELERATORS,
        line={"metavar": "N"},
    )
    mix: str | None = option(
        None,
        checks.mix_text,
        "tasks of each function that arrive together once every --ii cycles; each stage is as "
        "fast as that requires (default: any single function)",
        ACCELERATOR,
        use=HARDWARE,
        commands=OF_ACCELERATORS,
        line={"metavar": "NAME=K[,NAME=K]"},
    )
    order: str = option(
        "finished",
        checks.OneOf(*ORDERS),
        "return results in the order of their tasks, not as they finish",
        ACCELERATOR,
        use=SCHEDULES,
        commands=OF_ACCELERATORS,
        flags=("--in-order",),
        line={"action": "store_const", "const": "issued"},
    )
    name: str | None = option(
        None,
        checks.called,
        "name of files, modules, symbols, header guards and CMake targets (default: the robot, a "
        "word for its options, and the functions)",
        use=NAMES,
        commands=("generate",),
    )
