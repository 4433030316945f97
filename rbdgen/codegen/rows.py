"""Functions of rows: arrays that have a row of numbers for each state, as hosts have them."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from .interface import ArrayInterface


def rows(interface: ArrayInterface) -> dict[str, Any]:
    """The template's values for the arguments of a function whose arrays are rows.

    An array that is both read and written is written as NAME_out.

    ``taken``, ``given``: names. ``rows_in``, ``rows_out``: of each array its name, shape, the size
    of a row, and the numbers of a state ``before`` it. ``row_in``, ``row_out``: numbers of a state.
    ``same``: the array that all states share, which ``taken`` ends with.
    """
    rows_in = [array.name for array in interface.takes]
    taken = [*rows_in, *([interface.same.name] if interface.same else [])]
    given = [array.name + "_out" * (array.name in taken) for array in interface.gives]

    def arguments(scalar: str) -> str:
        return ", ".join(
            [f"const {scalar} *{own}" for own in taken] + [f"{scalar} *{own}" for own in given]
        )

    def each(array: str) -> str:
        all_of = [f"{array}[{k}]" for k in range(len(rows_in) + len(given))]
        if interface.same:
            all_of.insert(len(rows_in), array.replace("array", interface.same.name))
        return ", ".join(all_of)

    found: dict[str, Any] = {"arguments": arguments, "each": each, "taken": taken, "given": given}
    found["same"] = interface.same
    for way, names, arrays in (("in", rows_in, interface.takes), ("out", given, interface.gives)):
        ends = list(accumulate((a.size for a in arrays), initial=0))
        found[f"row_{way}"] = ends[-1]
        found[f"rows_{way}"] = [
            {"name": name, "shape": array.shape, "size": array.size, "before": before}
            for name, array, before in zip(names, arrays, ends[:-1], strict=True)
        ]
    return found
