"""What of an accelerator takes cells: that of its stages, and the memories between them."""

from __future__ import annotations

from collections import Counter

from ..estimate.features import NAMES, features, memory
from ..tasks.routes import CODE, HOST, NOTHING, TURN, Source
from ..tasks.stages import Accelerator, Stage


def accelerator_features(accelerator: Accelerator) -> dict[str, int]:
    """How many of each of ``features.NAMES`` are in an accelerator."""
    count: Counter[str] = Counter()
    for stage in accelerator.stages.values():
        if stage.plan is not None:
            count.update(features(stage.plan))
        _fetching(accelerator, stage, count)
    for _ in range(_queues(accelerator)):
        _queue(accelerator, count)
    _entering(accelerator, count)
    _leaving(accelerator, count)
    return {name: count[name] for name in NAMES}


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
    for sender, fields in accelerator.senders(stage).items():
        _bank(accelerator, sender, fields, count)
    places: dict[str, set[tuple[str, str]]] = {name: set() for name in stage.fixed.inputs}
    for function, visit in accelerator.visitors(stage.name):
        for name, source in stage.sources(function, visit).items():
            if source.stage not in (NOTHING, TURN):
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
    """The banks of results, and the registers that a result's words are chosen into."""
    fields: dict[str, dict[str, None]] = {}
    choices: Counter[int] = Counter()
    seen: set[tuple[int, Source]] = set()
    for function, outputs in accelerator.results.items():
        for place, output in enumerate(outputs):
            giver = accelerator.giver(function, output)
            fields.setdefault(giver.stage, {})[giver.field] = None
            choices[place] += (place, giver) not in seen
            seen.add((place, giver))
    for stage, own in fields.items():
        _bank(accelerator, stage, list(own), count)
    formats = accelerator.result_formats.values()
    width = max(word.width for words in formats for word in words.values())
    count["waiting_bits"] += width * len(choices)
    count["multiplexed_bits"] += width * sum(n for n in choices.values() if n > 1)
