"""A report on the closed loops: a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..draw.curves import Panel, picture
from ..draw.tables import table
from .closed_loop import (
    DELAY,
    DELAYS,
    EFFORT,
    HORIZON,
    KINDS,
    LAP,
    LIMITS,
    NOISE,
    PERIOD,
    PERIODS,
    PUSH,
    PUSHED,
    REACH,
    REACHES,
    Loop,
    Track,
    run,
)
from .plant import RUNAWAY, SUBSTEPS
from .report import Progress, Reproduction

WIDTHS = (10, 12, 14, 16, 18, 20, 24, 32)
ALL_WIDTHS = (10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 32)
AS_GOOD = 0.05  # of float64's RMS error, which that of words may exceed in no task
ABOUT = f"""\
A controller plans at 1 kHz: iLQR of {HORIZON.knots} knots, {HORIZON.step:g} s apart, one iteration
in each period, beginning with the last plan. The arm is MuJoCo's, in {SUBSTEPS} steps a period;
{NOISE.position:g} rad and {NOISE.velocity:g} rad/s of noise in what is measured, and a push of
{PUSH:g} N on the last link for {PERIOD * (PUSHED[1] - PUSHED[0]):g} s, of which the controller does
not know. It knows of the delay. Roll-outs, costs and M⁻¹ are float64; the gradient is in words for
{LIMITS.velocity:g} rad/s and {LIMITS.acceleration:g} rad/s². R = {EFFORT:g}.

A figure eight in {LAP:g} s and {REACHES} seeded reaches in {REACH:g} s, to {PERIOD * PERIODS:g} s,
errors against their reference over all of it. Followed: held to the reference at every knot.
Planned: where the horizon ends is what counts, and a reach has its goal alone, from which the
errors are. Noise and push are the same for all gradients. "none": a gradient of zero. "lost":
faster than {RUNAWAY:g} rad/s in some joint, and stopped there."""
ENDS = """\
Words by the integer model, of which the Verilog has every bit (10 and 11 bits: the model's alone).
Not here: the time that a board takes to answer, for which the delay stands; joints that flex;
friction, of which this robot's file has none."""
HEAD = (
    *("gradient", "tool, RMS mm", "worst task to float64", "max mm", "joints, RMS rad", "max rad"),
    *("from float64's, max mm", "no step helped", "lost", "clipped", "overflowed"),
)


def closed(full: bool, _place: object, progress: Progress) -> Reproduction:
    """The table, the picture and the numbers; ``dfd``, more widths and delays if ``full``.

    InputError where MuJoCo is missing; NoCompiler, CompilerError.
    """
    functions = ("difd", "dfd") if full else ("difd",)
    widths, delays = (ALL_WIDTHS, DELAYS) if full else (WIDTHS, (DELAY,))
    loops = run(functions, widths, delays, PERIODS, progress)
    parts = [ABOUT]
    for function in functions:
        for delay in delays:
            own = [k for k in loops if k.bits is None or k.function == function]
            own = [k for k in own if k.delay == delay]
            for kind in KINDS:
                title = f"{kind}; {function}; a delay of {delay} ms"
                parts.append(f"{title}\n\n{table(HEAD, cells(own, kind))}\n{_said(own, kind)}")
    parts.append(f"Clipped and overflowed: in both kinds together. {ENDS}")
    return Reproduction(
        "\n\n".join(parts),
        {"loops": [asdict(loop) for loop in loops]},
        {"004-closed.svg": drawn([k for k in loops if k.delay == DELAY])},
    )


def cells(loops: Sequence[Loop], kind: str) -> list[list[Any]]:
    """A table's, under `HEAD`, of all tasks of a kind. The first loop is float64's."""
    rows = []
    for loop in loops:
        own = _of(loop, kind)
        rows.append(
            [
                loop.function if loop.bits is None else f"{loop.bits} bits",
                f"{_mean(own, 'rms_mm'):.3g}",
                f"{100 * (_worst(loop, loops[0], kind) - 1):+.1f} %",
                f"{max(t.most_mm for t in own):.3g}",
                f"{_mean(own, 'rms_rad'):.2g}",
                f"{max(t.most_rad for t in own):.2g}",
                f"{max(t.apart_mm for t in own):.2g}",
                f"{100 * np.mean([t.stuck for t in own]):.1f} %",
                f"{sum(t.lost for t in own)}/{len(own)}",
                loop.clipped,
                loop.overflowed,
            ]
        )
    return rows


def _of(loop: Loop, kind: str) -> list[Track]:
    return [track for track in loop.tracks if track.kind == kind]


def _mean(tracks: Sequence[Track], name: str) -> float:
    """The root of the mean square over all tasks, which take equally long."""
    return float(np.sqrt(np.mean([getattr(track, name) ** 2 for track in tracks])))


def _worst(loop: Loop, exact: Loop, kind: str) -> float:
    """The largest ratio of a task's RMS error to float64's."""
    pairs = zip(_of(loop, kind), _of(exact, kind), strict=True)
    return max(own.rms_mm / other.rms_mm for own, other in pairs)


def good_from(loops: Sequence[Loop], kind: str) -> int | None:
    """The least width from which on every width tried is as good as float64, the first loop."""
    found: int | None = None
    words = [(loop.bits, loop) for loop in loops if loop.bits is not None]
    for bits, loop in sorted(words, key=lambda own: -own[0]):
        lost = any(track.lost for track in _of(loop, kind))
        if lost or _worst(loop, loops[0], kind) > 1 + AS_GOOD:
            break
        found = bits
    return found


def _said(loops: Sequence[Loop], kind: str) -> str:
    bits = good_from(loops, kind)
    named = "none of these widths" if bits is None else f"{bits} bits and more"
    return f"Within {100 * AS_GOOD:g} % of float64's RMS error of the tool in every task: {named}."


def drawn(loops: Sequence[Loop]) -> str:
    """An SVG document: the tool's RMS error by width, and how far it is from float64's loop."""
    widths = sorted({loop.bits for loop in loops if loop.bits is not None})
    panels = []
    for kind in KINDS:
        series: dict[str, list[tuple[float, float]]] = {}
        for loop in loops:
            own = _of(loop, kind)
            at = widths if loop.bits is None else [loop.bits]
            name = f"{loop.function}: RMS error"
            series.setdefault(name, []).extend((float(b), _mean(own, "rms_mm")) for b in at)
            if loop.bits is not None:
                apart = max(track.apart_mm for track in own)
                series.setdefault(f"{loop.function}: from float64's loop, largest", []).append(
                    (float(loop.bits), max(apart, 1e-6))
                )
        panels.append(Panel(kind, "bits of a word", "tool, mm", series))
    return picture("004: control at 1 kHz with gradients in words", panels)
