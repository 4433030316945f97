"""How a design is connected: its clock, its reset and its two streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..system.records import NamedWord


@dataclass(frozen=True)
class Stream:
    """A valid/ready stream and the fields of its payload, packed from bit 0 in list order."""

    fields: tuple[NamedWord, ...]
    payload: str
    valid: str
    ready: str

    @property
    def width(self) -> int:
        """Bits of the payload."""
        return sum(f.width for f in self.fields)


@dataclass(frozen=True)
class RegisterPorts:
    """Ports through which registers for many tasks are written, one ``word`` a cycle."""

    word: NamedWord
    write: str


@dataclass(frozen=True)
class Ports:
    """How a design is connected: one clock, a synchronous reset or none, one stream each way."""

    input: Stream
    output: Stream
    clock: str = "clk"
    reset: str | None = "rst"
    registers: RegisterPorts | None = None

    @classmethod
    def of(
        cls,
        given: Sequence[NamedWord],
        found: Sequence[NamedWord],
        registers: RegisterPorts | None = None,
    ) -> Ports:
        """The ports of a component of Amaranth's with streams ``i`` and ``o``."""
        i, o = (
            Stream(tuple(fields), *(f"{way}__{part}" for part in ("payload", "valid", "ready")))
            for way, fields in (("i", given), ("o", found))
        )
        return cls(i, o, registers=registers)
