"""What visits of shared datapaths need: no flag rises for what nobody reads, and none too many."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.compile.expected import expected_errors
from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import compile_design, front_end
from rbdgen.schedule.allocation import needs_beside, needs_of

OBLIQUE = str(Path(__file__).parent.parent / "robots" / "oblique.urdf")


def test_sums_without_a_term_stay_within_their_words() -> None:
    """A sum that cancels is small; a visit that does not need it, and reads zero for one of its
    terms, made it larger than its word in 204 of 256 states."""
    choices = {"functions": ("did",), "fold": "joints", "ii": 24, "target": "xcup"}
    assert expected_errors(compile_design(OBLIQUE, **choices)).overflows == 0


@pytest.mark.parametrize("function", ["did", "fd"])
def test_sharing_never_needs_less(function: str) -> None:
    program = FixedFunctions(front_end(OBLIQUE, functions=(function,), fold="joints")).program[0]
    alone = needs_of(program)
    apart = needs_beside(program, [[visit] for visit in alone])
    together = needs_beside(program, [program.real.of(name) for name in program.templates])
    whole = needs_beside(program, [[visit] for visit in alone], whole=True)
    for visit, need in alone.items():
        assert apart[visit].nodes == need.nodes and apart[visit].idle == need.idle
        assert need.nodes <= together[visit].nodes <= whole[visit].nodes
        assert need.idle >= together[visit].idle >= whole[visit].idle
