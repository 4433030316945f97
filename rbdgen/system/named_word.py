"""Words by name: what ports, packets, tasks, registers and programs consist of."""

from __future__ import annotations

from dataclasses import dataclass

from .records import Record


@dataclass(frozen=True)
class NamedWord(Record):
    """A word of ``width`` bits (1 to 64), the last ``fraction`` of them behind the binary point.

    It is in two's complement if it is ``signed``. ValueError for another width.
    """

    name: str
    width: int
    signed: bool = True
    fraction: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 64:
            raise ValueError(f"word {self.name!r} of {self.width} bits: 1 to 64 possible")

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return 0, (1 << self.width) - 1
