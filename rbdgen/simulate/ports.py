"""How a design is connected: its clock, its reset and its two streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..system.records import Record


@dataclass(frozen=True)
class Field(Record):
    """One number inside a payload: ``width`` bits (1 to 64), ``fraction`` of them fractional."""

    name: str
    width: int
    signed: bool = True
    fraction: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 64:
            raise ValueError(f"field {self.name!r} of {self.width} bits: 1 to 64 possible")

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return 0, (1 << self.width) - 1


@dataclass(frozen=True)
class Stream:
    """A valid/ready stream and the fields of its payload, packed from bit 0 in list order."""

    fields: tuple[Field, ...]
    payload: str
    valid: str
    ready: str

    @property
    def width(self) -> int:
        """Bits of the payload."""
        return sum(f.width for f in self.fields)


@dataclass(frozen=True)
class Registers:
    """Ports through which registers for many tasks are written, one ``word`` a cycle."""

    word: Field
    write: str


@dataclass(frozen=True)
class Ports:
    """How a design is connected: one clock, a synchronous reset or none, one stream each way."""

    input: Stream
    output: Stream
    clock: str = "clk"
    reset: str | None = "rst"
    registers: Registers | None = None

    @classmethod
    def of(
        cls, given: Sequence[Field], found: Sequence[Field], registers: Registers | None = None
    ) -> Ports:
        """The ports of a component of Amaranth's with streams ``i`` and ``o``."""
        i, o = (
            Stream(tuple(fields), *(f"{way}__{part}" for part in ("payload", "valid", "ready")))
            for way, fields in (("i", given), ("o", found))
        )
        return cls(i, o, registers=registers)
