"""How results pass along a robot's tree in NumPy: by prefix networks, of numbers or graph nodes.

The counterpart of `rbdgen_host.parallel.passing` for JAX. On a tree, entry d of a link's network is
its ancestor at depth d, so that trunks are shared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.dynamics.networks import levels
from rbdgen.graph.node import Builder

from .algebra import Array, solved
from .operators import Operand, Operator

Indices = NDArray[np.int64]


class Nodes:
    """NumPy, with sines, reciprocals and limits of graph nodes."""

    def __init__(self, builder: Builder) -> None:
        self.sin = np.frompyfunc(builder.sin, 1, 1)
        self.cos = np.frompyfunc(builder.cos, 1, 1)
        self.reciprocal = np.frompyfunc(builder.recip, 1, 1)
        self._select = np.frompyfunc(builder.select, 3, 1)

    def clip(self, x: Array, low: float, high: float) -> Array:
        least = self._select(x - high, x, high)
        return self._select(least - low, low, least)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class Network:
    """Along the tree of ``parent`` (n,), −1 for the base; arrays of ``xp``, NumPy or Nodes.

    ``network``: one of `rbdgen.dynamics.networks.NETWORKS`, or "serial".
    """

    def __init__(self, parent: Indices, network: str = "sklansky", xp: Any = np) -> None:
        self.parent = parent
        self.xp = xp
        self.network = network

    @property
    def n(self) -> int:
        return len(self.parent)

    def outward(self, operator: Operator, elements: Operand) -> Operand:
        """Each link's operand after those of all links from the base to it."""
        found = tuple(np.array(e) for e in elements)
        depth = np.array([len(path) - 1 for path in self._paths])
        for level in levels(self.network, int(depth.max()) + 1):
            reads = {d: before for d, (before,) in level.items()}
            last = np.flatnonzero(np.isin(depth, list(reads)))
            first = np.array([self._paths[i][reads[depth[i]]] for i in last])
            made = operator(self.xp, tuple(e[first] for e in found), tuple(e[last] for e in found))
            for e, x in zip(found, made, strict=True):
                e[last] = x
        return found

    def inward(self, operator: Operator, elements: Operand) -> Array:
        """The scan of `Passing.inward`. Trees by pointer jumping, Kogge and Stone's network."""
        carry, b = tuple(np.array(w) for w in elements[:-1]), np.array(elements[-1])
        if (self.parent == np.arange(-1, self.n - 1)).all():
            ways = tuple(np.concatenate([w[1:], w[:1]]) for w in carry)
            return self.along_limb(operator, (*ways, b))[-1]
        ancestor = np.where(self.parent < 0, self.n, self.parent)
        while (ancestor < self.n).any():
            has = np.flatnonzero(ancestor < self.n)
            up = ancestor[has]
            own, above = (tuple(w[at] for w in carry) for at in (has, up))
            arrived = operator(self.xp, (*own, 0 * b[has]), (*own, b[has]))[-1]
            jump = operator(self.xp, (*above, 0 * arrived), (*own, 0 * arrived))[:-1]
            for k, i in enumerate(up):
                b[i] = b[i] + arrived[k]
            for w, x in zip(carry, jump, strict=True):
                w[has] = x
            ancestor = np.append(ancestor, self.n)[ancestor]
        return b

    def along_limb(self, operator: Operator, elements: Operand) -> Operand:
        """Each operand with all those behind it, of links in a row."""
        found = tuple(np.array(e[::-1]) for e in elements)
        for level in levels(self.network, len(found[0])):
            last, first = np.array([*level]), np.array([before for (before,) in level.values()])
            # backwards, what comes before is nearer to the tip
            made = operator(self.xp, tuple(e[last] for e in found), tuple(e[first] for e in found))
            for e, x in zip(found, made, strict=True):
                e[last] = x
        return tuple(e[::-1] for e in found)

    def sums_from_base(self, x: Array) -> Array:
        """The sums over each link and its ancestors."""
        return self.outward(lambda xp, a, b: (a[0] + b[0],), (x,))[0]

    def sums_of_subtrees(self, x: Array) -> Array:
        """The sums over each link and its descendants."""
        return self.inward(lambda xp, a, b: (a[0] + b[0],), (x,))

    def of_parents(self, x: Array, base: Array) -> Array:
        """Each link's parent's ``x``; the base's is ``base``, without links."""
        return np.concatenate([x, np.broadcast_to(base, x[:1].shape)])[self.parent]

    def to_parents(self, x: Array) -> Array:
        """Each link's sum of its children's ``x``."""
        found = np.array(0 * x)
        for i in np.flatnonzero(self.parent >= 0):
            found[self.parent[i]] = found[self.parent[i]] + x[i]
        return found

    def step_outward(self, step: Callable[..., Any], base: Any, links: Any) -> Any:
        """The recursion of `Passing.step_outward`."""
        found: list[Any] = []
        for i, parent in enumerate(self.parent):
            found.append(step(found[parent] if parent >= 0 else base, _at(links, i)))
        return _stacked(found)

    def step_inward(self, step: Callable[..., Any], none: Any, links: Any) -> Any:
        """The recursion of `Passing.step_inward`."""
        sent, results = [none] * self.n, [None] * self.n
        for i in reversed(range(self.n)):
            up, results[i] = step(sent[i], _at(links, i))
            if (parent := self.parent[i]) >= 0:
                sent[parent] = _plus(sent[parent], up)
        return _stacked(results)

    def solve_symmetric(self, M: Array, b: Array) -> Array:
        """M⁻¹ b (nv, N)."""
        return solved(self.xp, M, b[:, None])[:, 0]

    @cached_property
    def _paths(self) -> list[list[int]]:
        """The path from the base to each link."""
        paths: list[list[int]] = []
        for i, parent in enumerate(self.parent):
            paths.append([*(paths[parent] if parent >= 0 else []), i])
        return paths


def _at(leaves: Any, i: int) -> Any:
    return tuple(x[i] for x in leaves) if isinstance(leaves, tuple) else leaves[i]


def _plus(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip(a, b, strict=True)) if isinstance(a, tuple) else a + b


def _stacked(results: list[Any]) -> Any:
    if isinstance(results[0], tuple):
        return tuple(np.stack(parts) for parts in zip(*results, strict=True))
    return np.stack(results)
