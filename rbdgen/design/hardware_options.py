"""The options of hardware: its words, its part, how it is shared, and accelerators."""

from __future__ import annotations

from dataclasses import dataclass

from . import checks
from .choices import (
    ERROR,
    LONGEST_CLOCK,
    MOST_GUARD,
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

OF_ACCELERATORS = ("info", "generate")  # commands that have the options of accelerators


@dataclass(frozen=True)
class HardwareOptions:
    """How long words are, what is time-multiplexed on which part, and how tasks come and go."""

    width: int = option(
        18,
        checks.whole(*WIDTHS, "bits", unset=False),
        "of all words, in place of --error (default: 18; accelerators have these)",
        WORDS,
        commands=OF_BOARDS,
        use=HARDWARE,
        line={"metavar": "BITS"},
    )
    guard: int = option(
        1,
        checks.whole(1, MOST_GUARD, "bits", unset=False),
        "more bits of words that no multiplier reads: they take no multipliers, and long sums are "
        "more exact (default: 1)",
        WORDS,
        use=HARDWARE,
        line={"metavar": "BITS"},
    )
    proven: str = option(
        "none",
        checks.OneOf(*PROVEN),
        "words that no state within the limits overflows, by a proof: one-bit, those that it "
        "costs a bit or less; all, as when nothing is named, or a line says which has none "
        "(default: none; info says what is proven of searched words)",
        WORDS,
        use=HARDWARE,
        clear=False,
        line={"nargs": "?", "const": "all", "metavar": "WHICH"},
    )
    error: float | None = option(
        None,
        checks.real("a relative error from 1e-7 to 0.1", 1e-7, 0.1, unset=True),
        "relative error of each coordinate (such as 1e-3: of every tau[k], and of every row "
        "of a matrix, beside its own size at the limits, and ten times that at a tenth of them): "
        "each word gets the bits that this takes, more than a hardware multiplier's only where it "
        f"must (default: {ERROR:g}; of accelerators, and with --guard or --proven, --width 18)",
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
        "initiation interval: a task every K cycles, in hardware that is shared (default: "
        "{default})",
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
        "hardware multipliers to use, in place of --ii: the smallest interval that fits",
        PART,
        use=HARDWARE,
        line={"metavar": "N"},
    )
    fold: str = option(
        "auto",
        checks.FOLD,
        "what --ii and --multipliers fold: limbs, n limbs that are alike up to signs take "
        "turns in the hardware of one; joints, joints do, in the least logic; none, operations "
        "share multipliers; auto, limbs where there are such and the interval is no longer for it, "
        "else joints where the area model says that it saves 30 %% of the LUTs and M is not "
        "inverted, else none; auto of an accelerator, stage by stage: limbs, else joints where it "
        "is large or does not fit the part, and columns of products "
        "(default: {default})",
        PART,
        use=HARDWARE,
        usual="auto",
        clear=False,
    )
    fit: bool = option(
        True,
        checks.flag,
        "a task every cycle, however large, where neither --ii, --multipliers nor --fold says "
        "otherwise (default: the fastest design that fits the part)",
        PART,
        use=HARDWARE,
        commands=OF_ONE_INTERVAL,
        flags=("--no-fit",),
        line={"action": "store_const", "const": False},
    )
    scheduler: str = option(
        "list",
        checks.OneOf(*SCHEDULERS),
        "of a folded design: list (default, seconds), or exact (OR-tools CP-SAT, minutes: the "
        "shortest latency, often proven)",
        PART,
        use=SCHEDULES,
    )
    style: str = option(
        "throughput",
        checks.OneOf(*STYLES),
        "throughput (default); or latency, the fewest cycles from start to done within the "
        "multipliers that there are",
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
        "with --style latency: operations chained within a slow clock of this period, not "
        "pipelined for a fast one",
        PART,
        use=HARDWARE,
        line={"metavar": "NS"},
    )
    accelerator: bool = option(
        False,
        checks.flag,
        "one accelerator for id, fd, m, minv, did, dfd and difd, or for what --function "
        "names: each task says which it wants; --ii and --multipliers then speak of the slowest "
        "function",
        ACCELERATOR,
        use=NAMES,
        commands=OF_ACCELERATORS,
        line={"action": "store_const", "const": True},
    )
    slots: int | None = option(
        None,
        checks.slots,
        "tasks under way at a time, a power of two (default: as many as keep it busy)",
        ACCELERATOR,
        use=SCHEDULES,
        commands=OF_ACCELERATORS,
        line={"metavar": "N"},
    )
    mix: str | None = option(
        None,
        checks.mix_text,
        "so many tasks of each function come together, once every --ii cycles; each stage is "
        "made as fast as that takes (default: any function alone)",
        ACCELERATOR,
        use=HARDWARE,
        commands=OF_ACCELERATORS,
        line={"metavar": "NAME=K[,NAME=K]"},
    )
    order: str = option(
        "finished",
        checks.OneOf(*ORDERS),
        "results as their tasks came, not as they finish",
        ACCELERATOR,
        use=SCHEDULES,
        commands=OF_ACCELERATORS,
        flags=("--in-order",),
        line={"action": "store_const", "const": "issued"},
    )
    name: str | None = option(
        None,
        checks.called,
        "of files, modules, symbols, header guards and CMake targets (default: the robot, what its "
        "choices make of it, and the functions)",
        use=NAMES,
        commands=("generate",),
    )
