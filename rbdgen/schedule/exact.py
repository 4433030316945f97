"""Exact modulo scheduling with OR-tools CP-SAT: the shortest latency, then the fewest bits waiting.

Each shared job takes a cycle t = interval · n + phase, and in no phase are there more jobs of a
kind than it has units. The solver starts from what the list scheduler found, works alone, and
counts its own steps instead of seconds, so that it gives the same schedule everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..graph.fixed import FixedGraph
from ..graph.graph import operands, source
from ..graph.node import STILL, Node, Op
from ..system.quoting import Refusal
from .difference_constraints import ScheduleError
from .pipelined import INPUT_REGISTER
from .units import Job, Jobs, UnitKind, job

EFFORT = 30.0  # deterministic time of each of the two searches, about seconds


class NoSolver(Refusal, RuntimeError):
    """OR-tools is not installed."""


def exact(
    fixed: FixedGraph,
    takes: Mapping[Node, int],
    jobs: Jobs,
    units: Mapping[UnitKind, int],
    interval: int,
    hint: Mapping[Node, int],
) -> tuple[dict[Job, int], bool]:
    """The starts of the shared jobs in the best slots that the solver finds, and whether it proves
    that no schedule of this interval has a shorter latency.

    Args:
        takes: cycles of each operation; units: how many there are of each kind.
        hint: a schedule, as the times of its results.

    Raises:
        NoSolver: says what to install.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise NoSolver(
            'scheduler: exact needs OR-tools: pip install "rbdgen[scheduling]"'
        ) from None
    model = cp_model.CpModel()
    end = max(hint.values())
    at: dict[Job, Any] = {}
    phase_of: dict[Job, list[Any]] = {}
    for node, length in takes.items():
        own = job(node)
        if own not in at:
            lowest, highest = (INPUT_REGISTER,) * 2 if node.op is Op.INPUT else (length, end)
            at[own] = model.new_int_var(lowest, highest, "")
            model.add_hint(at[own], hint[node])
            if own in jobs.kind and interval > 1:
                phase_of[own] = _phases(model, at[own], length, interval, end, hint[node])
        for operand in operands(node):
            model.add(at[own] >= at[job(operand)] + length)
    for kind, count in units.items():
        for phase in range(interval) if interval > 1 else ():
            model.add(sum(phase_of[own][phase] for own in jobs.of[kind]) <= count)
    latency = model.new_int_var(0, end, "latency")
    # in order, as everything here: the solver's steps depend on it
    for node in dict.fromkeys(source(n) for n in fixed.graph.outputs.values()):
        if node.op not in STILL:
            model.add(latency >= at[job(node)])

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.catch_sigint_signal = False  # which is the program's own
    solver.parameters.max_deterministic_time = EFFORT
    model.minimize(latency)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise ScheduleError(f"CP-SAT: {solver.status_name(status)}")
    proven = status == cp_model.OPTIMAL

    # the same latency, or less, with values that wait the least
    model.add(latency <= solver.value(latency))
    model.clear_hints()
    for variable in at.values():
        model.add_hint(variable, solver.value(variable))
    waiting = []
    last: dict[Node, Any] = {}
    for node, length in takes.items():
        for operand in operands(node):
            if operand not in last:
                last[operand] = model.new_int_var(0, end, "")
                wait = last[operand] - at[job(operand)]
                waiting.append(fixed.formats[operand].width * wait)
            model.add(last[operand] >= at[job(node)] - length)
    model.minimize(sum(waiting))
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise ScheduleError("CP-SAT lost the schedule that it had")
    length_of = {job(node): length for node, length in takes.items()}
    return {own: solver.value(at[own]) - length_of[own] for own in jobs.kind}, proven


def _phases(model: Any, at: Any, length: int, interval: int, end: int, hint: int) -> list[Any]:
    """One bit for each phase that a job may start in; one of them is set."""
    bits = [model.new_bool_var("") for _ in range(interval)]
    model.add_exactly_one(bits)
    turns = model.new_int_var(0, end // interval, "")
    start = interval * turns + sum(k * bit for k, bit in enumerate(bits))
    model.add(at == start + length)
    model.add_hint(turns, (hint - length) // interval)
    for k, bit in enumerate(bits):
        model.add_hint(bit, int((hint - length) % interval == k))
    return bits
