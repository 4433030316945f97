"""A report on the closed loops: a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rbdgen.draw.tables import table
from rbdgen.system.quoting import Progress

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
from .loglog import Panel, picture
from .plant import RUNAWAY, SUBSTEPS
from .report import Reproduction
from .word_choices import Choice, fewest_bits
from .word_sweep import ALL

ERRORS, WIDTHS = (1e-1, 1e-2, 3e-3, 1e-3, 5e-4, 3e-4, 1e-4), (10, 12, 14, 16, 18)
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
faster than {RUNAWAY:g} rad/s in some joint, and stopped there. "error E": words that keep an error
of E of each coordinate's own size, matrices by rows, at the limits, and 10 E at a tenth of them;
"bits": of sums and products, in the mean."""
ENDS = """\
Words by the integer model, of which the Verilog has every bit (10 and 11 bits: the model's alone).
Not here: the time that a board takes to answer, for which the delay stands; joints that flex;
friction, of which this robot's file has none."""
HEAD = (
    *(
        "gradient",
        "bits",
        "tool, RMS mm",
        "worst task to float64",
        "max mm",
        "joints, RMS rad",
        "max rad",
    ),
    *("from float64's, max mm", "no step helped", "lost", "clipped", "overflowed"),
)


def closed(full: bool, _place: object, progress: Progress) -> Reproduction:
    """The table, the picture and the numbers; ``dfd``, more widths and delays if ``full``.

    InputError where MuJoCo is missing; NoCompiler, CompilerError.
    """
    functions = ("difd", "dfd") if full else ("difd",)
    errors, widths = (ALL.errors, ALL_WIDTHS) if full else (ERRORS, WIDTHS)
    delays = DELAYS if full else (DELAY,)
    choices = [Choice(error=error) for error in errors]
    choices += [Choice(width=width) for width in widths]
    loops = run(functions, choices, delays, PERIODS, progress)
    parts = [ABOUT]
    for function in functions:
        for delay in delays:
            own = [k for k in loops if k.choice is None or k.function == function]
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
                str(loop.choice or loop.function),
                "-" if loop.size is None else f"{loop.size.bits:.1f}",
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


def enough(loops: Sequence[Loop], kind: str) -> dict[str, Loop | None]:
    """Kind of words → those with the fewest bits in the mean from which on all that were tried are
    as good as float64, the first loop."""

    def good(loop: Loop) -> bool:
        lost = any(track.lost for track in _of(loop, kind))
        return not lost and _worst(loop, loops[0], kind) <= 1 + AS_GOOD

    tried: dict[str, list[tuple[float, Loop]]] = {}
    for loop in loops:
        if loop.choice and loop.size:
            tried.setdefault(loop.choice.kind, []).append((loop.size.bits, loop))
    return {words: fewest_bits(own, good) for words, own in tried.items()}


def _said(loops: Sequence[Loop], kind: str) -> str:
    named = (
        f"{words}: " + (f"{loop.choice}, {loop.size}" if loop else "none that was tried")
        for words, loop in enough(loops, kind).items()
    )
    return (
        f"Within {100 * AS_GOOD:g} % of float64's RMS error of the tool in every task, as with all "
        f"that were tried of more bits: {'; '.join(named)}"
    )


def drawn(loops: Sequence[Loop]) -> str:
    """An SVG document: the tool's RMS error by bits, and how far it is from float64's loop."""
    sizes = sorted(loop.size.bits for loop in loops if loop.size)
    panels = []
    for kind in KINDS:
        series: dict[str, list[tuple[float, float]]] = {}
        for loop in loops:
            own, rms = _of(loop, kind), "RMS error"
            if loop.choice is None or loop.size is None:
                ends = {sizes[0]: None, sizes[-1]: None}
                series[f"{loop.function}: {rms}"] = [(bits, _mean(own, "rms_mm")) for bits in ends]
                continue
            name, bits = f"{loop.function}, {loop.choice.kind}", loop.size.bits
            apart = max(1e-6, *(track.apart_mm for track in own))
            for what, value in ((rms, _mean(own, "rms_mm")), ("from float64's loop", apart)):
                series.setdefault(f"{name}: {what}", []).append((bits, value))
        panels.append(Panel(kind, "bits of a word in the mean", "tool, mm", series))
    return picture("004: control at 1 kHz with gradients in words", panels)
