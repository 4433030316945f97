"""How many bits signals have: all of one width, or as few each as an error per coordinate takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from rbdgen.compile.front import Front
from rbdgen.graph.fixed import FixedGraph
from rbdgen.schedule.units import shared_jobs
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.order import UNITS, run, to_words, within_error, worst_error

TARGET = "ecp5-85f"  # whose multipliers are counted
PROMISED, ONE_WIDTH, ONE_POINT = "error per coordinate", "one width", "one point"
SIZE_HEAD = ("error", "bits", "widest", "multipliers")
T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """``bits`` of a sum or a product in the mean, and of the ``widest``; ``multipliers`` of the
    ECP5 that take a task in each cycle, and the ``error`` of the coordinate that is off most, over
    what is allowed at its scale (`rbdgen.graph.accuracy`): None where they are not known."""

    bits: float
    widest: int
    multipliers: int | None = None
    error: float | None = None

    def __str__(self) -> str:
        multipliers = "" if self.multipliers is None else f", {self.multipliers} multipliers"
        return f"{self.bits:.1f} bits on average{multipliers}"


@dataclass(frozen=True)
class Choice:
    """Words with as few bits each as keep an ``error`` per output coordinate, as ``rbdgen generate
    --error`` makes them; or, without one, all of a ``width``."""

    error: float | None = None
    width: int = 0

    def __str__(self) -> str:
        return f"{self.width} bits" if self.error is None else f"error {self.error:g}"

    @property
    def kind(self) -> str:
        return ONE_WIDTH if self.error is None else PROMISED

    def made(self, front: Front, given: InputDomain) -> tuple[FixedGraph, Size]:
        """A front's graph in such words. PrecisionError for an error that no words keep."""
        graph = run(UNITS, front.graph, None)
        if self.error is None:
            # widths that hardware is not made with, too
            _, fixed = to_words(graph, given, self.width)
        else:
            _, fixed = within_error(graph, given, self.error, front.target.multiplier_width)
        widths = [fixed.formats[node].width for node in fixed.arithmetic]
        return fixed, Size(
            sum(widths) / len(widths),
            max(widths),
            shared_jobs(fixed, front.target).multipliers(1),
            worst_error(fixed, graph, given).share,
        )


def size_cells(size: Size) -> list[Any]:
    """A table's, under `SIZE_HEAD`."""
    error = "-" if size.error is None else f"{size.error:.2g}"
    multipliers = "-" if size.multipliers is None else str(size.multipliers)
    return [error, f"{size.bits:.1f}", size.widest, multipliers]


def fewest_bits(tried: Iterable[tuple[float, T]], good: Callable[[T], bool]) -> T | None:
    """The good choice with the fewest mean bits, all larger numbers of bits having a good one, too.

    ``tried``: mean bits and choice. None where the largest number of bits has no good choice.
    """
    found: T | None = None
    by_bits: dict[float, list[T]] = {}
    for bits, own in tried:
        by_bits.setdefault(bits, []).append(own)
    for bits in sorted(by_bits, reverse=True):
        if not (those := [own for own in by_bits[bits] if good(own)]):
            break
        found = those[0]
    return found
