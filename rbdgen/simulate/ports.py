"""How a design is connected: its clock, its reset and its two streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
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

    @classmethod
    def from_manifest(cls, entry: Mapping[str, Any], prefix: str) -> Stream:
        """Port names not given are Amaranth's: ``i__payload``, ``i__valid``, ``i__ready``."""
        fields = tuple(
            Field(f["name"], f["width"], f.get("signed", True), f.get("fraction", 0))
            for f in entry["fields"]
        )
        return cls(fields, *(entry.get(p, f"{prefix}__{p}") for p in ("payload", "valid", "ready")))


@dataclass(frozen=True)
class Ports:
    """How a design is connected: one clock, a synchronous reset or none, one stream each way."""

    input: Stream
    output: Stream
    clock: str = "clk"
    reset: str | None = "rst"

    @classmethod
    def from_manifest(cls, ports: Mapping[str, Any]) -> Ports:
        """From ``manifest["ports"]``::

            {"clock": "clk", "reset": "rst" or null,
             "input":  {"payload": "i__payload", "valid": "i__valid", "ready": "i__ready",
                        "fields": [{"name": "q0", "width": 18, "signed": true, "fraction": 15}]},
             "output": {...}}

        Only the two ``fields`` are required; ``signed`` defaults to true, ``fraction`` to 0.
        """
        return cls(
            Stream.from_manifest(ports["input"], "i"),
            Stream.from_manifest(ports["output"], "o"),
            ports.get("clock", "clk"),
            ports.get("reset", "rst"),
        )
