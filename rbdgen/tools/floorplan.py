"""Where multipliers and block RAMs lie, before nextpnr places the logic around them.

They have few sites, in rows across the part. nextpnr's analytic placers first let them float and
then put them one by one where room is left: with most of the sites taken that tears apart what the
logic had gathered around (wire length 2.9 times longer at that step for ∇RNEA of iiwa14 on an
LFE5U-85F). Here their places are chosen together, by how strongly the logic ties them:

1. What the wires pull. Cells are springs, a net of k pins a clique of weight 1/(k - 1); all but the
   blocks are eliminated (the Schur complement of the Laplacian, Kron's reduction), which leaves one
   spring between each two blocks.
2. Who lies where. Spring times Manhattan distance, summed, is a quadratic assignment problem:
   simulated annealing, in whole numbers, seeded.

Where a placed design lies: a letter a tile, of the region that has the most cells there.
"""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..design.target import Target
from ..system.records import NoRecord, Record

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


Module = dict[str, Any]  # of a JSON netlist of Yosys
Springs = NDArray[np.int64]

FAN_OUT = 40  # nets with more pins say nothing about places: resets, phases
LOOSE = 1e-6  # of a spring to the middle, without which unconnected logic has no equilibrium
PRECISE = 1e-6  # residual of that equilibrium
TOGETHER = 64  # blocks whose pull is worked out at once, which bounds the memory
UNIT = 1000  # of a spring: one wire between two blocks
CENTRE = UNIT // 100  # the spring that holds each block to the middle of the part
MOVES = 8000  # tried for each block
HOT = 0.3  # the first temperature, of what a block adds to the sum at random places
COOLING = 1e-4  # the last temperature, of the first


@dataclass(frozen=True)
class HardBlocks:
    """Sites of one type of hard block on a die: rows of groups of four.

    ``rows``: y; ``groups``: x of each group's first site; ``within``: the sites of a group, by how
    far each lies behind the first and its name there.
    """

    rows: tuple[int, ...]
    groups: tuple[int, ...]
    within: tuple[tuple[int, str], ...]

    @property
    def sites(self) -> list[Site]:
        return [
            (x + step, y, name)
            for y in self.rows
            for x in self.groups
            for step, name in self.within
        ]


Site = tuple[int, int, str]  # x, y, name
Die = dict[str, HardBlocks]


def _die(groups: tuple[int, ...], multipliers: tuple[int, ...], rams: tuple[int, ...]) -> Die:
    return {
        "MULT18X18D": HardBlocks(
            multipliers, groups, tuple((k, f"MULT18_{k}") for k in (0, 1, 4, 5))
        ),
        "DP16KD": HardBlocks(rams, groups, tuple((2 * k, f"EBR{k}") for k in range(4))),
    }


# as nextpnr names and places them, see tests/tools/test_floorplan.py
DIES = {
    "--25k": _die((4, 13, 22, 33, 42, 51, 60), (13,), (25, 37)),
    "--45k": _die((4, 13, 22, 31, 42, 51, 60, 69, 78), (22, 46), (10, 34, 58)),
    "--85k": _die(
        (4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114), (10, 34, 58), (22, 46, 70, 82)
    ),
}
# Sold under other names: an LFE5U-12F is a 25F, and an LFE5UM5G has transceivers besides.
DIES |= {"--12k": DIES["--25k"]} | {f"--um5g-{size}k": DIES[f"--{size}k"] for size in (25, 45, 85)}


def floorplan(module: Module, target: Target, seed: int = 1) -> int:
    """Give every multiplier and block RAM of a mapped ``module`` its site, as nextpnr's BEL.

    Returns:
        How many have one now: 0 where the part has too few sites, which nextpnr will say better.
    """
    die = DIES[target.flag]
    names = [name for name, cell in module["cells"].items() if cell["type"] in die]
    kinds = [module["cells"][name]["type"] for name in names]
    if any(kinds.count(kind) > len(blocks.sites) for kind, blocks in die.items()):
        return 0
    sites = annealed(springs(module, names), kinds, die, seed)
    for name, (x, y, site) in zip(names, sites, strict=True):
        module["cells"][name]["attributes"]["BEL"] = f"X{x}/Y{y}/{site}"
    return len(names)


def springs(module: Module, blocks: list[str]) -> Springs:
    """How strongly the wires tie each block to each other, in 1/`UNIT` wires."""
    from scipy.sparse import identity  # late: a quarter of a second

    laplacian = _laplacian(module)
    index = {name: k for k, name in enumerate(module["cells"])}
    fixed = np.array([index[name] for name in blocks], dtype=int)
    moving = np.setdiff1d(np.arange(len(index)), fixed)
    pull = laplacian[moving][:, fixed].toarray()
    inner = (laplacian[moving][:, moving] + LOOSE * identity(len(moving))).tocsr()
    # Kron's reduction: what is left between the blocks when all others have come to rest
    moved = [_solved(inner, pull[:, k : k + TOGETHER]) for k in range(0, len(blocks), TOGETHER)]
    reduced = laplacian[fixed][:, fixed].toarray() - pull.T @ np.hstack([pull[:, :0], *moved])
    between = -(reduced + reduced.T) / 2
    np.fill_diagonal(between, 0)
    return np.rint(UNIT * between.clip(0)).astype(np.int64)


def _laplacian(module: Module) -> csr_matrix:
    """The Laplacian of the graph of cells, each net of k pins a clique of weight 1/(k - 1)."""
    from scipy.sparse import coo_matrix, diags  # late, as above

    pins: defaultdict[int, set[int]] = defaultdict(set)
    for k, cell in enumerate(module["cells"].values()):
        for bits in cell["connections"].values():
            for bit in bits:
                if isinstance(bit, int):
                    pins[bit].add(k)
    ends = [sorted(cells) for cells in pins.values() if 1 < len(cells) <= FAN_OUT]
    pairs = [(a, b, 1 / (len(net) - 1)) for net in ends for a in net for b in net if a < b]
    rows, columns, weights = (np.array(x) for x in zip(*pairs, strict=True)) if pairs else [[]] * 3
    size = len(module["cells"])
    half = coo_matrix((weights, (rows, columns)), shape=(size, size)).tocsr()
    adjacency = half + half.T
    return (diags(np.asarray(adjacency.sum(1)).ravel()) - adjacency).tocsr()


def _solved(matrix: csr_matrix, right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Conjugate gradients for all columns at once, with the diagonal as preconditioner."""
    scale = 1 / matrix.diagonal()[:, None]
    found, left = np.zeros_like(right), right.copy()
    along = scale * left
    size = (left * along).sum(0)
    for _ in range(matrix.shape[0]):
        if not (size > PRECISE).any():
            break
        moved = matrix @ along
        step = size / np.maximum((along * moved).sum(0), 1e-300)
        found += step * along
        left -= step * moved
        scaled = scale * left
        last, size = size, (left * scaled).sum(0)
        along = scaled + size / np.maximum(last, 1e-300) * along
    return found


def annealed(between: Springs, kinds: list[str], die: Die, seed: int) -> list[Site]:
    """A site for each block, so that springs are short: Σ spring · Manhattan distance."""
    rng = np.random.default_rng(seed)
    places = _Places(between, kinds, die, rng)
    count, moves = max(1, len(kinds)), MOVES * len(kinds)
    heat = HOT * places.total() / count * COOLING ** np.linspace(0, 1, moves)
    worst = heat * -np.log1p(-rng.random(moves))
    for block, where, most in zip(
        rng.integers(count, size=moves), rng.random(moves), worst, strict=True
    ):
        places.move(block, where, most)
    return places.sites


class _Places:
    """Who lies where; at first anywhere."""

    def __init__(
        self, between: Springs, kinds: list[str], die: Die, rng: np.random.Generator
    ) -> None:
        self._between, self._kinds = between, kinds
        self._all = {kind: blocks.sites for kind, blocks in die.items()}
        free = {kind: iter(rng.permutation(len(sites))) for kind, sites in self._all.items()}
        self._at = [int(next(free[kind])) for kind in kinds]
        self._who = {
            (kind, at): k for k, (kind, at) in enumerate(zip(kinds, self._at, strict=True))
        }
        ends = [(x, y) for sites in self._all.values() for x, y, _ in sites]
        self._middle = [(min(x) + max(x)) // 2 for x in zip(*ends, strict=True)]
        self._x, self._y = np.array([site[:2] for site in self.sites]).reshape(-1, 2).T.copy()

    @property
    def sites(self) -> list[Site]:
        return [self._all[kind][at] for kind, at in zip(self._kinds, self._at, strict=True)]

    def total(self) -> float:
        """Σ spring · Manhattan distance."""
        x, y = self._x, self._y
        return float((self._between * (abs(x[:, None] - x) + abs(y[:, None] - y))).sum()) / 2

    def move(self, block: int, where: float, most: float) -> None:
        """Put a block on the site that is the fraction ``where`` of all, and who is there on its.

        Not if the total would grow by more than ``most``.
        """
        kind, old = self._kinds[block], self._at[block]
        sites = self._all[kind]
        new = int(where * len(sites))
        if new == old:
            return
        (ax, ay, _), (bx, by, _) = sites[old], sites[new]
        longer = abs(self._x - bx) + abs(self._y - by) - abs(self._x - ax) - abs(self._y - ay)
        other = self._who.get((kind, new))
        pull = self._between[block]
        if other is None:
            change = pull @ longer + CENTRE * (
                self._from_middle(bx, by) - self._from_middle(ax, ay)
            )
        else:
            pull = pull - self._between[other]
            pull[[block, other]] = 0  # as far from each other as before
            change = pull @ longer
        if change > most:
            return
        self._put(block, kind, new)
        if other is None:
            del self._who[kind, old]
        else:
            self._put(other, kind, old)

    def _from_middle(self, x: int, y: int) -> int:
        return abs(x - self._middle[0]) + abs(y - self._middle[1])

    def _put(self, block: int, kind: str, at: int) -> None:
        self._at[block], self._who[kind, at] = at, block
        self._x[block], self._y[block], _ = self._all[kind][at]


FREE = "."
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHANNELS, TOP, OTHERS = "channels", "control", "others"
_BEL = re.compile(r"X(\d+)/Y(\d+)/")
_AROUND = ("TRELLIS_IO", "DCCA")  # pins, buffers of clocks


@dataclass(frozen=True)
class Floor(Record):
    """The tiles from column ``x`` and row ``y`` on, as nextpnr counts them.

    ``rows``: from ``y`` on, a letter a tile, `FREE` where no cell is. ``regions``: letter → region,
    those of most tiles first.
    """

    x: int
    y: int
    regions: Mapping[str, str]
    rows: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.rows or len({len(row) for row in self.rows}) > 1 or not self.rows[0]:
            raise NoRecord("a floor without tiles, or whose rows differ in length")


def floor_of(netlist: Mapping[str, Any]) -> Floor | None:
    """The floor of what nextpnr wrote, a netlist of one module; None where nothing is placed."""
    (module,) = netlist["modules"].values()
    tiles: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for name, cell in module["cells"].items():
        found = _BEL.match(cell["attributes"].get("NEXTPNR_BEL", ""))
        if found and cell["type"] not in _AROUND:
            tiles[int(found[1]), int(found[2])][region_of(name)] += 1
    if not tiles:
        return None
    most = {at: min(here, key=lambda own: (-here[own], own)) for at, here in tiles.items()}
    sizes = Counter(most.values())
    order = sorted(sizes, key=lambda own: (-sizes[own], own))
    if len(order) > len(LETTERS):
        order = [*order[: len(LETTERS) - 1], OTHERS]
    letter = dict(zip(order, LETTERS, strict=False))
    columns, rows = ([at[k] for at in most] for k in (0, 1))
    x, y = min(columns), min(rows)
    lines = [
        "".join(
            letter.get(most[c, r], letter.get(OTHERS, FREE)) if (c, r) in most else FREE
            for c in range(x, max(columns) + 1)
        )
        for r in range(y, max(rows) + 1)
    ]
    return Floor(x, y, {own: region for region, own in letter.items()}, tuple(lines))


def region_of(cell: str) -> str:
    """The region or stage that a cell belongs to, by its name in a flat netlist."""
    first, inside, _ = cell.partition(".")
    if not inside:
        return TOP
    return CHANNELS if first.startswith("fifo_") else first
