"""Word lengths for an error budget, signal by signal.

Truncating a word at 2^-f adds an error of variance 2^-2f / 12. How much of it reaches the outputs
is the signal's *gain* (`gains`). So the errors of a graph are

    Σ_n gain_n² 2^-2f_n / 12        (relative: an output array's root mean square counts as 1)

For a given sum the fewest bits are had where all signals contribute alike. Multipliers come in
steps, though: a word a bit too wide for one takes two. So words that meet a multiplier keep to
its width as far as the budget bears it, those that cost most and contribute least first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..graph.accuracy import Shares, worst_of
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.reciprocal import WIDEST
from ..graph.sincos import SinCos
from .ranges import Ranges
from .wordlength import UNIT_WIDTHS, WIDEST_FACTOR, PrecisionError, angles, integer_bits

T = TypeVar("T")
WEIGHINGS, ATTEMPTS = 1, 6
LEAST_COUNT = 2.0**-8  # of a coordinate's error in the sum: all are to keep some bits
FINER = 8  # how much less is aimed at where an error grows beyond what words hold
NEAR, KEPT = 0.8, 0.97  # of the error asked for, where a search for words may end
CLOSE = 0.85  # of an aim that is too large: one that is not, where it may end, too
EVEN_SHARE = 0.3  # of the budget, for words that no multiplier limits
FEWEST = 1  # bits of a word: errors that cancel in the outputs ask for none at all
COARSEST_ANGLE = 14  # fraction bits, in turns: with the narrowest sines an ulp of theirs at most


def fractions(
    graph: Graph, ranges: Ranges, gain: Mapping[Node, float], error: float, width: int
) -> dict[Node, int]:
    """Fraction bits of each node, so that the relative error of the outputs is about ``error``.

    ``width``: of a hardware multiplier's operand.
    """
    exact = (Op.CONST, Op.EXPONENT)  # as good as exact: a constant's bits cost nothing
    rounds = [n for n in graph.nodes if n.op not in exact and not n.is_shift]
    rounds = rounds or list(graph.outputs.values())  # of constants alone, their words round
    log_gain = {n: math.log2(max(gain[n], 1e-30)) for n in graph.nodes}
    offset = math.log2(12) / 2

    def at(level: float) -> dict[Node, int]:
        """Fractions at which no node contributes more than 2^level."""
        return {n: math.ceil(log_gain[n] - offset - level) for n in graph.nodes}

    def contribution(node: Node, fraction: int) -> float:
        return 4.0 ** (log_gain[node] - offset - fraction)

    low, high = -80.0, 20.0  # of the level, which a bisection brings to its share
    while high - low > 1e-3:
        level = (low + high) / 2
        chosen = at(level)
        total = sum(contribution(n, chosen[n]) for n in rounds)
        low, high = (level, high) if total < EVEN_SHARE * error**2 else (low, level)
    chosen = at(low)
    cost = _multiplications(graph)
    limit = {n: width - 1 - integer_bits(ranges.bound[n]) for n in cost}
    too_wide = [n for n in cost if chosen[n] > limit[n]]
    too_wide.sort(key=lambda n: (contribution(n, limit[n]) / cost[n], n.index))
    left = (1 - EVEN_SHARE) * error**2
    for node in too_wide:
        left -= contribution(node, limit[node])
        if left < 0:
            break
        chosen[node] = limit[node]
    for node, fits in limit.items():
        chosen[node] = min(chosen[node], fits + WIDEST_FACTOR - width)
    _alike(chosen, [n for n in graph.nodes if n.op in (Op.SIN, Op.COS)], limit)
    # what a sine unit can use at least: see SinCos.coarsest
    turned = [n for n in graph.nodes if n.op in (Op.SIN, Op.COS)]
    sines = {n: min(chosen[n], UNIT_WIDTHS[1] - 1) for n in turned}  # no unit has more bits
    phases = [chosen[n.args[0]] for n in sines]
    least = max([COARSEST_ANGLE, *phases, *(fraction - 2 for fraction in sines.values())])
    most = min([WIDEST, *(SinCos(0, fraction + 2).finest for fraction in sines.values())])
    finest = _of_phases(graph, most)
    for node, fraction in _of_phases(graph, least).items():
        if node.op is not Op.MULC:  # a constant factor may be as coarse as its gain allows
            chosen[node] = max(chosen[node], fraction)
        chosen[node] = min(chosen[node], finest[node])
    found = {}
    for node, fraction in chosen.items():
        whole = integer_bits(ranges.bound[node])
        found[node] = min(max(fraction, FEWEST - 1 - whole), WIDEST - 2 - whole)
    return found


def affordable(
    error: float,
    lower: Callable[[float, Shares], T],
    measure: Callable[[T], Shares],
    progress: Callable[[str], None] = lambda _: None,
) -> T:
    """Result of ``lower`` whose largest error is at most ``error`` and, if that can be, near it.

    ``lower`` makes one for the error to aim at, which the model of independent errors meets only
    roughly, and for how often each coordinate counts. What is measured says which of these have
    more bits than they need: they count less, `WEIGHINGS` times. Then it is aimed again until what
    is measured comes near, or until an aim is known that is hardly larger and too large. Where
    ``lower`` has errors that outgrow their words, less is aimed at.
    """
    best, kept, too_large = None, 0.0, math.inf  # what is made of the largest aim that is kept
    aim, counts, first, missed = error, dict[tuple[str, int], float](), None, 0
    reached = ""
    for attempt in range(WEIGHINGS + ATTEMPTS):
        try:
            made = lower(aim, counts)
        except PrecisionError as found:  # of this aim, at which words hold nothing but errors
            reached = reached or str(found)
            progress(f"error: {found}, of words for {aim:.2g}")
            too_large, aim = min(too_large, aim), aim / FINER
            continue
        shares = measure(made)
        worst = worst_of(shares)
        reached = f"{worst} is reached"
        progress(f"error: {worst} of words for {aim:.2g}, {error:.2g} promised at the limits")
        if attempt < WEIGHINGS and worst.share > 0:
            first = made if worst.share <= KEPT * error else first
            before = _together(shares, counts)
            counts = {
                own: max(counts.get(own, 1.0) * share / worst.share, LEAST_COUNT)
                for own, share in shares.items()
            }
            to = (KEPT + NEAR) / 2 * error / max(worst.share, error / 16)
            aim *= to * _together(shares, counts) / before
            continue
        if worst.share > KEPT * error:
            too_large, missed = min(too_large, aim), missed + 1
        elif aim > kept:
            best, kept = made, aim
        near_enough = best is made and worst.share >= NEAR * error
        if best is not None and (near_enough or kept >= CLOSE * too_large):
            break
        aim *= (KEPT + NEAR) / 2 * error / max(worst.share, error / 16)
        if best is None:  # an error that hardly depends on the aim
            aim /= 2.0 ** (missed - 1)
        if not kept < aim < too_large:
            aim = math.sqrt(kept * too_large)
    best = first if best is None else best
    if best is None:
        raise PrecisionError(
            f"error {error:g} takes words of more than {WIDEST_FACTOR} bits; {reached}; "
            "a larger --error, or a --width"
        )
    return best


def _together(shares: Shares, counts: Shares) -> float:
    """Error of all together, by the model of independent errors."""
    return math.sqrt(sum(counts.get(own, 1.0) * share**2 for own, share in shares.items()))


def smallest_width(
    error_at: Callable[[int], float], wanted: float, known: Mapping[int, float], least: int
) -> tuple[int | None, dict[int, float]]:
    """The smallest width from ``least`` up whose error is at most ``wanted``; None: there is none.

    And the error of every width tried. A bit about halves the error, so that widths at which it
    would have to fall twice as fast are passed over, until one is enough; then those just below.
    """
    tried = dict(known)

    def error(width: int) -> float:
        if width not in tried:
            tried[width] = error_at(width)
        return tried[width]

    width = least
    while error(width) > wanted:
        if width == WIDEST_FACTOR:
            return None, tried
        further = max(1, math.floor(math.log2(error(width) / wanted)))
        width = min(width + further, WIDEST_FACTOR)
    while width > least and error(width - 1) <= wanted:
        width -= 1
    return width, tried


def _alike(chosen: dict[Node, int], sines: list[Node], limit: Mapping[Node, int]) -> None:
    """Give sines the bits of the finest of them, those apart that are too wide for a multiplier.

    Units of one precision can be shared, and a bit more of a sine costs little.
    """
    wide = [n for n in sines if chosen[n] > limit.get(n, WIDEST)]
    for group in (wide, [n for n in sines if n not in wide]):
        chosen |= dict.fromkeys(group, max((chosen[n] for n in group), default=0))


def _of_phases(graph: Graph, least: int) -> dict[Node, int]:
    """Fraction bits of each of the `angles`, and of what else they are made of, that make
    ``least`` of what sine units read."""
    found: dict[Node, int] = {}
    among = angles(graph)
    for node in reversed(graph.nodes):
        turning = [u for u in graph.users[node] if u in among or u.op in (Op.SIN, Op.COS)]
        if turning:
            found[node] = max(
                # a shift moves the binary point
                found[user] + (math.frexp(user.value)[1] - 1 if user.is_shift else 0)
                if user in among
                else least
                for user in turning
            )
    return found


def _multiplications(graph: Graph) -> dict[Node, int]:
    """Node → how many products read its bits, itself or through powers of two."""
    found: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        count = sum(
            found.get(user, 0) if user.is_shift else int(user.op is Op.MUL)
            for user in graph.users[node]
        )
        if count:
            found[node] = count
    return {node: count for node, count in found.items() if not node.is_shift}
