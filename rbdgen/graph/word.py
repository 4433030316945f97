"""Names of an interface's words, ``steps``, ``q[2]``, ``M[1,0]``, ``f_ext[3].nx``, and arrays.

A graph's inputs and outputs are called so, and ports and reports after them. Here alone names are
read and spelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

SYMMETRIC = ("M", "Minv", "Lambda", "dqdd_c_dtau")  # a graph has their lower triangle only
ROOT = "root"  # a number of a state, below 0 where its base moves as it is told
PARAMETER = "parameter"  # a number that a register holds
FAR = "far"  # a number: 1 where the M⁻¹ that came in was not near, else 0
HOLD = "hold"  # components of λ, as coordinates of a search
DEVIATION = "deviation"  # of the file's parameters, in units of the tolerance
DRAWN = "drawn"  # velocities before they are those of held frames, as such coordinates
# As many as v has entries (less a given base's), as q has, twice v's, as frames are named, and
# six times that.
V, Q, X, FRAMES, DIRECTIONS = "v", "q", "x", "frames", "directions"
# As many as the bodies that joints move have inertial parameters, and as τ depends on.
PARAMETERS, BASE_PARAMETERS = "parameters", "base parameters"
NO_COUNTS: Mapping[str, int] = MappingProxyType({})
# Of one state, what is no matrix (v, v). Of named frames, all of them: position, rotation, velocity
# and J (linear part first, in the world's axes), what J's change adds to the acceleration, and the
# forces that hold them.
SHAPES: dict[str, tuple[int | str, ...]] = {
    **dict.fromkeys(
        ("q", "qd", "qd_next", "qdd", "qdd_c", "tau", "bias", "g", "nle", "tau_c"), (V,)
    ),
    "q_next": (Q,),
    "A": (X, X),
    "B": (X, V),
    **dict.fromkeys(("d2tau_dq2", "d2tau_dqd2", "d2tau_dq_dqd", "dM_dq"), (V, V, V)),
    "p": (FRAMES, 3),
    "R": (FRAMES, 3, 3),
    "J": (FRAMES, 6, V),
    **dict.fromkeys(("twist", "drift", "lambda_c"), (FRAMES, 6)),
    "Lambda": (DIRECTIONS, DIRECTIONS),
    **dict.fromkeys(("dlambda_c_dq", "dlambda_c_dqd", "dlambda_c_dtau"), (FRAMES, 6, V)),
    "com": (3,),
    "subcom": (FRAMES, 3),
    "Jcom": (3, V),
    "Ag": (6, V),
    "hg": (6,),
    "Y": (V, PARAMETERS),
    "Yb": (V, BASE_PARAMETERS),
    **dict.fromkeys((FAR, "kinetic", "potential"), ()),
}


def shape_of(
    array: str,
    rows: int,
    frames: int = 0,
    nq: int | None = None,
    counts: Mapping[str, int] = NO_COUNTS,
) -> tuple[int, ...]:
    """The shape in one state of an array that functions give, ``rows`` being nv or less; ``nq``:
    nv unless given; ``counts``: of `PARAMETERS` and `BASE_PARAMETERS`, where an array has them."""
    sizes = {V: rows, Q: rows if nq is None else nq, X: 2 * rows, FRAMES: frames}
    sizes |= {DIRECTIONS: 6 * frames, **counts}
    return tuple(sizes[d] if isinstance(d, str) else d for d in SHAPES.get(array, (V, V)))


def skipped_of(array: str, first: int) -> tuple[int, ...]:
    """The number of leading entries that an array lacks here, by index.

    They are those of a base of ``first`` coordinates whose motion is given.
    """
    return tuple(first if d == V else 0 for d in SHAPES.get(array, (V, V)))


SURE = 3.0  # standard deviations of a mean square, between what was measured and what holds


def array_of(names: Iterable[str]) -> dict[str, str]:
    """Output → its array."""
    return {name: kind_of(name) for name in names}


_NAME = re.compile(r"(\w+)(?:\[(\d+(?:,\d+)*)\])?(?:\.([\w.]+))?")


@dataclass(frozen=True)
class Word:
    """An entry of the array ``kind``, at ``indices``; of a wrench its ``axis``."""

    kind: str
    indices: tuple[int, ...] = ()
    axis: str = ""

    def __str__(self) -> str:
        index = f"[{','.join(map(str, self.indices))}]" if self.indices else ""
        return f"{self.kind}{index}{'.' if self.axis else ''}{self.axis}"


@cache
def parse(name: str) -> Word:
    """``f_ext[3].nx`` → ("f_ext", (3,), "nx"); ValueError for what is no name."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"no name of a graph input or output: {name!r}")
    kind, index, axis = match.groups()
    return Word(kind, tuple(map(int, index.split(","))) if index else (), axis or "")


def spell(kind: str, *indices: int, axis: str = "") -> str:
    """("M", 1, 0) → ``M[1,0]``."""
    return str(Word(kind, indices, axis))


def renamed(name: str, kind: str) -> str:
    """The same entry of another array: ``tau[3]`` → ``bias[3]``."""
    return str(replace(parse(name), kind=kind))


def kind_of(name: str) -> str:
    """``qdd[3]`` → qdd."""
    return parse(name).kind


def array_named(row: str) -> str:
    """``dtau_dq[3,:]`` → dtau_dq."""
    return row.partition("[")[0]


def first_of(row: str) -> Word:
    """``dtau_dq[3,:]`` → ("dtau_dq", (3,)): what of the indices a matrix's row has."""
    return parse(row.replace(",:", ""))


def indices(name: str) -> tuple[int, ...]:
    """``M[3,1]`` → (3, 1)."""
    return parse(name).indices


def not_registers(names: Sequence[str]) -> list[str]:
    """The inputs of a graph that come with each task."""
    return [name for name in names if not name.startswith(f"{PARAMETER}[")]
