"""Wishes of a user: a latency, a rate, a power, as numbers or as text with a unit (`3us`)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..robot.xml_lines import quoted
from ..system.records import Record
from .clock import Span

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs".casefold(): 1e-6, "ns": 1e-9}
WATTS = {"w": 1.0, "mw": 1e-3, "uw": 1e-6, "µw".casefold(): 1e-6}
HERTZ = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
_NUMBER = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-zμ]*)\s*")  # of folded case


@dataclass(frozen=True)
class Wishes(Record):
    """The ``latency`` [s] from a task that comes in any cycle to its result, at most, the ``rate``
    [tasks/s], at least, of the core alone, and its ``power`` [W], at most, at that rate, or with
    all tasks that there can be; None where there is no such wish."""

    latency: float | None = None
    rate: float | None = None
    power: float | None = None

    def __bool__(self) -> bool:
        return any(own is not None for own in vars(self).values())

    def missed(self, us: Span, rate: Span, watts: Span | None = None) -> dict[str, float]:
        """The wishes that a design in these ranges may miss → by which factor at worst, above 1;
        ``watts``: where they are known."""
        return self._missed(us.most, rate.least, watts.most if watts else None)

    def surely_missed(self, us: Span, rate: Span, watts: Span | None = None) -> dict[str, float]:
        """The same at best, where all is at the good end of its range."""
        return self._missed(us.least, rate.most, watts.least if watts else None)

    def _missed(self, us: float, rate: float, watts: float | None) -> dict[str, float]:
        off = {
            "latency": us * 1e-6 / self.latency if self.latency else 0.0,
            "rate": self.rate / (rate * 1e6) if self.rate else 0.0,
            "power": watts / self.power if self.power and watts else 0.0,
        }
        return {name: times for name, times in off.items() if times > 1}

    def spare(self, us: float, rate: float) -> float:
        """The part of what was wanted that a design has to spare; negative where it misses it."""
        shares = [math.inf]  # a placement says nothing about watts
        if self.latency:
            shares.append(1 - us * 1e-6 / self.latency)
        if self.rate:
            shares.append(rate * 1e6 / self.rate - 1)
        return min(shares)

    def verdict(self, us: float, rate: float) -> str:
        """The line of what was reached, in µs and M tasks/s."""
        spare = 100 * self.spare(us, rate)
        of_core = f"({us:.3g} µs, {rate:.3g} M tasks/s of the core)"
        behind = "; rbdgen energy estimates watts" if self.power else ""
        if math.isinf(spare):
            return f"wanted {self}{behind} {of_core}"
        near = f"{abs(spare):.0f}" if abs(spare) >= 1 else f"{abs(spare):.2g}"
        said = f"reached, {near} % to spare" if spare >= 0 else f"MISSED by {near} %"
        return f"wanted {self}: {said} {of_core}{behind}"

    def __str__(self) -> str:
        said = []
        if self.latency:
            said.append(f"a result within {1e6 * self.latency:.4g} µs")
        if self.rate:
            said.append(f"{self.rate / 1e6:.4g} M tasks/s")
        if self.power:
            said.append(f"{self.power:.4g} W at most")
        return " and ".join(said)


def seconds(value: object) -> float:
    """A time in seconds; text has a unit. Raises ValueError."""
    return _quantity(value, SECONDS, "a time such as 3us or 250ns")


def hertz(value: object) -> float:
    """Tasks a second. Raises ValueError."""
    return _quantity(value, HERTZ, "a rate such as 1MHz or 500kHz")


def watts(value: object) -> float:
    """A power in watts. Raises ValueError."""
    return _quantity(value, WATTS, "a power such as 1W or 200mW")


def _quantity(value: object, units: dict[str, float], what: str) -> float:
    found = _NUMBER.fullmatch(str(value).casefold())
    number = math.nan
    if found:
        # a number of Python's is in the unit of SI; in text it could be meant in any
        unit = found[2] if isinstance(value, str) else next(iter(units))
        try:
            number = float(found[1]) * units[unit]
        except (KeyError, ValueError):
            number = math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"expected {what}, not {quoted(str(value))}")
    return number
