"""Which coordinate is the worst, and how it is spelt in a table's cell."""

from __future__ import annotations

from rbdgen.design.coordinates import (
    CoordinateError,
    ScaleError,
    brief,
    coordinate_table,
    worst_lines,
)
from rbdgen.graph.accuracy import REPORTED, SCALES
from rbdgen_benchmarks.compare.integer_errors import worst_of_scales

NAMES = tuple(scale.name for scale in REPORTED)


def coordinate(name: str, *errors: float | None, effort: float | None = None) -> CoordinateError:
    """A coordinate that is 2 mN·m off at each scale; ``name``: as ``tau[0] of id``."""
    row, _, function = name.partition(" of ")
    scales = {name: ScaleError(x, 2e-3, 9e-3) for name, x in zip(NAMES, errors, strict=False)}
    return CoordinateError(row, f"joint {row[4]}", "N·m", effort, scales, function or None)


FAST = coordinate("tau[0] of id", 2e-4, 1e-3, None, effort=4.0)
SLOW = coordinate("tau[1] of id", 1e-4, 6e-3, 2e-2)
GOOD = coordinate("tau[2] of id", 1e-6, 1e-6, 1e-6)


def test_a_cell_has_the_worst_of_each_scale() -> None:
    assert brief([GOOD, FAST, SLOW]) == "tau[0] 2.0e-04 | tau[1] 6.0e-03"
    assert brief([GOOD, SLOW]) == "tau[1] 1.0e-04 | tau[1] 6.0e-03"
    assert brief([coordinate("tau[0]", None)]) == "tau[0] 2.0e-03 N·m"  # it is 0 there
    assert brief([]) == "-"


def test_those_coordinates_say_as_much_as_all() -> None:
    worst = worst_of_scales([GOOD, FAST, SLOW])
    assert worst == (FAST, SLOW) and worst_of_scales([GOOD]) == (GOOD,)
    assert brief(worst) == brief([GOOD, FAST, SLOW])
    assert worst_of_scales([]) == ()


def test_a_table_has_a_row_for_each() -> None:
    head, rows = coordinate_table([FAST, SLOW])
    assert head[2:5] == NAMES
    first = ["tau[0] of id", "joint 0", "2.0e-04", "1.0e-03", "-", "0.002 N·m", "0.0005"]
    second = ["tau[1] of id", "joint 1", "1.0e-04", "6.0e-03", "2.0e-02", "0.002 N·m", "-"]
    assert rows == [first, second]
    at_the_limits = "(0.002 N·m, 0.0005 of its effort limit)"
    assert worst_lines([FAST, SLOW]) == [
        f'tau[0] of id ("joint 0") off by 2.0e-04 {SCALES[0].name} {at_the_limits}',
        f'tau[1] of id ("joint 1") off by 6.0e-03 {SCALES[1].name} (0.002 N·m)',
        f'tau[1] of id ("joint 1") off by 2.0e-02 {REPORTED[2].name} (0.002 N·m)',
    ]
