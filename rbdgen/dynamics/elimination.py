"""The factors of M = Lᵀ D L, and what is solved with them (Featherstone, RBDA §6.4, §6.5).

L is unit lower triangular and has an entry only where the row's coordinate lies below the column's
in the tree: the factorisation fills nothing in. Entries of M that are the number 0 are never
touched, so the sparsity needs no tree here. ``order`` maps each coordinate, root first, to the
joint whose regions its row is traced in.

A coordinate's step takes row k of M, less what the coordinates that hang on k leave of it, and
gives 1 / D_k, row k of L, and what k leaves to the ones that it hangs on. So it does with a right
side. Templates of visits:

    factor   both, of coordinate k
    solve    x_k = y_k / D_k - Σ L_ki x_i, root first

Rows and columns are told by how far a coordinate is from k, the nearest first, so that what each
visit reads is made under one name. Where visits share a datapath, shorter rows end in zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..graph.visits import Visit
from ..graph.word import spell
from .scalars import Arithmetic, Scalar, Vector
from .spatial import is_constant, is_zero
from .steps import Runner

Matrix = list[Vector]
Order = Mapping[int, int]
Column = dict[int, Scalar]  # coordinate → entry, zeros left out
Entries = dict[tuple[int, int], Scalar]  # of the lower triangle of a symmetric matrix
Triangle = list[Vector]  # rows of 1, 2, 3 … entries
ZERO = 0.0


@dataclass(frozen=True)
class Pattern:
    """Which entries L has. ``above``: coordinate → columns of its row, the nearest first."""

    above: Mapping[int, Sequence[int]]

    @classmethod
    def of(cls, M: Matrix, order: Order) -> Pattern:
        """The pattern of L, from the entries of M's lower triangle that are not zero."""
        rows = {k: {i for i in order if i < k and not is_zero([M[k][i]])} for k in order}
        for k in reversed(list(order)):
            for i in rows[k]:
                rows[i] |= {j for j in rows[k] if j < i}
        return cls({k: sorted(own, reverse=True) for k, own in rows.items()})

    @cached_property
    def longest(self) -> int:
        """Entries of the longest row, its diagonal with them."""
        return 1 + max(map(len, self.above.values()))

    @cached_property
    def below(self) -> dict[int, list[int]]:
        """Coordinate → those that hang on it next."""
        found: dict[int, list[int]] = {k: [] for k in self.above}
        for k, own in self.above.items():
            if own:
                found[own[0]].append(k)
        return found

    @cached_property
    def hanging(self) -> dict[int, list[int]]:
        """Coordinate → itself and all that hang on it."""
        found: dict[int, list[int]] = {}
        for k in reversed(list(self.above)):
            found[k] = sorted([k, *(i for c in self.below[k] for i in found[c])])
        return found

    def room(self, k: int) -> int:
        """How many coordinates a visit for ``k`` has room for: those of the limb that it is of."""
        while self.above[k] and len(self.below[self.above[k][0]]) == 1:
            k = self.above[k][0]
        return len(self.hanging[k])


@dataclass(frozen=True)
class EliminatedRow:
    """The elimination of one coordinate k.

    1 / D_k, row k of L without its diagonal, row k of H = M less what those below leave of it, the
    updates for the coordinates that it depends on, and k's own share of these.
    """

    inverse: Scalar
    L: Vector
    H: Vector
    left: Triangle
    shares: Triangle


@dataclass(frozen=True)
class Elimination:
    """The factors of rows and columns ``order`` of M, in regions "factor".

    ``rows``: by coordinate. ``known``: by name (`..words.factor_bounds`) all that they and
    numbered columns are made of, where a graph is traced.
    """

    run: Runner
    order: Order
    pattern: Pattern
    rows: dict[int, EliminatedRow] = field(default_factory=dict)
    known: dict[str, Scalar] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Runner, M: Matrix, order: Order) -> Elimination:
        """The factors of M, from its lower triangle.

        Where visits share a datapath, shares are added up from coordinate to coordinate, and a row
        of M is read in its own visit. Else each is taken from M where it is made, so that the next
        pivot waits for one difference.
        """
        found, left = cls(run, order, Pattern.of(M, order)), [list(row) for row in M]
        if not run.shares:
            places = ((i, j) for i in order for j in (i, *found.pattern.above[i]))
            entries = ((i, j) for i, j in places if not is_zero([M[i][j]]))
            found.known.update({spell("M", i, j): M[i][j] for i, j in entries})
        for k in reversed(list(order)):
            found._eliminate(k, left)
        return found

    def _eliminate(self, k: int, M: Matrix) -> None:
        places, visit, here = [k, *self.pattern.above[k]], self._visit(k), self._at("factor", k)
        if self.run.shares:
            size, below = self.pattern.longest, self.pattern.below[k]
            row = [M[k][i] for i in places] + [ZERO] * (size - len(places))
            left = [self._left(c, places, size) for c in below] or [triangle(size)]
            own = EliminatedRow(*self.run(visit, here, _eliminated, self._one, row, left))
        else:
            rest = [[M[i][j] for i in places[1 : a + 2]] for a, j in enumerate(places[1:])]
            row = [M[k][i] for i in places]
            own = EliminatedRow(*self.run(visit, here, _taken_from, self._one, row, rest))
            for a, j in enumerate(places[1:]):
                for b, i in enumerate(places[1 : a + 2]):
                    M[i][j] = own.left[a][b]
            self._note_row(k, places, own)
        self.rows[k] = own

    def _note_row(self, k: int, places: Sequence[int], own: EliminatedRow) -> None:
        known = self.known
        for a, i in enumerate(places):
            known[spell("H", k, i)] = own.H[a]
        for a, j in enumerate(places[1:]):
            known[spell("L", k, j)] = own.L[a]
            for b, i in enumerate(places[1 : a + 2]):
                known[spell("share", k, i, j)] = own.shares[a][b]

    @property
    def _one(self) -> Arithmetic:
        return self.run.arithmetic

    def _visit(self, k: int) -> Visit:
        below = len(self.pattern.below[k])
        return Visit(f"factor_of{below}" if below > 1 else "factor", (k,))

    def _at(self, kind: str, k: int) -> tuple[str, int]:
        return kind, self.order[k]

    def _left(self, c: int, places: Sequence[int], size: int) -> Triangle:
        """The updates of M from coordinate ``c``, at the ``places`` of the coordinate above it."""
        at, own = {i: n for n, i in enumerate(self.pattern.above[c])}, self.rows[c].left
        found = triangle(size)
        for a, i in enumerate(places):
            for b, j in enumerate(places[: a + 1]):
                if i in at and j in at:
                    found[a][b] = own[at[i]][at[j]]
        return found

    def L(self, k: int) -> Column:
        """Row k of L without its diagonal, the nearest coordinate first."""
        return dict(zip(self.pattern.above[k], self.rows[k].L, strict=False))

    def back(self, b: Column, regions: str = "") -> Column:
        """y = L⁻ᵀ b, in regions "back"; ``regions`` names others, of columns that depend on what
        was solved before."""
        rest: dict[int, Vector] = {}
        left, found = dict(b), dict[int, Scalar]()
        for k in reversed(list(self.order)):
            above, row, visit = self.pattern.above[k], self.rows[k], self._visit(k)
            here = self._at(f"back{regions}", k)
            if self.run.shares:
                below = [self._rest(c, rest[c], [k, *above]) for c in self.pattern.below[k]]
                below = below or [[ZERO] * self.pattern.longest]
                rest[k], found[k] = self.run(visit, here, _reduced, b.get(k, ZERO), row.L, below)
            else:
                found[k] = left.get(k, ZERO)
                others = [left.get(i, ZERO) for i in above]
                others = self.run(visit, here, less, others, row.L, found[k])
                left.update(zip(above, others, strict=True))
        return without_zeros(found)

    def _rest(self, c: int, rest: Vector, places: Sequence[int]) -> Vector:
        at = {i: n for n, i in enumerate(self.pattern.above[c])}
        found = [rest[at[i]] if i in at else ZERO for i in places]
        return found + [ZERO] * (self.pattern.longest - len(found))

    def out(self, y: Column, regions: str = "") -> Column:
        """x = L⁻¹ D⁻¹ y, in regions "out"."""
        found: Column = {}
        for k, above in self.pattern.above.items():
            row, here = self.rows[k], self._at(f"out{regions}", k)
            z: Scalar = ZERO
            if k in y:
                z = self.run(self._visit(k), here, operator.mul, y[k], row.inverse)
            others = [found.get(i, ZERO) for i in above]
            others += [ZERO] * (len(row.L) - len(others))
            found[k] = self.run(Visit("solve", (k,)), here, substituted, z, row.L, others)
        return without_zeros(found)

    def solve(self, b: Column, regions: str = "", number: int | None = None) -> Column:
        """M⁻¹ b, as ``known`` by this ``number``."""
        y = self.back(b, regions)
        x = self.out(y, regions)
        if number is not None:
            self.note(number, b, y, x)
        return x

    def note(self, number: int, b: Column, y: Column, x: Column) -> None:
        """A column of this ``number`` and what it is solved by are ``known``."""
        if self.run.shares:
            return
        for kind, made in (("b", b), ("y", y), ("x", x)):
            self.known.update({spell(kind, number, k): own for k, own in made.items()})
        for k, own in y.items():  # equal nodes are one
            self.known[spell("z", number, k)] = own * self.rows[k].inverse


def without_zeros(column: Column) -> Column:
    """A column's entries that are not the number 0."""
    return {k: x for k, x in column.items() if not is_zero([x])}


def _sum(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def triangle(size: int) -> Triangle:
    """Zeros in the shape of a lower triangle."""
    return [[ZERO] * (a + 1) for a in range(size)]


def _eliminated(
    arithmetic: Arithmetic, row: Vector, below: list[Triangle]
) -> tuple[Scalar, Vector, Vector, Triangle, Triangle]:
    """1 / D_k, L_k, H_k, what is left to the coordinates above, and k's share of that."""
    total = below[0]
    for other in below[1:]:
        total = [_sum(*rows) for rows in zip(total, other, strict=True)]
    # H_k = M_k - Σ
    H = [x - total[a][0] for a, x in enumerate(row)]
    return _shared(arithmetic, H, [rest[1:] for rest in total[1:]], operator.add)


def _taken_from(
    arithmetic: Arithmetic, H: Vector, rest: Triangle
) -> tuple[Scalar, Vector, Vector, Triangle, Triangle]:
    """The same where H_k is known, and M is reduced by k's shares at once."""
    return _shared(arithmetic, H, rest, operator.sub)


def _shared(
    arithmetic: Arithmetic, H: Vector, rest: Triangle, joined: Callable[[Scalar, Scalar], Scalar]
) -> tuple[Scalar, Vector, Vector, Triangle, Triangle]:
    """1 / D_k, L_k, H_k, ``rest`` joined with k's shares, and these: the farthest come first."""
    inverse = arithmetic.recip(H[0])
    L = [h * inverse for h in reversed(H[1:])][::-1]
    left, shares = [list(own) for own in rest], [list(own) for own in rest]
    for b in reversed(range(len(L))):
        for a in reversed(range(b, len(L))):
            share = L[b] * H[a + 1]
            if a == b == 0 and not is_constant(inverse):
                share = (H[1] * H[1]) * inverse  # the next pivot waits for nothing but 1 / D
            left[a][b], shares[a][b] = joined(rest[a][b], share), share
    return inverse, L, H, left, shares


def _reduced(b: Scalar, L: Vector, below: list[Vector]) -> tuple[Vector, Scalar]:
    """The right side's updates for the coordinates above, and y_k."""
    total = below[0]
    for other in below[1:]:
        total = _sum(total, other)
    # y_k = b_k - Σ
    y = b - total[0]
    return [x + entry * y for x, entry in zip(total[1:], L, strict=True)], y


def less(y: Vector, L: Vector, own: Scalar) -> Vector:
    """y_i - L_ki y_k, the farthest first."""
    terms = zip(reversed(y), reversed(L), strict=True)
    return [x - entry * own for x, entry in terms][::-1]


def substituted(z: Scalar, L: Vector, above: Vector) -> Scalar:
    """x_k = z_k - Σ L_ki x_i, the nearest x last, as it is the last to be known."""
    for entry, x in zip(reversed(L), reversed(above), strict=True):
        z = z - entry * x
    return z
