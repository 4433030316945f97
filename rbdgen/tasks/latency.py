"""Cycles of an accelerator from a task to its result."""

from __future__ import annotations

from .routes import RESULT, ROLLOUTS, StageVisit
from .stages import Accelerator

HOP = 4  # cycles from a stage's result to the next stage's taking it, about
# Cycles in hardware, see ``rtl.accelerator``:
FIRST = 1  # after reset, in which a task is taken
TAKEN, SENT = 4, 3  # from its entry, and from a stage's result, until a core can take its operands
PASSED = 2  # the same from the result of a stage that it only waits for
BESIDE = 2  # that whose task it is takes through a stage, at least
GIVEN, GIVEN_IN_ORDER = 4, 3  # from the last stage's result to the task's


def latency_of(accelerator: Accelerator, function: str) -> int:
    """Cycles from a task's entry to its result: of the first task after reset, alone.

    Later ones may come in another phase of the stages that take a task only every so many
    cycles. Of a rollout: `usual_latency`.
    """
    if accelerator.is_core:
        return sum(stage.latency for stage in accelerator.stages.values())
    if function in ROLLOUTS:
        return usual_latency(accelerator, function)
    return _first_result(accelerator, function)


def longest_latency(accelerator: Accelerator, function: str) -> int:
    """Cycles from a task that comes in any cycle to its result, at most: alone on its way.

    A core that shares hardware takes it in one phase, or when it is awake; each stage of an
    accelerator has it wait for its phase. Of a rollout: `usual_latency`.
    """
    if accelerator.is_core:
        waits = sum(stage.plan.waits for stage in accelerator.stages.values() if stage.plan)
        return latency_of(accelerator, function) + waits
    if function in ROLLOUTS:
        return usual_latency(accelerator, function)
    return _first_result(accelerator, function, at_worst=True)


def usual_latency(accelerator: Accelerator, function: str) -> int:
    """The approximate number of cycles from a task to its result, in an idle accelerator.

    Of a rollout: for each step.
    """
    done: dict[StageVisit, int] = {}
    for visit in accelerator.ordered(function):
        senders, waited = accelerator.before(function, visit)
        start = max((done[v] for v in {*senders, *waited} & done.keys()), default=0)
        stage = accelerator.stages[visit.stage]
        done[visit] = start + HOP + stage.interval // 2 + stage.latency
    if function in ROLLOUTS:
        return ROLLOUTS[function] * max(done.values())
    return max(done.values()) + HOP


def _first_result(accelerator: Accelerator, function: str, at_worst: bool = False) -> int:
    """`latency_of`, stage by stage; ``at_worst``: of one that just misses its phase at each."""
    done: dict[StageVisit, int] = {}
    for visit in accelerator.ordered(function):
        stage = accelerator.stages[visit.stage]
        senders, waited = accelerator.before(function, visit)
        there = [done[v] + SENT for v in senders if v in done]
        there += [done[v] + PASSED for v in waited if v in done]
        ready = max(there, default=FIRST + TAKEN) + accelerator.waits_for_words(visit.stage)
        every = stage.takes_every
        taken = ready + every - 1 if at_worst else -(-ready // every) * every
        done[visit] = taken + max(stage.latency, BESIDE)
    route = accelerator.route(function)
    last = max(cycle for visit, cycle in done.items() if RESULT in route[visit])
    return last + (GIVEN_IN_ORDER if accelerator.in_order else GIVEN) - FIRST
