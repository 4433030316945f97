"""Output coordinates by name: whose joint, in which unit, beside which limit of an effort."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..graph.accuracy import REPORTED, SCALES, Accuracy, StateScale
from ..graph.word import array_named
from ..robot.model import Robot
from ..system.records import Record
from .design import Design
from .fields import Meanings, row_of


@dataclass(frozen=True)
class ScaleError(Record):
    """A coordinate's error at a scale: ``relative`` to what it is there, None where it is always 0;
    root mean square and largest, in its unit."""

    relative: float | None
    rms: float
    largest: float


@dataclass(frozen=True)
class CoordinateError(Record):
    """Errors of τ_k, q̈_k, a matrix's row …: ``row`` as ``dtau_dq[3,:]``, of ``joint``, in
    ``unit``.

    A row's are of what it makes of its columns' factors (`rbdgen.graph.accuracy`). ``effort``: the
    limit that the robot's file states; None where it states none, or the coordinate is no effort.
    ``function``: of an accelerator.
    """

    row: str
    joint: str
    unit: str
    effort: float | None
    scales: Mapping[str, ScaleError]
    function: str | None = None

    @property
    def array(self) -> str:
        return array_named(self.row)

    @property
    def name(self) -> str:
        """``qdd[2]``, or of an accelerator's function ``qdd[2] of fd``."""
        return f"{self.row} of {self.function}" if self.function else self.row

    def relative(self, scale: StateScale) -> float:
        """The relative error at a scale; 0 where it is not known."""
        own = self.scales.get(scale.name)
        return (own and own.relative) or 0.0


def coordinate_errors(
    design: Design, robot: Robot, found: Accuracy, function: str | None = None
) -> list[CoordinateError]:
    """The errors of each coordinate; ``function``: of an accelerator."""
    meanings = Meanings(robot, design)
    efforts = {
        robot.joints[i].name: robot.joints[i].limits.effort
        for i in robot.free
        if robot.joints[i].kind.nv == 1
    }
    errors = []
    for row in found.sums:
        joint, quantity, unit = row_of(meanings, row)
        limit = efforts.get(joint, math.inf) if quantity == "effort" else math.inf
        effort = limit if 0 < limit < math.inf else None
        scales = _scales(found, row)
        errors.append(CoordinateError(row, joint, unit, effort, scales, function))
    return errors


def _scales(found: Accuracy, row: str) -> dict[str, ScaleError]:
    """A row's errors at the scales of which there are states."""
    errors = {}
    for k, scale in enumerate(REPORTED):
        if found.sums[row][k].states:
            rms, largest = found.absolute(row, k)
            relative = found.error(row, k)
            # what it is at rest may be nothing, as of an axis along gravity
            known = math.isfinite(relative) and (scale in SCALES or found.moves(row, k))
            errors[scale.name] = ScaleError(relative if known else None, rms, largest)
    return errors


def worst_at(errors: Iterable[CoordinateError], scale: StateScale) -> CoordinateError | None:
    """The coordinate with the largest relative error at a scale, or, where no coordinate has any
    size there, the one that is off most; None where there are no states of it."""
    known = [own for own in errors if scale.name in own.scales]
    return max(
        known, key=lambda own: (own.relative(scale), own.scales[scale.name].rms), default=None
    )


def worst_share(errors: Iterable[CoordinateError]) -> float:
    """The largest error of all, over what its scale allows where 1 is allowed at the limits."""
    return max((own.relative(k) / k.times for own in errors for k in SCALES), default=0.0)


def brief(errors: Iterable[CoordinateError]) -> str:
    """``tau[6] 1.6e-02 | tau[0] 5.4e-03``: a function's worst coordinate at the limits, and at a
    tenth of them."""
    known = list(errors)
    parts = []
    for scale in SCALES:
        if worst := worst_at(known, scale):
            own = worst.scales[scale.name]
            absolute = f"{own.rms:.1e} {worst.unit}".rstrip()
            size = absolute if own.relative is None else f"{own.relative:.1e}"
            parts.append(f"{worst.row} {size}")
    return " | ".join(parts) or "-"


def said(error: CoordinateError, scale: StateScale) -> str:
    """``tau[6] ("wrist") off by 1.6e-02 at the limits (0.0055 N·m, 0.0001 of its effort limit)``,
    of its own size there."""
    own = error.scales[scale.name]
    whose = f' ("{error.joint}")' if error.joint else ""
    unit = f" {error.unit}" if error.unit else ""
    beside = f"{own.rms:.2g}{unit}"
    if error.effort:
        beside += f", {own.rms / error.effort:.1g} of its effort limit"
    if own.relative is None:
        return f"{error.name}{whose} off by {beside} {scale.name}"
    return f"{error.name}{whose} off by {own.relative:.1e} {scale.name} ({beside})"


def coordinate_table(
    errors: Iterable[CoordinateError],
) -> tuple[tuple[str, ...], list[list[str]]]:
    """A head, and a row for each coordinate."""
    head = (
        "",
        "joint",
        *(scale.name for scale in REPORTED),
        "RMS, at the limits",
        "of its effort limit",
    )
    limits = SCALES[0].name
    rows = []
    for error in errors:
        own = error.scales
        found = [own[s.name].relative if s.name in own else None for s in REPORTED]
        absolute, share = "-", "-"
        if limits in own:
            absolute = f"{own[limits].rms:.2g} {error.unit}".rstrip()
            share = f"{own[limits].rms / error.effort:.1g}" if error.effort else "-"
        relative = ("-" if x is None else f"{x:.1e}" for x in found)
        rows.append([error.name, error.joint or "-", *relative, absolute, share])
    return head, rows


def worst_lines(errors: Iterable[CoordinateError]) -> list[str]:
    """The worst coordinate of each scale, of its own size there, a line each."""
    known = list(errors)
    found = [(worst_at(known, scale), scale) for scale in REPORTED]
    return [said(own, scale) for own, scale in found if own]
