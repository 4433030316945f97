"""Lathrop's algorithms over vectors (1985), for any interpreter of their four operations.

    mv  matrix times vector     vc  cross product     va  sum     sv  scalar times vector

Numbers and graph nodes compute (`Scalars`), points in time keep a timetable (`Timetable`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..dynamics import spatial
from ..system.records import Record

Vector = Any  # three scalars, or when they are there
Matrix = Any


class Operations(Protocol):
    """What the algorithms are written in. ``about``: what comes next, and of which link."""

    def about(self, variable: str, link: int) -> None: ...

    def mv(self, A: Matrix, x: Vector) -> Vector: ...

    def mm(self, A: Matrix, B: Matrix) -> Matrix: ...

    def vc(self, a: Vector, b: Vector) -> Vector: ...

    def va(self, a: Vector, b: Vector) -> Vector: ...

    def sv(self, s: Any, x: Vector) -> Vector: ...

    def dot(self, a: Vector, b: Vector) -> Any: ...

    def transposed(self, A: Matrix) -> Matrix: ...

    def row(self, A: Matrix, k: int) -> Vector: ...

    def column(self, z: Any) -> Vector: ...


class Scalars:
    """On numbers and graph nodes."""

    def about(self, variable: str, link: int) -> None:
        pass

    def mv(self, A: Matrix, x: Vector) -> Vector:
        return spatial.matvec(A, x)

    def mm(self, A: Matrix, B: Matrix) -> Matrix:
        return spatial.transposed([spatial.matvec(A, c) for c in spatial.transposed(B)])

    def vc(self, a: Vector, b: Vector) -> Vector:
        return spatial.cross(a, b)

    def va(self, a: Vector, b: Vector) -> Vector:
        return spatial.add(a, b)

    def sv(self, s: Any, x: Vector) -> Vector:
        return spatial.scale(s, x)

    def dot(self, a: Vector, b: Vector) -> Any:
        return spatial.dot(a, b)

    def transposed(self, A: Matrix) -> Matrix:
        return spatial.transposed(A)

    def row(self, A: Matrix, k: int) -> Vector:
        return A[k]

    def column(self, z: Any) -> Vector:
        return [0.0, 0.0, z]


class When(NamedTuple):
    """A point in time: so many multiplications and additions after the inputs."""

    multiplications: int = 0
    additions: int = 0

    @property
    def flops(self) -> int:
        return self.multiplications + self.additions


# One processor's time for each: a dot product is a product and two sums.
COSTS = {"mv": When(1, 2), "vc": When(1, 1), "va": When(0, 1), "sv": When(1, 0)}


@dataclass(frozen=True)
class Step(Record):
    """An operation of a timetable, in flops: one operation of one processor."""

    variable: str
    link: int
    operation: str
    start: int
    end: int


@dataclass
class Timetable:
    """Every operation as early as its operands are there; processors without limit."""

    steps: list[Step] = field(default_factory=list)
    _variable: str = ""
    _link: int = 0

    def about(self, variable: str, link: int) -> None:
        self._variable, self._link = variable, link

    def mv(self, A: Matrix, x: Vector) -> Vector:
        return self._after("mv", A, x)

    def mm(self, A: Matrix, B: Matrix) -> Matrix:
        """Three columns at once."""
        for _ in range(2):
            self._after("mv", A, B)
        return self._after("mv", A, B)

    def vc(self, a: Vector, b: Vector) -> Vector:
        return self._after("vc", a, b)

    def va(self, a: Vector, b: Vector) -> Vector:
        return self._after("va", a, b)

    def sv(self, s: Any, x: Vector) -> Vector:
        return self._after("sv", s, x)

    def dot(self, a: Vector, b: Vector) -> Any:
        return self._after("mv", a, b)

    def transposed(self, A: Matrix) -> Matrix:
        return A

    def row(self, A: Matrix, k: int) -> Vector:
        return A

    def column(self, z: Any) -> Vector:
        return z

    def _after(self, operation: str, *ready: When) -> When:
        last = max(ready, key=lambda when: (when.flops, when))
        cost = COSTS[operation]
        end = When(last.multiplications + cost.multiplications, last.additions + cost.additions)
        self.steps.append(Step(self._variable, self._link, operation, last.flops, end.flops))
        return end


@dataclass(frozen=True)
class Link:
    """Of standard DH frames: ``A`` the rotation of frame i in frame i − 1, ``p`` from the origin
    of i − 1 to that of i and ``r`` from there to the centre of mass, both in frame i; mass, and
    ``J`` about the centre of mass in frame i. Of a revolute joint, p and r are constants."""

    A: Matrix
    p: Vector
    r: Vector
    mass: Any
    J: Matrix


class Linear(NamedTuple):
    """τ of each link, and n of the first, whose dot product with the axis the first τ is."""

    tau: list[Any]
    first_moment: Vector


def linear(
    ops: Operations, links: list[Link], qd: list[Any], qdd: list[Any], a: Vector, still: Vector
) -> Linear:
    """Table 2 (Luh, Walker and Paul 1980), in the order of Table 4. Base at rest.

    ``a``: the base's acceleration, −g; ``still``: zeros.
    """
    w = al = still
    F: list[Vector] = []
    N: list[Vector] = []
    for i, link in enumerate(links):
        back, z, zz = ops.transposed(link.A), ops.column(qd[i]), ops.column(qdd[i])
        ops.about("ω̇", i)
        turned = ops.va(ops.va(ops.vc(w, z), zz), al)
        al = ops.mv(back, turned)
        ops.about("ω", i)
        w = ops.mv(back, ops.va(w, z))
        ops.about("p̈", i)
        own = ops.va(ops.vc(w, ops.vc(w, link.p)), ops.vc(al, link.p))
        a = ops.va(ops.mv(back, a), own)
        ops.about("r̈", i)
        own = ops.va(ops.vc(w, ops.vc(w, link.r)), ops.vc(al, link.r))
        mass_point = ops.va(own, a)
        ops.about("F", i)
        F.append(ops.sv(link.mass, mass_point))
        ops.about("N", i)
        N.append(ops.va(ops.vc(w, ops.mv(link.J, w)), ops.mv(link.J, al)))
    tau: list[Any] = [None] * len(links)
    f = n = still
    for i, link in reversed(list(enumerate(links))):
        ops.about("n", i)
        # s* = p* + r* is a constant; the centre's force about the origin of i − 1
        own = ops.va(ops.vc(_arm(link), F[i]), N[i])
        if i + 1 == len(links):
            n, f = own, F[i]
        else:
            ops.about("f", i)
            carried = ops.mv(links[i + 1].A, f)
            ops.about("n", i)
            n = ops.va(ops.mv(links[i + 1].A, n), ops.va(ops.vc(link.p, carried), own))
            ops.about("f", i)
            f = ops.va(carried, F[i])
        ops.about("τ", i)
        tau[i] = ops.dot(ops.row(link.A, 2), n)
    return Linear(tau, n)


@dataclass(frozen=True)
class Segment:
    """Links a to b, outward: all but W in frame b. ``Q`` is of joints that slide."""

    W: Matrix
    w: Vector
    al: Vector
    Q: Vector
    R: Vector
    S: Vector
    a: Vector


@dataclass(frozen=True)
class Held:
    """Links a to b, inward, in frame a: the rotation of frame b + 1, force and moment."""

    V: Matrix
    f: Vector
    n: Vector
    R: Vector  # from the origin of a − 1 to that of b, in frame b + 1


def logarithmic(
    ops: Operations,
    links: list[Link],
    qd: list[Any],
    qdd: list[Any],
    base: Segment,
    end: Matrix,
    still: Vector,
    network: Callable[[int], list[list[tuple[int, int]]]],
) -> list[Any]:
    """Table 5, with 2(S + Q) where it prints 2S + Q; τ of each link.

    ``base``: a moving base, which is the first leaf; ``end``: the rotation of no link beyond the
    last; ``still``: zeros, since these joints turn.
    """
    leaves = [base]
    for i, link in enumerate(links):
        ops.about("leaf", i)
        axis = ops.row(link.A, 2)
        w, al = ops.sv(qd[i], axis), ops.sv(qdd[i], axis)
        S = ops.vc(w, link.p)
        a = ops.va(ops.vc(al, link.p), ops.vc(w, S))
        leaves.append(Segment(link.A, w, al, still, link.p, S, a))
    found = scan(leaves, network, lambda X, Y: _glued(ops, X, Y))[1:]
    held = []
    for i, link in enumerate(links):
        w, al = found[i].w, found[i].al
        ops.about("r̈", i)
        own = ops.va(ops.vc(w, ops.vc(w, link.r)), ops.vc(al, link.r))
        mass_point = ops.va(own, found[i].a)
        ops.about("F", i)
        F = ops.sv(link.mass, mass_point)
        ops.about("N", i)
        N = ops.va(ops.vc(w, ops.mv(link.J, w)), ops.mv(link.J, al))
        ops.about("inward leaf", i)
        V = links[i + 1].A if i + 1 < len(links) else end
        n = ops.va(ops.vc(_arm(link), F), N)
        held.append(Held(V, F, n, ops.mv(ops.transposed(V), link.p)))
    back = scan(held[::-1], network, lambda Y, X: _glued_back(ops, X, Y))[::-1]
    ops.about("τ", 0)
    return [ops.dot(ops.row(link.A, 2), own.n) for link, own in zip(links, back, strict=True)]


def _arm(link: Link) -> Vector:
    """s* = p* + r*, a constant of the link."""
    if isinstance(link.p, When):
        return link.p
    return spatial.add(link.p, link.r)


def _glued(ops: Operations, X: Segment, Y: Segment) -> Segment:
    """X nearer to the base."""
    ops.about("glue", 0)
    V = ops.transposed(Y.W)
    w, al = ops.mv(V, X.w), ops.mv(V, X.al)
    wR = ops.vc(w, Y.R)
    twice = ops.va(wR, ops.sv(_two(Y.S), ops.va(Y.S, Y.Q)))
    own = ops.va(ops.va(ops.mv(V, X.a), Y.a), ops.vc(al, Y.R))
    return Segment(
        ops.mm(X.W, Y.W),
        ops.va(w, Y.w),
        ops.va(ops.va(al, Y.al), ops.vc(w, Y.w)),
        ops.va(ops.mv(V, X.Q), Y.Q),
        ops.va(ops.mv(V, X.R), Y.R),
        ops.va(ops.va(ops.mv(V, X.S), Y.S), wR),
        ops.va(own, ops.vc(w, twice)),
    )


def _two(like: Vector) -> Any:
    """The number, there from the start."""
    return When() if isinstance(like, When) else 2.0


def _glued_back(ops: Operations, X: Held, Y: Held) -> Held:
    """X nearer to the base."""
    ops.about("glue back", 0)
    return Held(
        ops.mm(X.V, Y.V),
        ops.va(X.f, ops.mv(X.V, Y.f)),
        ops.va(X.n, ops.mv(X.V, ops.va(ops.vc(X.R, Y.f), Y.n))),
        ops.va(ops.mv(ops.transposed(Y.V), X.R), Y.R),
    )


def scan(
    items: list[Any],
    network: Callable[[int], list[list[tuple[int, int]]]],
    glue: Callable[[Any, Any], Any],
) -> list[Any]:
    """Each item after all before it."""
    found = list(items)
    for level in network(len(items)):
        read = list(found)
        for last, first in level:
            found[last] = glue(read[first], read[last])
    return found
