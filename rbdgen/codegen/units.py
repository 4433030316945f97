"""The functions and the tables of a file for the units of its graphs, each there once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..graph.algorithm import Algorithm


class Spec(Protocol):
    """A unit that is described by an algorithm; equal ones are one."""

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that it computes."""


S = TypeVar("S", bound=Spec)


@dataclass(frozen=True)
class Function:
    """A function that computes a unit's outputs; ``outputs``: what each can be, in their order."""

    name: str
    text: str
    outputs: Mapping[str, tuple[int, int]]


@dataclass
class Tables:
    """The constant tables of a file; ``kind``: the type for numbers from the least to the largest.

    ``prefix``: of their names.
    """

    prefix: str
    kind: Callable[[int, int], str]
    named: dict[bytes, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def name(self, table: np.ndarray) -> str:
        """The name of a table (rows, columns), or of a column."""
        key = np.ascontiguousarray(table).tobytes() + repr(table.shape).encode()
        if key not in self.named:
            name = self.named[key] = f"{self.prefix}_table_{len(self.named) + 1}"
            if table.ndim == 1:
                rows, each = list(map(str, table.tolist())), 8
            else:
                rows, each = [f"{{{', '.join(map(str, row))}}}" for row in table.tolist()], 4
            lines = [", ".join(rows[k : k + each]) for k in range(0, len(rows), each)]
            body, shape = ",\n    ".join(lines), "".join(f"[{n}]" for n in table.shape)
            kind = self.kind(int(table.min()), int(table.max()))
            self.texts.append(f"static const {kind} {name}{shape} = {{\n    {body},\n}};")
        return self.named[key]


@dataclass
class Units(Generic[S]):
    """The functions for units; ``write``: of a name, a unit, and the widths of its operands."""

    prefix: str
    tables: Tables
    write: Callable[[str, S, Sequence[int], Tables], Function]
    made: dict[tuple[str, S, tuple[int, ...]], Function] = field(default_factory=dict)

    def function(self, kind: str, spec: S, widths: Sequence[int]) -> Function:
        """The function of a unit for operands of so many bits, or of the unit's width if larger."""
        inputs = spec.algorithm.inputs.values()
        taken = tuple(max(x.width, own) for x, own in zip(inputs, widths, strict=True))
        key = kind, spec, taken
        if key not in self.made:
            name = f"{self.prefix}_{kind}_{len(self.made) + 1}"
            self.made[key] = self.write(name, spec, taken, self.tables)
        return self.made[key]
