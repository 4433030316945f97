"""How results pass along a robot's tree in JAX: by scans, by pointer jumping, link by link.

Leaves are arrays with links first. A chain's scans are `jax.lax.associative_scan`; on a tree every
link folds in its ancestor's operand and doubles its pointer to it, ⌈log₂ depth⌉ times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algebra import Array
from .jax_installed import jax, jnp
from .operators import Operand, Operator

Leaves = Any  # a tuple of arrays, or one
Indices = NDArray[np.int64]


class Numpy:
    """JAX's, with what `algebra.apart` asks for."""

    apart = staticmethod(jax.lax.optimization_barrier)

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)


class Passing:
    """Along the tree of ``parent`` (n,), −1 for the base."""

    xp = Numpy()

    def __init__(self, parent: Indices) -> None:
        self.parent = parent

    @property
    def n(self) -> int:
        return len(self.parent)

    @cached_property
    def is_chain(self) -> bool:
        return bool((self.parent == np.arange(-1, self.n - 1)).all())

    def outward(self, operator: Operator, elements: Operand) -> Operand:
        """Each link's operand after those of all links from the base to it."""
        if self.is_chain:
            return jax.lax.associative_scan(lambda a, b: operator(self.xp, a, b), elements)
        for ancestor in self._jumps():
            has = np.flatnonzero(ancestor < self.n)
            found = operator(
                self.xp, tuple(e[ancestor[has]] for e in elements), tuple(e[has] for e in elements)
            )
            elements = tuple(
                e.at[has].set(x, unique_indices=True) for e, x in zip(elements, found, strict=True)
            )
        return elements

    def inward(self, operator: Operator, elements: Operand) -> Array:
        """y of each link, of operands (…, b): b plus what its children's y are at this link.

        An operand carries from the link to its parent; all but the last of its arrays say how.
        The operator is linear in b.
        """
        carry, b = elements[:-1], elements[-1]
        if self.is_chain:
            # operand i holds the way from link i + 1; nothing comes from beyond the tip
            ways = tuple(jnp.concatenate([w[1:], w[:1]]) for w in carry)
            return self.along_limb(operator, (*ways, b))[-1]
        for ancestor in self._jumps():
            has = np.flatnonzero(ancestor < self.n)
            up = ancestor[has]
            own = tuple(w[has] for w in carry)
            arrived = operator(self.xp, (*own, 0 * b[has]), (*own, b[has]))[-1]
            b = b.at[up].add(arrived)
            above = tuple(w[up] for w in carry)
            jump = operator(self.xp, (*above, 0 * arrived), (*own, 0 * arrived))[:-1]
            carry = tuple(
                w.at[has].set(x, unique_indices=True) for w, x in zip(carry, jump, strict=True)
            )
        return b

    def along_limb(self, operator: Operator, elements: Operand) -> Operand:
        """Each operand with all those behind it, of links in a row."""
        return jax.lax.associative_scan(
            lambda tip, base: operator(self.xp, base, tip), elements, reverse=True
        )

    def sums_from_base(self, x: Array) -> Array:
        """The sums over each link and its ancestors."""
        return self.outward(lambda xp, a, b: (a[0] + b[0],), (x,))[0]

    def sums_of_subtrees(self, x: Array) -> Array:
        """The sums over each link and its descendants."""
        return self.inward(lambda xp, a, b: (a[0] + b[0],), (x,))

    def of_parents(self, x: Array, base: Array) -> Array:
        """Each link's parent's ``x``; the base's is ``base``, without links."""
        base = jnp.broadcast_to(jnp.asarray(base, x.dtype), x[:1].shape)
        if self.is_chain:
            return jnp.concatenate([base, x[:-1]])
        return jnp.concatenate([x, base])[self.parent]

    def to_parents(self, x: Array) -> Array:
        """Each link's sum of its children's ``x``."""
        if self.is_chain:
            return jnp.concatenate([x[1:], 0 * x[:1]])
        children = np.flatnonzero(self.parent >= 0)
        return (0 * x).at[self.parent[children]].add(x[children])

    def step_outward(self, step: Callable[..., Leaves], base: Leaves, links: Leaves) -> Leaves:
        """y = step(the parent's y, the link's arrays), one link after another; base: the base's."""
        if self.is_chain:

            def one(y: Leaves, link: Leaves) -> tuple[Leaves, Leaves]:
                y = step(y, link)
                return y, y

            return jax.lax.scan(one, base, links)[1]
        found = jax.tree.map(
            lambda y: jnp.zeros((self.n + 2, *y.shape), y.dtype).at[-2].set(y), base
        )

        def level(found: Leaves, at: Any) -> tuple[Leaves, None]:
            mine, place, above = at
            y = step(_at(found, above), _at(links, mine))
            return jax.tree.map(lambda f, x: f.at[place].set(x), found, y), None

        found = jax.lax.scan(level, found, self._levels)[0]
        return jax.tree.map(lambda f: f[: self.n], found)

    def step_inward(self, step: Callable[..., Leaves], none: Leaves, links: Leaves) -> Leaves:
        """(to the parent, result) = step(sum of what children sent, the link's arrays): results.

        ``none``: what no children send.
        """
        if self.is_chain:
            return jax.lax.scan(step, none, links, reverse=True)[1]
        sent = jax.tree.map(lambda x: jnp.zeros((self.n + 2, *x.shape), x.dtype), none)
        one = _at(links, np.zeros(1, int))
        shapes = jax.eval_shape(step, jax.tree.map(lambda x: x[None], none), one)[1]
        results = jax.tree.map(lambda s: jnp.zeros((self.n + 2, *s.shape[1:]), s.dtype), shapes)

        def level(carry: Leaves, at: Any) -> tuple[Leaves, None]:
            sent, results = carry
            mine, place, above = at
            up, result = step(_at(sent, place), _at(links, mine))
            sent = jax.tree.map(lambda f, x: f.at[above].add(x), sent, up)
            results = jax.tree.map(lambda f, x: f.at[place].set(x), results, result)
            return (sent, results), None

        results = jax.lax.scan(level, (sent, results), self._levels, reverse=True)[0][1]
        return jax.tree.map(lambda f: f[: self.n], results)

    def solve_symmetric(self, M: Array, b: Array) -> Array:
        """M⁻¹ b (nv, N), by Cholesky."""
        factor = jnp.linalg.cholesky(jnp.moveaxis(M, -1, 0))
        return jax.scipy.linalg.cho_solve((factor, True), b.T[..., None])[..., 0].T

    def _jumps(self) -> Iterator[Indices]:
        """Per round the 2^k-th ancestor of each link (n,); n where there is none."""
        ancestor = np.where(self.parent < 0, self.n, self.parent)
        while (ancestor < self.n).any():
            yield ancestor
            ancestor = np.append(ancestor, self.n)[ancestor]

    @cached_property
    def _levels(self) -> tuple[Indices, Indices, Indices]:
        """Each level of the tree, padded to the widest: links to read, places to write, parents.

        Place n is the base's, n + 1 is nobody's.
        """
        depth = np.zeros(self.n, int)
        for i, parent in enumerate(self.parent):
            depth[i] = depth[parent] + 1 if parent >= 0 else 0
        rows = [np.flatnonzero(depth == d) for d in range(depth.max() + 1)]
        place = np.full((len(rows), max(map(len, rows))), self.n + 1)
        for row, links in zip(place, rows, strict=True):
            row[: len(links)] = links
        parent = np.append(np.where(self.parent < 0, self.n, self.parent), [self.n, self.n])
        return np.where(place < self.n, place, 0), place, parent[place]


def _at(leaves: Leaves, at: Any) -> Leaves:
    return jax.tree.map(lambda x: x[at], leaves)
