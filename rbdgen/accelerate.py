"""From a robot to the accelerator of several functions: one graph, cut where functions part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .accelerator.integration import Coordinate, integration
from .accelerator.routes import CODES, LAST, ROLLOUTS, indices, kind_of, stage_of, visits
from .accelerator.stages import Accelerator, Stage, constant
from .compiler import Front, Progress, front_end, in_words, sample_inputs
from .graph.fixed import FixedGraph, Format
from .graph.node import Node, Op
from .passes.pieces import Piece, cut
from .plans import every
from .robot.choices import GIVES, LARGEST_INTERVAL, MOST_SLOTS, mix
from .robot.design import Design, whole_turns
from .robot.model import RobotError
from .schedule.units import shared_jobs
from .target import find_target

FEWEST_SLOTS = 4


@dataclass(frozen=True, eq=False)
class Accelerated:
    """A robot, the graph of all that its accelerator can be asked for, and the accelerator."""

    front: Front
    accelerator: Accelerator

    @property
    def design(self) -> Design:
        """The choices, the functions among them that tasks may ask for."""
        return self.front.design


def accelerate(path: str, progress: Progress = lambda _: None, **choices: Any) -> Accelerated:
    """URDF or design file → accelerator. ``choices`` are fields of Design that win over it."""
    progress(f"reading {path}")
    front = front_end(path, **{"accelerator": True, **choices})
    _, whole = in_words(front, front.graph, sample_inputs(front), progress)
    design = front.design
    _check(design)
    pieces = _pieces(front, whole)
    progress("schedule")
    stages = _stages(design, pieces)
    functions = tuple(sorted(design.functions, key=CODES.__getitem__))
    results = {function: _results(function, stages) for function in functions}
    in_order = design.order == "issued"
    made = Accelerator(functions, stages, results, whole.inputs, FEWEST_SLOTS, in_order)
    made = replace(made, slots=design.slots or _slots(made))
    _fits(front, made)
    return Accelerated(front, made)


def _pieces(front: Front, whole: FixedGraph) -> dict[str, Piece]:
    """What becomes a stage each; RobotError for a function that there is nothing to do for."""
    functions = front.design.functions
    pieces = cut(whole, _targets(whole))
    if not ROLLOUTS.keys().isdisjoint(functions):
        pieces["integrate"] = Piece(_steps(front, whole, pieces["forward"]), {})
    for function in functions:
        if stage_of(LAST[function]) not in pieces:
            raise RobotError(
                f"{front.robot.name}: accelerator: what {function} adds is zero in every state, so "
                "there is no stage for it; leave it out with --function"
            )
    return pieces


def _stages(design: Design, pieces: Mapping[str, Piece]) -> dict[str, Stage]:
    """Each piece scheduled at its own interval."""
    target, intervals = find_target(design.target), _intervals(design, pieces)
    stages = {}
    for name, piece in pieces.items():
        plan = None
        if not constant(piece.fixed):
            jobs = shared_jobs(piece.fixed, target)
            plan = every(intervals[name], design, piece.fixed, jobs, target)
        stages[name] = Stage(name, piece, plan)
    return stages


def _check(design: Design) -> None:
    """RobotError for choices that the accelerator cannot follow."""
    for key, what in (("style", "latency"), ("root", "given"), ("fold", "limbs")):
        if getattr(design, key) == what:
            raise RobotError(
                f"{key}: {what} is not for the accelerator, whose stages are pipelines"
            )


def _targets(whole: FixedGraph) -> dict[str, list[str | Node]]:
    """The outputs, or nodes, that each stage is for."""
    outputs = whole.graph.outputs

    def of(*kinds: str) -> list[str | Node]:
        return [name for name in outputs if kind_of(name) in kinds]

    return {
        "trig": [node for node in whole.graph.nodes if node.op in (Op.SIN, Op.COS)],
        "rnea": of("tau"),
        "mass": of("M"),
        "inverse": [*of("Minv"), *_factors(whole)],
        "forward": of("qdd"),
        "gradient": of("dtau_dq", "dtau_dqd"),
        "product": of("dqdd_dq", "dqdd_dqd"),
    }


def _factors(whole: FixedGraph) -> list[Node]:
    """What q̈ is made of besides the effort and the bias."""
    late: set[Node] = set()
    found: dict[Node, None] = {}
    needed = [node for name, node in whole.graph.outputs.items() if kind_of(name) == "qdd"]
    for node in whole.graph.nodes:
        if kind_of(node.name) in ("tau", "bias") or not late.isdisjoint(node.args):
            late.add(node)
    while needed:
        node = needed.pop()
        if node in late:
            needed += node.args
        else:
            found[node] = None
    return list(found)


def _steps(front: Front, whole: FixedGraph, forward: Piece) -> FixedGraph:
    """The stage that integrates; RobotError for joints whose coordinates are no numbers."""
    coordinates = []
    for k, around in whole_turns(front.design, front.canonical).items():
        acceleration = forward.fixed.formats[forward.fixed.graph.outputs[f"qdd[{k}]"]]
        position, rate = (_whole(whole.inputs[f"{kind}[{k}]"]) for kind in ("q", "qd"))
        coordinates.append(Coordinate(k, position, rate, acceleration, around))
    return integration(coordinates, front.design.width)


def _whole(word: Format) -> int:
    """Bits above the point."""
    return word.width - 1 - word.fraction


def _intervals(design: Design, pieces: Mapping[str, Piece]) -> dict[str, int]:
    """Each stage's initiation interval, so that none waits for another.

    Once in ``design.ii`` cycles any function alone; or all tasks of ``design.mix`` together. A
    stage that is visited more often has that much less. Sines are made as often as τ.
    """
    target = find_target(design.target)
    visited = {f: visits(f, pieces) for f in design.functions}
    for function in visited.keys() & ROLLOUTS.keys():  # each turn of a rollout is as a task
        visited[function] = dict.fromkeys(visited[function], 1)
    if design.mix is None:
        most = {name: max(own.get(name, 0) for own in visited.values()) for name in pieces}
    else:
        shares = mix(design.mix)
        most = {n: sum(k * visited[f].get(n, 0) for f, k in shares.items()) for n in pieces}
        most = {name: max(count, 1) for name, count in most.items()}
    most["trig"] = max(most.get("trig", 1), most.get("rnea", 1))

    def at(whole: int) -> dict[str, int]:
        return {name: max(1, whole // most[name]) for name in pieces}

    if design.multipliers is None:
        return at(design.ii or 1)
    jobs = {name: shared_jobs(piece.fixed, target) for name, piece in pieces.items()}
    for whole in range(1, LARGEST_INTERVAL + 1):
        found = at(whole)
        if sum(jobs[n].multipliers(found[n]) for n in pieces) <= design.multipliers:
            return found
    least = sum(jobs[n].multipliers(k) for n, k in at(LARGEST_INTERVAL).items())
    raise RobotError(
        f"multipliers: {design.multipliers} are too few for these functions: at one task in "
        f"{LARGEST_INTERVAL} cycles they take {least}"
    )


def _results(function: str, stages: Mapping[str, Stage]) -> tuple[str, ...]:
    """The names of a function's outputs: array by array, in the order of their indices."""
    there = {o for s in visits(function, stages) for o in stages[s].outputs}
    gives = GIVES[function]
    found = [o for o in there if kind_of(o) in gives]
    return tuple(sorted(found, key=lambda o: (gives.index(kind_of(o)), indices(o))))


def _slots(accelerator: Accelerator) -> int:
    """As many tasks under way as keep the stages of any function busy."""
    under_way = max(
        -(-accelerator.latency(f) // accelerator.interval(f)) for f in accelerator.functions
    )
    return min(max(1 << (under_way - 1).bit_length(), FEWEST_SLOTS), MOST_SLOTS)


def _fits(front: Front, accelerator: Accelerator) -> None:
    """RobotError for a function without inputs, and for a part that is too small."""
    design = front.design
    for function, inputs in accelerator.formats.items():
        if not inputs:
            raise RobotError(
                f"{front.robot.name}: accelerator: {function} is the same in every state, so there "
                "is nothing to compute; leave it out with --function"
            )
    target = find_target(design.target)
    if accelerator.multipliers > target.multipliers:
        raise RobotError(
            f"ii: {design.ii or 1} takes {accelerator.multipliers} hardware multipliers, and "
            f"{target.part} has {target.multipliers}; give --multipliers {target.multipliers}, a "
            "longer --ii, or fewer functions"
        )
