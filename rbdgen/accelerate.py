"""From a robot to the accelerator of several functions: one graph, cut where functions part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .accelerator.routes import CODES, COLUMNS, LIMBS, ROLLOUTS, indices, kind_of, visits
from .accelerator.stages import Accelerator, Stage, constant
from .columns import MORE, PRODUCT, in_columns
from .compiler import LIMB_SAMPLES, LIMB_SEED, Front, Progress, front_end, sample_inputs
from .cutting import Cutting, cut_limbs, cut_whole
from .dynamics.interface import random_inputs
from .hips import cut_hips
from .passes.limbs import LimbError, find_limbs
from .passes.pieces import Piece
from .passes.words import Given
from .plans import chooses_fold, every
from .robot.choices import GIVES, LARGEST_INTERVAL, MOST_SLOTS, mix
from .robot.design import Design, given_coordinates
from .robot.model import RobotError
from .schedule.any_plan import AnyPlan
from .schedule.limbs import LimbPlan
from .schedule.units import shared_jobs
from .target import Target, find_target

FEWEST_SLOTS = 4


@dataclass(frozen=True, eq=False)
class Accelerated:
    """A robot, the graph of all that its accelerator can be asked for, and the accelerator."""

    front: Front
    accelerator: Accelerator
    notes: tuple[str, ...] = field(default=())

    @property
    def design(self) -> Design:
        """The choices, the functions among them that tasks may ask for."""
        return self.front.design


def accelerate(path: str, progress: Progress = lambda _: None, **choices: Any) -> Accelerated:
    """URDF or design file → accelerator. ``choices`` are fields of Design that win over it."""
    progress(f"reading {path}")
    front = front_end(path, progress, **{"accelerator": True, **choices})
    design = front.design
    _check(design)
    notes: list[str] = []
    cutting, intervals = _cut(front, progress, notes)
    cutting, intervals = _columns(front, cutting, intervals, progress, notes)
    progress("schedule")
    stages = _stages(front, cutting.pieces, intervals)
    functions = tuple(sorted(design.functions, key=CODES.__getitem__))
    results = {function: _results(function, stages) for function in functions}
    in_order = design.order == "issued"
    made = Accelerator(functions, stages, results, cutting.inputs, FEWEST_SLOTS, in_order)
    made = replace(made, slots=design.slots or _slots(made))
    _fits(front, made)
    return Accelerated(front, made, tuple(notes))


def _cut(front: Front, progress: Progress, notes: list[str]) -> tuple[Cutting, dict[str, int]]:
    """Pieces and their intervals: of limbs that are alike where they take turns in any stage."""
    design, given = front.design, sample_inputs(front)
    alike = _alike(front, given, progress, notes)
    if alike is not None:
        n, cutting = alike
        intervals = _intervals(design, cutting.pieces, n)
        if note := _about_turns(cutting.pieces, intervals, n):
            notes.append(note)
            return cutting, intervals
        none = f"no stage's interval is a multiple of the {n} limbs"
        if design.fold == "limbs":
            raise RobotError(f"{front.robot.name}: fold: limbs: {none} that are to take turns")
        notes.append(f"limbs do not take turns: {none}")
    cutting = cut_whole(front, given, progress)
    return cutting, _intervals(design, cutting.pieces)


def _alike(
    front: Front, given: Given, progress: Progress, notes: list[str]
) -> tuple[int, Cutting] | None:
    """How many limbs are alike, and the cutting in which one stands for all.

    The robot consists of them, or they stand on a trunk that moves, or that others stand on too.
    """
    design = front.design
    if design.fold != "limbs" and not chooses_fold(design):
        return None
    anything = random_inputs(front.canonical, front.graph.inputs, LIMB_SAMPLES, LIMB_SEED)
    try:
        limbs = find_limbs(front.graph, anything)
    except LimbError as error:
        why = str(error)
    else:
        return len(limbs.limbs), cut_limbs(front, limbs, given, progress)
    try:
        return cut_hips(front, given, progress)
    except LimbError as error:
        why += f"; {error}"
    if design.fold == "limbs":
        raise RobotError(f"{front.robot.name}: fold: limbs: {why}")
    notes.append(f"limbs do not take turns: {why}")
    return None


def _columns(
    front: Front,
    cutting: Cutting,
    intervals: dict[str, int],
    progress: Progress,
    notes: list[str],
) -> tuple[Cutting, dict[str, int]]:
    """The product of matrices column by column where its interval has room for the columns."""
    design = front.design
    if design.fold != "auto" or PRODUCT not in cutting.pieces:
        return cutting, intervals
    most = MORE if design.multipliers is None else 1  # times those that are shared
    whole = intervals[PRODUCT]
    found = in_columns(front, cutting.pieces, sample_inputs(front), whole, most, progress)
    if found is None:
        return cutting, intervals
    pieces, shape = found
    in_turn = PRODUCT + COLUMNS if PRODUCT + COLUMNS in pieces else PRODUCT
    graphs = [piece.fixed.graph for name, piece in pieces.items() if name in (PRODUCT, in_turn)]
    instances = pieces[in_turn].instances
    assert instances is not None
    graphs[0] = instances.template.graph
    additions = sum(graph.operations()["add"] for graph in graphs)
    before = cutting.pieces[PRODUCT].fixed.graph.operations()["add"]
    notes.append(
        f"columns of a product take turns in {in_turn}: {shape.turns} times {shape.lanes}, with "
        f"dot products of {shape.terms} entries; {additions} of {before} additions"
    )
    return replace(cutting, pieces=pieces), {**intervals, in_turn: shape.interval}


def _takes_turns(piece: Piece, interval: int) -> bool:
    """Whether a piece at an interval is one limb's datapath, once for each of its limbs."""
    made = piece.instances
    if made is None or constant(made.template):
        return False
    return interval % len(made.limbs.limbs) == 0


def _about_turns(pieces: Mapping[str, Piece], intervals: Mapping[str, int], limbs: int) -> str:
    """Which stages the limbs take turns in; empty if in none."""
    there = [name for name, piece in pieces.items() if not constant(piece.fixed)]
    turns = [name for name in there if _takes_turns(pieces[name], intervals[name])]
    if not turns:
        return ""
    counts = [pieces[name].fixed.graph.operations() for name in turns]
    additions = sum(count["add"] for count in counts)
    note = (
        f"{limbs} limbs that are alike take turns in the datapaths of one: "
        f"{', '.join(turns)}; {additions // limbs} of {additions} additions"
    )
    others = [f"{name} (interval {intervals[name]})" for name in there if name not in turns]
    return note + (f"; not in {', '.join(others)}" if others else "")


def _stages(
    front: Front, pieces: Mapping[str, Piece], intervals: Mapping[str, int]
) -> dict[str, Stage]:
    """Each piece scheduled at its own interval."""
    design, target = front.design, find_target(front.design.target)
    given = given_coordinates(design, front.robot)
    of_limbs = frozenset(
        output
        for name, piece in pieces.items()
        if name.endswith(LIMBS)
        for output in piece.fixed.graph.outputs
    )
    return {
        name: Stage(name, piece, _plan(design, piece, intervals[name], target), given, of_limbs)
        for name, piece in pieces.items()
    }


def _plan(design: Design, piece: Piece, interval: int, target: Target) -> AnyPlan | None:
    """None where there is nothing to do."""
    if constant(piece.fixed):
        return None
    if piece.instances is None or not _takes_turns(piece, interval):
        return every(interval, design, piece.fixed, shared_jobs(piece.fixed, target), target)
    one, limbs = piece.instances.template, piece.instances.limbs.limbs
    own = every(interval // len(limbs), design, one, shared_jobs(one, target), target)
    return LimbPlan(own, piece.instances)


def _check(design: Design) -> None:
    """RobotError for choices that the accelerator cannot follow."""
    for key, what in (("style", "latency"), ("fold", "joints")):
        if getattr(design, key) == what:
            raise RobotError(
                f"{key}: {what} is not for the accelerator, whose stages are pipelines"
            )


def _intervals(design: Design, pieces: Mapping[str, Piece], limbs: int = 1) -> dict[str, int]:
    """Each stage's initiation interval, so that none waits for another.

    Once in ``design.ii`` cycles any function alone; or all tasks of ``design.mix`` together. A
    stage that is visited more often has that much less. Sines are made as often as τ. Where
    ``limbs`` are to take turns, and nobody says how often, each stage is one limb's at least.
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

    step = limbs if design.fold == "limbs" else 1
    if design.multipliers is None:
        return at(design.ii or (step * max(most.values()) if step > 1 else 1))
    jobs = {name: shared_jobs(piece.fixed, target) for name, piece in pieces.items()}
    for whole in range(step, LARGEST_INTERVAL + 1, step):
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
        slowest = max(stage.interval for stage in accelerator.stages.values())
        raise RobotError(
            f"ii: {design.ii or slowest} takes {accelerator.multipliers} hardware multipliers, and "
            f"{target.part} has {target.multipliers}; give --multipliers {target.multipliers}, a "
            "longer --ii, or fewer functions"
        )
