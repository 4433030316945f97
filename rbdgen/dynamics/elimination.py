"""M⁻¹ and q̈ from M = Lᵀ D L as visits to what one coordinate takes: for time-multiplexed joints.

The numbers are those of ``factorisation`` (Featherstone, RBDA §6.4, §6.5), in an order in which all
coordinates do the same, leaves first. With W = L⁻¹ and V = W D⁻¹

    M⁻¹ = V Wᵀ = Σ_k v_k w_kᵀ

a column of W and V after the other. Templates:

    factor   row k of M, less what the coordinates that hang on k leave of it: 1 / D_k, row k of L,
             and what k leaves to the ones that it hangs on; so it does with a right side
    inverse  column k of W and of V: of the coordinates that hang on k
    gather   M⁻¹ of these, k's column added
    solve    x_k = y_k / D_k - Σ L_ki x_i, root first

Rows and columns are told by how far a coordinate is from k, so that what each visit reads is made
under one name. Shorter ones end in zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..graph.visits import Visit
from .factorisation import Entries, Matrix, Order
from .scalars import Arithmetic, Scalar, Vector
from .spatial import is_constant, is_nothing
from .steps import Runner

Triangle = list[Vector]  # rows of 1, 2, 3 … entries
ZERO = 0.0


@dataclass(frozen=True)
class Pattern:
    """Which entries L has. ``above``: coordinate → columns of its row, the nearest first."""

    above: Mapping[int, Sequence[int]]

    @classmethod
    def of(cls, M: Matrix, order: Order) -> Pattern:
        """The pattern of L, from the entries of M that are not zero."""
        rows = {k: {i for i in order if i < k and not is_nothing(M[k][i])} for k in order}
        for k in reversed(list(order)):
            for i in rows[k]:
                rows[i] |= {j for j in rows[k] if j < i}
        return cls({k: sorted(own, reverse=True) for k, own in rows.items()})

    @property
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
    """The elimination of one coordinate, of M and of a right side.

    1 / D, L without its diagonal, the updates (of M, and of the right side) for the coordinates
    that it depends on, and y / D of the right side.
    """

    inverse: Scalar
    L: Vector
    left: Triangle
    rest: Vector
    y: Scalar


class Elimination:
    """Factors of the rows and columns ``order`` of M, and of a right ``side`` if there is one."""

    def __init__(
        self, run: Runner, M: Matrix, order: Order, side: Mapping[int, Scalar] | None = None
    ) -> None:
        self.run, self.order, self.pattern = run, order, Pattern.of(M, order)
        self.rows: dict[int, EliminatedRow] = {}
        for k in reversed(list(order)):
            self.rows[k] = self._row(k, M, side)

    def _row(self, k: int, M: Matrix, side: Mapping[int, Scalar] | None) -> EliminatedRow:
        pattern, size = self.pattern, self.pattern.longest
        places = [k, *pattern.above[k]]
        below = pattern.below[k]
        name = f"factor_of{len(below)}" if len(below) > 1 else "factor"
        row = [M[k][i] for i in places] + [ZERO] * (size - len(places))
        left = [self._left(c, places) for c in below] or [_triangle(size)]
        rest = [self._rest(c, places) for c in below] or [[ZERO] * size]
        visit, here = Visit(name, (k,)), ("factor", self.order[k])
        found = self.run(visit, here, _eliminated, self.run.arithmetic, row, left)
        if side is None:
            return EliminatedRow(*found, [ZERO] * size, ZERO)
        return EliminatedRow(
            *found, *self.run(visit, here, _reduced, side[k], found[0], found[1], rest)
        )

    def _left(self, c: int, places: Sequence[int]) -> Triangle:
        """The updates of M from coordinate ``c``, at the ``places`` of the coordinate above it."""
        at, own = {i: n for n, i in enumerate(self.pattern.above[c])}, self.rows[c].left
        found = _triangle(self.pattern.longest)
        for a, i in enumerate(places):
            for b, j in enumerate(places[: a + 1]):
                if i in at and j in at:
                    found[a][b] = own[at[i]][at[j]]
        return found

    def _rest(self, c: int, places: Sequence[int]) -> Vector:
        at, own = {i: n for n, i in enumerate(self.pattern.above[c])}, self.rows[c].rest
        found = [own[at[i]] if i in at else ZERO for i in places]
        return found + [ZERO] * (self.pattern.longest - len(found))

    def inverse(self) -> Entries:
        """M⁻¹, its lower triangle, zeros left out."""
        sums: dict[int, Triangle] = {}
        for k in reversed(list(self.order)):
            sums[k] = self._gathered(k, sums)
        roots = [k for k, above in self.pattern.above.items() if not above]
        return {
            (i, j): sums[k][a][b]
            for k in roots
            for a, i in enumerate(self.pattern.hanging[k])
            for b, j in enumerate(self.pattern.hanging[k][: a + 1])
            if not is_nothing(sums[k][a][b])
        }

    def _gathered(self, k: int, sums: Mapping[int, Triangle]) -> Triangle:
        """M⁻¹ of the coordinates that hang on ``k``, as far as ``k`` and they add to it."""
        pattern, here = self.pattern, ("inverse", self.order[k])
        size, places = pattern.room(k), pattern.hanging[k]
        L = [[ZERO] * a for a in range(size)]
        for a, i in enumerate(places):
            for l, entry in zip(pattern.above[i], self.rows[i].L, strict=False):
                if l in places:
                    L[a][places.index(l)] = entry
        visit = Visit(f"inverse_of{size}", (k,))
        W, V = self.run(visit, here, _column, self.rows[k].inverse, L)
        before = _triangle(size)
        for c in pattern.below[k]:
            own = [places.index(i) for i in pattern.hanging[c]]
            for a, i in enumerate(own):
                for b, j in enumerate(own[: a + 1]):
                    before[i][j] = sums[c][a][b]
        return self.run(Visit(f"gather_of{size}", (k,)), here, _with_column, before, W, V)

    def solve(self) -> dict[int, Scalar]:
        """x = M⁻¹ b, of the right side b."""
        found: dict[int, Scalar] = {}
        for k, joint in self.order.items():
            row, above = self.rows[k], self.pattern.above[k]
            others = [found[i] for i in above]
            others += [ZERO] * (len(row.L) - len(others))
            visit, here = Visit("solve", (k,)), ("out", joint)
            found[k] = self.run(visit, here, _substituted, row.y, row.L, others)
        return found


def _sum(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def _triangle(size: int) -> Triangle:
    return [[ZERO] * (a + 1) for a in range(size)]


def _eliminated(
    arithmetic: Arithmetic, row: Vector, below: list[Triangle]
) -> tuple[Scalar, Vector, Triangle]:
    """1 / D_k, L_k and what is left to the coordinates above: the nearest comes first."""
    size, total = len(row), below[0]
    for other in below[1:]:
        total = [_sum(*rows) for rows in zip(total, other, strict=True)]
    # H_k = M_k - Σ
    H = [x - total[a][0] for a, x in enumerate(row)]
    inverse = arithmetic.recip(H[0])
    L = [h * inverse for h in H[1:]]
    left = []
    for a in range(1, size):
        # Σ + L_ka H_kb
        shares = [L[a - 1] * H[b] for b in range(1, a + 1)]
        if a == 1 and not is_constant(inverse):  # the next pivot waits for nothing but 1 / D
            shares = [(H[1] * H[1]) * inverse]
        left.append([total[a][b + 1] + share for b, share in enumerate(shares)])
    return inverse, L, left


def _reduced(b: Scalar, inverse: Scalar, L: Vector, below: list[Vector]) -> tuple[Vector, Scalar]:
    """The right side's updates for the coordinates above, and y_k / D_k."""
    total = below[0]
    for other in below[1:]:
        total = _sum(total, other)
    # y_k = b_k - Σ
    y = b - total[0]
    return [x + entry * y for x, entry in zip(total[1:], L, strict=True)], y * inverse


def _column(inverse: Scalar, L: list[Vector]) -> tuple[Vector, Vector]:
    """W_ak = -L_ak - Σ L_al W_lk below the diagonal, and V_ak = W_ak / D_k from it on."""
    W: Vector = []
    for row in L[1:]:
        value = row[0]
        for entry, w in zip(row[1:], W, strict=True):
            value = value + entry * w
        W.append(-value)
    return W, [inverse, *(w * inverse for w in W)]


def _with_column(before: Triangle, W: Vector, V: Vector) -> Triangle:
    """Σ + w vᵀ, where w begins with a one."""
    rows = enumerate(W, 1)
    return [V[:1], *([V[a], *(before[a][b] + w * V[b] for b in range(1, a + 1))] for a, w in rows)]


def _substituted(y: Scalar, L: Vector, above: Vector) -> Scalar:
    """x_k = y_k / D_k - Σ L_ki x_i."""
    for entry, x in zip(L, above, strict=True):
        y = y - entry * x
    return y
