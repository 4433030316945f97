"""Limits from recorded states: words for what a robot does, in place of all that it might do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..compile.flow import Front, front_end
from ..compile.samples import accuracy_of
from ..compile.words import in_words, sample_inputs
from ..design.arrays import needs
from ..design.design import Design, holds
from ..design.limits import joint_limits
from ..design.loading import load, refuse_unknown
from ..design.nested import MotionLimits
from ..design.options import DesignChoices
from ..draw.tables import table
from ..graph.node import Op
from ..graph.word import array_named, kind_of
from ..robot.limb_unification import rounded_up
from ..robot.model import JointKind, Robot
from ..system.quoting import Progress
from ..system.records import Record
from .design_file import design_text
from .evaluation import evaluate
from .folder import InputError, write_file
from .output_paths import check_place
from .recorded_states import Arrays, checked_states, with_accelerations, with_missing
from .results import entries_of

TRIED = 1000  # of them, evenly taken, of which errors are measured
DIGITS = 3  # of a limit, rounded up
LIMITS = {"qd": "velocity", "qdd": "acceleration", "tau": "effort"}


@dataclass(frozen=True)
class Fit(Record):
    """The recorded extremes of each joint, the limits that follow, and what they save.

    ``joints``: joint → what → [recorded, limit before or None, limit now]. ``bits``: kind of
    signal → mean bits before the binary point, before and now. ``errors``: coordinate → RMS error
    at the recorded states, by the coordinate's own RMS there, before and now. ``notes``: what else
    there is to say.
    """

    states: int
    margin: float
    joints: dict[str, dict[str, list[float | None]]]
    bits: dict[str, list[float]]
    errors: dict[str, list[float | None]]
    notes: list[str]
    output: str | None = None

    def as_text(self) -> str:
        """A table of limits, bits and errors, as the command line prints it."""
        rows = [
            [joint, what, *("-" if x is None else f"{x:g}" for x in own)]
            for joint, whats in self.joints.items()
            for what, own in whats.items()
        ]
        kinds = [[kind, f"{a:.1f}", f"{b:.1f}"] for kind, (a, b) in self.bits.items()]
        arrays = dict.fromkeys(array_named(row) for row in self.errors)
        errors = [[name, *(self._worst(name, when) for when in (0, 1))] for name in arrays]
        parts = [
            f"{self.states} states; limits are {100 * self.margin:g} % beyond the largest of them",
            table(("joint", "of", "recorded", "limit before", "limit now"), rows),
            table(("signals", "bits before the point: before", "now"), kinds),
            table(("worst error there, by its own RMS", "before", "now"), errors),
            *self.notes,
        ]
        return "\n\n".join(part for part in parts if part) + (
            f"\n\n{self.output}" if self.output else ""
        )

    def _worst(self, array: str, when: int) -> str:
        """The coordinate of an array that was off most before, or is now, and by how much."""
        own = {row: x[when] or 0.0 for row, x in self.errors.items() if array_named(row) == array}
        row = max(own, key=own.__getitem__)
        return "-" if self.errors[row][when] is None else f"{row} {own[row]:.1e}"


def fit(
    robot: str,
    states: Mapping[str, Any],
    margin: float = 0.25,
    output: Path | None = None,
    progress: Progress = lambda _: None,
    **choices: Unpack[DesignChoices],
) -> Fit:
    """Limits for a robot's design from recorded ``states``, written to ``output`` as a design's
    YAML.

    ``states`` has q (N, nq) and any of qd, qdd, tau (N, nv), in SI units, with joints in the
    robot's order. If one of qdd and tau is missing, dynamics in float64 computes it from the other.
    Each limit is the largest absolute value plus a share of ``margin``; for slides this includes
    the ends of the way. Angles keep the whole turn, since designs read their sines and cosines.

    Raises RobotError. Raises InputError for arrays that are unknown, missing, of a wrong shape, not
    finite, too few, or beyond the limits of the URDF.
    """
    refuse_unknown(choices, fit)
    if not (np.isfinite(margin) and margin >= 0):
        raise InputError(f"margin: a share of 0 or more, not {margin:g}")
    if output is not None:
        check_place(output)
    design, loaded = load(robot, **choices)
    arrays, borne, every = (
        checked_states(loaded, states),
        dict[str, list[float | None]](),
        design.limits,
    )
    if holds(design):
        arrays, borne, notes = with_accelerations(design, loaded, arrays)
    else:
        arrays, notes = with_missing(loaded, arrays)
    joints, limits = _limits(design, loaded, arrays, margin)
    for key, row in borne.items():
        row[2] = rounded_up((row[0] or 0.0) * (1 + margin), DIGITS)
        changed: dict[str, Any] = {key: row[2]}
        every = replace(every, **changed)
    fitted = replace(
        design,
        limits=every,
        joint_limits=limits,
        velocity=None,
        acceleration=None,
        effort=None,
    )
    urdf = str(Path(design.robot).resolve())
    with TemporaryDirectory() as folder:
        place = Path(folder) / "design.yaml"
        place.write_text(design_text(fitted, urdf), "utf-8")
        before, now = str(robot), str(place)
        own = front_end(now, progress)
        bits = _beside(
            _bits(front_end(before, progress, **choices), progress), _bits(own, progress)
        )
        few = {k: v[:: -(-len(v) // TRIED)] for k, v in arrays.items()}
        errors, more = _errors(own, before, now, few, progress, choices)
    notes += more
    if borne:
        joints["held frames"] = borne
    if design.payload is not None:
        notes.append(
            "Recorded payloads are not read: their limits stay. Errors, and what is missing of qdd "
            "and tau, are of the robot without one."
        )
    if still := [name for name, own in joints.items() if not own]:
        notes.append(f"{', '.join(still)}: did not move, and keep their limits.")
    if output is not None:
        said = f"# limits from {len(arrays['q'])} recorded states, {100 * margin:g} % beyond them\n"
        near = os.path.relpath(urdf, output.resolve().parent)
        write_file(output, said + design_text(fitted, near))
    shown = None if output is None else str(output)
    return Fit(len(arrays["q"]), margin, joints, bits, errors, notes, shown)


def _limits(
    design: Design, robot: Robot, arrays: Arrays, margin: float
) -> tuple[dict[str, dict[str, list[float | None]]], dict[str, MotionLimits]]:
    """Joint → what → recorded, before, now; and joint → the limits now."""
    rows = {row.joint: row for row in joint_limits(design, robot)}
    taken = {"tau"} if "tau" in needs(design) else set()
    said: dict[str, dict[str, list[float | None]]] = {}
    limits = dict(design.joint_limits)
    for i in robot.free:
        joint, columns = robot.joints[i], robot.v_slices[i]
        own = limits.get(joint.name, MotionLimits())
        said[joint.name] = {}
        changed: dict[str, Any] = {}
        for name, key in LIMITS.items():
            if name not in arrays or (name == "tau" and (joint.kind.nv > 1 or not taken)):
                continue
            most = float(np.abs(arrays[name][:, columns]).max())
            if most == 0:
                continue  # a joint that never moved says nothing
            now = rounded_up(most * (1 + margin), DIGITS)
            before = getattr(rows[joint.name], key)[0]
            said[joint.name][key] = [most, before if np.isfinite(before) else None, now]
            changed[key] = now
        if joint.kind is JointKind.PRISMATIC:
            at = arrays["q"][:, robot.q_slices[i].start]
            low, high = float(at.min()), float(at.max())
            more = margin * (high - low)
            lower, upper = max(low - more, joint.limits.lower), min(high + more, joint.limits.upper)
            if lower < upper:
                first, last = rows[joint.name].positions[0]
                said[joint.name]["from"] = [low, first, lower]
                said[joint.name]["to"] = [high, last, upper]
                changed["position"] = (lower, upper)
        if changed:
            limits[joint.name] = replace(own, **changed)
    return said, limits


def _bits(front: Front, progress: Progress) -> dict[str, float]:
    """Kind of signal → its mean bits before the binary point, the sign among them."""
    _, fixed = in_words(front, front.graph, sample_inputs(front), progress)
    found: dict[str, list[int]] = {}
    for name, word in fixed.inputs.items():
        found.setdefault(kind_of(name), []).append(word.width - word.fraction)
    for name, node in fixed.graph.outputs.items():
        word = fixed.formats[node]
        found.setdefault(kind_of(name), []).append(word.width - word.fraction)
    inside = [fixed.formats[n] for n in fixed.graph.nodes if n.op is not Op.INPUT]
    found["all that is computed"] = [word.width - word.fraction for word in inside]
    return {kind: float(np.mean(own)) for kind, own in found.items()}


def _errors(
    front: Front,
    before: str,
    now: str,
    arrays: Arrays,
    progress: Progress,
    choices: Mapping[str, Any],
) -> tuple[dict[str, list[float | None]], list[str]]:
    """Coordinate → RMS error of the integer model, by the coordinate's own RMS, before and now, and
    notes on what is None or missing of it; ``front``: that of ``now``."""
    design = front.design
    missing = [name for name in needs(design) if name not in arrays and name != "f_ext"]
    if missing:
        return {}, [f"No errors were measured: {', '.join(missing)} are not in the recording."]
    states = {name: arrays[name] for name in needs(design) if name in arrays}
    exact = evaluate(now, states, "golden", progress)
    after = evaluate(now, states, "fixed", progress)
    notes = []
    try:
        first = evaluate(before, states, "fixed", progress, **choices)
    except InputError as error:
        first = None
        notes.append(f"The limits before do not hold what was recorded: {error}.")
    unknown: dict[str, float | None] = {}
    was = unknown if first is None else _by_coordinate(front, first, exact)
    return {row: [was.get(row), x] for row, x in _by_coordinate(front, after, exact).items()}, notes


def _by_coordinate(
    front: Front, found: Mapping[str, NDArray], exact: Mapping[str, NDArray]
) -> dict[str, float | None]:
    """Coordinate → RMS error of states that all are of one scale, by its own RMS in them."""
    arrays = [(name, found[name], exact[name]) for name in exact if name in found]
    accuracy = accuracy_of(front.design, front.canonical)
    accuracy.add(0, *entries_of(arrays, front.graph.outputs, front.design, front.robot))
    return {row: accuracy.error(row, 0) for row in accuracy.sums}


def _beside(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, list[float]]:
    return {kind: [value, now[kind]] for kind, value in before.items() if kind in now}
