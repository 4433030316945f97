"""The area features of an accelerator: those of its stages, and of the memories between them."""

from __future__ import annotations

from collections import Counter

from ..design.target import Target
from ..schedule.area import NoModel, estimated
from ..schedule.features import NAMES, TABLE_WIDTH, features, memory
from ..tasks.routes import CODE, HOST, NOTHING, TOLD, TURN, Source, parse
from ..tasks.stage import Stage
from ..tasks.stages import Accelerator
from .front import Front

BLOCK_RAMS = 0.9  # of the part's: more than that are hard to reach


def accelerator_features(accelerator: Accelerator) -> dict[str, int]:
    """How many of each of ``features.NAMES`` are in an accelerator, or a core."""
    count: Counter[str] = Counter()
    for stage in accelerator.stages.values():
        count.update(stage_features(accelerator, stage))
    if accelerator.is_core:
        return {name: count[name] for name in NAMES}
    for _ in range(_queues(accelerator)):
        _queue(accelerator, count)
    _entering(accelerator, count)
    _leaving(accelerator, count)
    return {name: count[name] for name in NAMES}


def banks_in_block_ram(accelerator: Accelerator, target: Target) -> frozenset[tuple[str, str]]:
    """(sender, reader) of the banks between stages that find block RAMs in the part, largest first.

    Of the large ones alone.
    """
    left = int(BLOCK_RAMS * target.block_rams) - accelerator_features(accelerator)["tables"]
    found = set[tuple[str, str]]()
    banks = accelerator.large_banks()
    for bank, width in sorted(banks.items(), key=lambda own: (-own[1], own[0])):
        takes = -(-width // TABLE_WIDTH)
        if takes <= left:
            found.add(bank)
            left -= takes
    return frozenset(found)


def stage_features(accelerator: Accelerator, stage: Stage) -> Counter[str]:
    """The same in a stage and the banks that it reads."""
    count: Counter[str] = Counter()
    if stage.plan is not None:
        count.update(features(stage.plan))
    if accelerator.slots:
        _fetching(accelerator, stage, count)
    return count


def stage_luts(accelerator: Accelerator, target: Target) -> dict[str, int]:
    """Step → the LUTs of its stages by the area model, limbs' and columns' parts with them.

    None at all where there is no model of the target's family.
    """
    found: Counter[str] = Counter()
    try:
        for name, stage in accelerator.stages.items():
            own = estimated(target.family, stage_features(accelerator, stage))
            found[parse(name).step] += own["luts"]
    except NoModel:
        return {}
    return dict(found)


def luts_of_sums(sums: int, front: Front) -> int:
    """LUTs of so many sums in words of the design, by the area model."""
    bits = Counter({"sums": sums, "sum_bits": sums * front.design.width})
    return estimated(front.target.family, bits)["luts"]


def _bank(accelerator: Accelerator, sender: str, fields: list[str], count: Counter[str]) -> None:
    width = sum(accelerator.bank(sender, fields).values()) + (sender != HOST)  # and its flag
    memory(width, accelerator.slots, count)


def _queues(accelerator: Accelerator) -> int:
    """Queues of tasks: for each way between visits, beside each stage, and of free slots."""
    ways = {
        (visit.stage, to)
        for function in accelerator.functions
        for visit, leads in accelerator.route(function).items()
        for to in leads
    }
    entries = {to for function in accelerator.functions for to in accelerator.entries(function)}
    return len(ways) + len(entries) + len(accelerator.stages) + 1


def _queue(accelerator: Accelerator, count: Counter[str]) -> None:
    """A memory of tasks, its two addresses and the number that waits, and the task that is next."""
    address = (accelerator.slots - 1).bit_length()
    width = address + CODE + 1
    memory(width, accelerator.slots, count)
    count["counter_bits"] += 3 * address + 1
    count["waiting_bits"] += width


def _fetching(accelerator: Accelerator, stage: Stage, count: Counter[str]) -> None:
    """The banks that a stage reads, and the registers that its operands are chosen into."""
    large = accelerator.large_banks() if accelerator.blocks else {}
    for sender, fields in accelerator.senders(stage).items():
        if (sender, stage.name) in accelerator.blocks:
            count["tables"] += -(-large[sender, stage.name] // TABLE_WIDTH)
        else:
            _bank(accelerator, sender, fields, count)
    places: dict[str, set[tuple[str, str]]] = {name: set() for name in stage.fixed.inputs}
    for function, visit in accelerator.visitors(stage.name):
        for name, source in stage.sources(function, visit).items():
            if source.stage not in (NOTHING, TURN, TOLD):
                places[name].add((source.stage, source.field))
                given = accelerator.given(function, source)
                word = stage.fixed.inputs[name]
                whole = given.width - given.fraction - (word.width - word.fraction)
                if given.fraction > word.fraction or whole > 0:
                    count["sum_bits"] += word.width  # rounded into the other format, or saturated
    for name, word in stage.fixed.inputs.items():
        count["waiting_bits"] += word.width
        if len(places[name]) > 1:
            count["multiplexed_bits"] += len(places[name]) * word.width


def _entering(accelerator: Accelerator, count: Counter[str]) -> None:
    """A task's registers."""
    count["waiting_bits"] += sum(accelerator.words.values())


def _leaving(accelerator: Accelerator, count: Counter[str]) -> None:
    """The banks of results, and the registers that a result's words are chosen into.

    Bits above a word are its sign's copies, of which there is one.
    """
    choices: dict[int, dict[Source, int]] = {}
    for function, outputs in accelerator.results.items():
        for place, output in enumerate(outputs):
            giver = accelerator.giver(function, output)
            choices.setdefault(place, {})[giver] = accelerator.given(function, giver).width
    for stage, own in accelerator.given_fields.items():
        if accelerator.in_block_ram(stage):
            width = sum(accelerator.bank(stage, own).values()) + 1
            count["tables"] += -(-width // TABLE_WIDTH)
        else:
            _bank(accelerator, stage, own, count)
    for widths in choices.values():
        width = max(widths.values())
        count["waiting_bits"] += width
        count["multiplexed_bits"] += width * len(widths) * (len(widths) > 1)
