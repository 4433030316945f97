"""The functions and the tables of a file for the units of its graphs, each there once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..graph.integers import Spec


@dataclass(frozen=True)
class UnitFunction:
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
class UnitFunctions:
    """The functions for units.

    ``write``: of a name, a unit, the widths of its operands, and what makes its products: dsp or
    fabric, or empty.
    """

    prefix: str
    tables: Tables
    write: Callable[[str, Spec, Sequence[int], str, Tables], UnitFunction]
    made: dict[tuple[str, Spec, tuple[int, ...], str], UnitFunction] = field(default_factory=dict)

    def function(
        self, kind: str, spec: Spec, widths: Sequence[int], products: str = ""
    ) -> UnitFunction:
        """The function of a unit for operands of so many bits, or of the unit's width if larger."""
        inputs = spec.algorithm.inputs.values()
        taken = tuple(max(x.width, own) for x, own in zip(inputs, widths, strict=True))
        key = kind, spec, taken, products
        if key not in self.made:
            name = f"{self.prefix}_{kind}_{len(self.made) + 1}"
            self.made[key] = self.write(name, spec, taken, products, self.tables)
        return self.made[key]
