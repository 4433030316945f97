"""A robot's tree, and the arrays of modules that it makes, side by side as a picture.

On the left every joint is a dot in the colour of the array that serves it, levels to the right. On
the right every module is a box: the root, then a bar wherever values are broadcast to several
arrays and their results summed, then the arrays. An array that limbs are time-multiplexed in stands
in a stack of as many sheets, behind a dashed gate. Text and shapes only; the same facts give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..robot.topology import NamedArray, NamedBranch, Organisation
from . import svg
from .svg import INK, PAPER

COLOURS = ("#2f6db3", "#a7611a", "#278152", "#8a52b5", "#b23a6b", "#0c7b9b", "#697918", "#b5403a")
GREY, RULE, STEM = "#5f6875", "#d5dae1", "#9aa3af"
PLAIN = "#e9ecf0"  # the root and bars
BOLD = 1.15  # how much wider than plain text
BROADCAST = "broadcast · sum"
TINT = 0.84  # how much of a box's fill is paper
LEFT, HEAD, FOOT = 22.0, 108.0, 82.0
LEVEL, DOT, TREE_ROW = 33.0, 11.0, 46.0  # of the tree: level to level, radius, row to row
WIDE, GAP, LINE = 38.0, 11.0, 12.0  # of a module, to the next one, a line of text in it
ROW_GAP = 62.0  # between arrays
ROOT, GATE, BAR, ARM = 84.0, 26.0, 13.0, 26.0  # widths: root's, gate's, bar's, a line's
SHEET, SHEETS = 3.0, 3  # a sheet's offset in a stack, and the most that are drawn
NAMES = 4  # lines in a module, and limbs' names beside an array

LEGEND = (
    "number: a joint, and the module that serves it; below a module: the columns that it handles",
    "bar: broadcast outwards, sum inwards; dashed gate: limbs are time-multiplexed in one array",
    "work of an array: the columns of all limbs that it serves; pace: the most of any array",
)


@dataclass(frozen=True)
class _Rows:
    """Children of each node (None: of the root), and where its row lies."""

    children: Mapping[int | None, Sequence[int]]
    at: Mapping[int | None, float]
    bottom: float


def organisation(facts: Organisation) -> str:
    """The result of ``rbdgen.api.topology`` as an SVG document."""
    arrays, branches = facts.arrays, facts.branches
    tree = _rows([b.after for b in branches], [TREE_ROW] * len(branches))
    organised = _rows([a.after for a in arrays], [_height(a) + ROW_GAP for a in arrays])
    array_of = {name: k for k, array in enumerate(arrays) for name in array.branches}
    colour = [COLOURS[k % len(COLOURS)] for k in range(len(arrays))]
    paint = [colour[array_of[branch.name]] for branch in branches]
    tree_width, width = _tree_width(facts, tree), _organised_width(facts, organised)
    high = max(tree.bottom, organised.bottom)
    middle = LEFT + tree_width + 30

    texts = [_headline(facts), *LEGEND]
    width = max(middle + width, *(14 + svg.extent(words, 12) for words in texts)) + LEFT
    page = svg.document(width, HEAD + high + FOOT, f"{facts.robot}: topology")
    _heading(page, facts, middle, HEAD + high)
    top = HEAD + (high - tree.bottom) / 2
    _tree(svg.group(page, id="tree"), facts, tree, paint, top)
    top = HEAD + (high - organised.bottom) / 2
    _organised(svg.group(page, id="arrays"), facts, organised, colour, (middle, top))
    return svg.to_text(page)


def _rows(after: Sequence[int | None], heights: Sequence[float]) -> _Rows:
    """Leaves below each other in depth-first order, every other node amid its children."""
    children: dict[int | None, list[int]] = {k: [] for k in (None, *range(len(after)))}
    for k, above in enumerate(after):
        children[above].append(k)
    at: dict[int | None, float] = {}
    bottom = 0.0

    def place(node: int | None) -> None:
        nonlocal bottom
        for child in children[node]:
            place(child)
        if children[node]:
            at[node] = (at[children[node][0]] + at[children[node][-1]]) / 2
        elif node is not None:
            at[node] = bottom + heights[node] / 2
            bottom += heights[node]

    place(None)
    return _Rows(children, at, bottom)


def _height(array: NamedArray) -> float:
    return max(30.0, LINE * min(len(array.branches), NAMES) + 8)


def _headline(facts: Organisation) -> str:
    modules, arrays = facts.modules, facts.arrays
    words = [
        f"depth {facts.depth}",
        f"{len(arrays)} array{'s' * (len(arrays) > 1)}",
        f"{modules.built} modules built of {modules.needed} needed",
        f"pace {facts.pace}",
        facts.root_note,
    ]
    return "  ·  ".join(words)


def _heading(page: ET.Element, facts: Organisation, middle: float, bottom: float) -> None:
    svg.text(page, 14, 30, facts.robot, size=19, weight="bold")
    svg.text(page, 14, 51, _headline(facts), size=12)
    joints = len(facts.joints)
    svg.text(page, 14, 86, f"tree: {joints} joint{'s' * (joints > 1)}", size=13, weight="bold")
    svg.text(page, middle, 86, "organisation", size=13, weight="bold")
    svg.line(page, [(middle - 20, 74), (middle - 20, bottom + 6)], RULE, 1)
    for row, text in enumerate(LEGEND):
        svg.text(page, 14, bottom + 34 + 15 * row, text, size=10, colour=GREY)


def _places(facts: Organisation) -> list[tuple[float, float]]:
    """Branch → x of its first dot and of its last, from the root's.

    Levels are evenly spaced, but for the room that the name above an inner branch takes.
    """
    places: list[tuple[float, float]] = []
    for branch in facts.branches:
        first = LEVEL
        if (above := branch.after) is not None:
            start, end = places[above]
            name = start - DOT + svg.extent(facts.branches[above].name, 10)
            first = max(end + LEVEL, name + LEVEL / 2 + 4)
        places.append((first, first + LEVEL * (len(branch.joints) - 1)))
    return places


def _span(branch: NamedBranch) -> str:
    names = branch.joints
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _root_x(facts: Organisation) -> float:
    """The x of the tree's root, its name to the left."""
    return LEFT + svg.extent(facts.root, 10) + 4 + DOT


def _tree_width(facts: Organisation, rows: _Rows) -> float:
    ends = []
    for k, (branch, place) in enumerate(zip(facts.branches, _places(facts), strict=True)):
        words = 0.0
        if not rows.children[k]:
            words = 8 + max(svg.extent(branch.name, 11.5), svg.extent(_span(branch), 10))
        ends.append(_root_x(facts) - LEFT + place[1] + DOT + words)
    return max(ends)


def _tree(
    group: ET.Element, facts: Organisation, rows: _Rows, paint: Sequence[str], top: float
) -> None:
    number = {name: k for k, name in enumerate(facts.joints, 1)}
    x0, y0 = _root_x(facts), top + rows.at[None]
    ends: dict[int | None, tuple[float, float]] = {None: (x0, y0)}
    stems, chains = svg.group(group), svg.group(group)
    svg.text(group, x0 - DOT - 5, y0 + 3.5, facts.root, "end", 10)
    svg.box(group, x0 - DOT, y0 - DOT, 2 * DOT, 2 * DOT, INK, INK)
    for k, (branch, place) in enumerate(zip(facts.branches, _places(facts), strict=True)):
        first, last, y = x0 + place[0], x0 + place[1], top + rows.at[k]
        from_, turn = ends[branch.after], first - LEVEL / 2
        svg.line(stems, [from_, (turn, from_[1]), (turn, y)], STEM, 1.6)
        svg.line(chains, [(turn, y), (last, y)], paint[k], 2)
        ends[k] = last, y
        for n, name in enumerate(branch.joints):
            joint = svg.group(group, name, class_="joint")
            x = first + LEVEL * n
            svg.dot(joint, (x, y), paint[k], DOT)
            svg.text(joint, x, y + 3.6, str(number[name]), "middle", 10, colour=PAPER)
        if rows.children[k]:
            svg.text(group, first - DOT, y - DOT - 5, branch.name, size=10, colour=paint[k])
        else:
            x = last + DOT + 6
            svg.text(group, x, y + 1, branch.name, size=11.5, colour=paint[k])
            svg.text(group, x, y + 13, _span(branch), size=10, colour=GREY)


def _root_width(facts: Organisation) -> float:
    return max(ROOT, svg.extent(facts.root, 10))


def _starts(facts: Organisation, rows: _Rows) -> list[float]:
    """Array → where its first module stands, from the left of the organisation."""
    starts: list[float] = []
    for array in facts.arrays:
        bar = ARM / 2 + BAR if len(rows.children[array.after]) > 1 else 0.0
        gate = GATE + ARM / 2 if len(array.branches) > 1 else 0.0
        starts.append(_end(facts, starts, array.after) + bar + ARM + gate)
    return starts


def _end(facts: Organisation, starts: Sequence[float], above: int | None) -> float:
    """Where lines to what follows an array (None: the root) begin to fork: right of its texts."""
    if above is None:
        return _root_width(facts)
    array = facts.arrays[above]
    words = BOLD * max(svg.extent(line, 10) for line in _above(array))
    return starts[above] + max(_length(array) + _sheets(array), words)


def _length(array: NamedArray) -> float:
    return array.size * (WIDE + GAP) - GAP


def _sheets(array: NamedArray) -> float:
    """How far the stack reaches beyond its first sheet."""
    return SHEET * min(len(array.branches) - 1, SHEETS)


def _limbs(array: NamedArray) -> list[str]:
    limbs = array.branches
    return [*limbs] if len(limbs) <= NAMES else [*limbs[: NAMES - 1], f"… {len(limbs)} limbs"]


def _title(array: NamedArray) -> str:
    turns = len(array.branches)
    return f"{array.size}-size array" + (f" ×{turns}" if turns > 1 else "")


def _work(array: NamedArray, pace: int) -> str:
    turns = len(array.branches)
    own = f"work {array.work}" + (f" = {turns} × {array.work // turns}" if turns > 1 else "")
    return own + (", the pace" if array.work == pace else "")


def _beside(array: NamedArray, pace: int) -> list[str]:
    """Lines beside an array that ends a limb."""
    return [_title(array), *_limbs(array), _work(array, pace)]


def _above(array: NamedArray) -> list[str]:
    """Lines above an array that others follow, which are shorter and do not set the pace."""
    return [_title(array), ", ".join(_limbs(array)), _work(array, 0)]


def _organised_width(facts: Organisation, rows: _Rows) -> float:
    ends = []
    for k, (start, array) in enumerate(zip(_starts(facts, rows), facts.arrays, strict=True)):
        words = BOLD * max(svg.extent(line, 11) for line in _beside(array, facts.pace))
        beside = 0.0 if rows.children[k] else 12 + words
        ends.append(start + _length(array) + _sheets(array) + beside)
    return max(ends)


def _organised(
    group: ET.Element,
    facts: Organisation,
    rows: _Rows,
    colour: Sequence[str],
    corner: tuple[float, float],
) -> None:
    left, top = corner
    starts = _starts(facts, rows)
    number = {name: k for k, name in enumerate(facts.joints, 1)}
    branches = {branch.name: branch for branch in facts.branches}
    _root(group, facts, left, top + rows.at[None])
    for above, children in rows.children.items():
        if children:
            last = _root_width(facts)
            if above is not None:
                last = starts[above] + _length(facts.arrays[above])
            fork = _end(facts, starts, above)
            ways = [(left + starts[k], top + rows.at[k]) for k in children]
            from_, y = left + last, top + rows.at[above]
            to = [(facts.arrays[k], colour[k]) for k in children]
            _lines(group, (from_, y), left + fork, ways, to)
    for k, array in enumerate(facts.arrays):
        limbs = [branches[name] for name in array.branches]
        at = left + starts[k], top + rows.at[k]
        row = _array(group, array, limbs, number, colour[k], at)
        if rows.children[k]:
            _words_above(row, array, colour[k], at)
        else:
            _words_beside(row, array, colour[k], at, facts.pace)


def _root(group: ET.Element, facts: Organisation, left: float, y: float) -> None:
    modules, width = facts.root_modules, _root_width(facts)
    height = 30.0 * max(len(modules), 1)
    root = svg.group(group, facts.root, id="root")
    svg.text(root, left, y - height / 2 - 6, facts.root, size=10)
    if not modules:
        svg.box(root, left, y - 15, width, 30, PAPER, GREY, "3 3")
        svg.text(root, left + width / 2, y + 4, "fixed base", "middle", 10, colour=GREY)
    for k, name in enumerate(modules):
        top = y - height / 2 + 30 * k
        svg.box(root, left, top + 1.5, width, 27, PLAIN, INK)
        svg.text(root, left + width / 2, top + 19, name, "middle", 10.5)


def _lines(
    group: ET.Element,
    start: tuple[float, float],
    fork: float,
    ends: Sequence[tuple[float, float]],
    to: Sequence[tuple[NamedArray, str]],
) -> None:
    """Draw lines from a module's end to the arrays ``to`` (with their colours), whose first modules
    stand at ``ends``: by a bar where there are several, a gate where limbs are time-multiplexed."""
    if len(ends) > 1:
        bar = fork + ARM / 2
        svg.line(group, [start, (bar, start[1])], GREY, 1.6)
        high, low = min(y for _, y in ends) - 15, max(y for _, y in ends) + 15
        svg.box(group, bar, high, BAR, low - high, PLAIN, GREY)
        x, y = bar + BAR / 2 + 3.2, (low + high) / 2
        if low - high > svg.extent(BROADCAST, 10):
            label = svg.text(group, x, y, BROADCAST, "middle", 10, colour=GREY)
            label.set("transform", f"rotate(-90 {svg.number(x)} {svg.number(y)})")
        start = bar + BAR, start[1]
    for (x, y), (array, colour) in zip(ends, to, strict=True):
        svg.line(group, [(start[0], y), (x, y)], colour, 1.6)
        if (turns := len(array.branches)) > 1:
            left = x - ARM / 2 - GATE
            svg.box(group, left, y - 12, GATE, 24, PAPER, colour, "3 2")
            svg.text(group, left + GATE / 2, y + 4, f"×{turns}", "middle", 11, "bold", colour)


def _array(
    group: ET.Element,
    array: NamedArray,
    limbs: Sequence[NamedBranch],
    number: Mapping[str, int],
    colour: str,
    at: tuple[float, float],
) -> ET.Element:
    """A row of modules; returns its group."""
    (x, y), height = at, _height(array)
    row = svg.group(group, ", ".join(array.branches), class_="array")
    for k in range(array.size):
        left = x + k * (WIDE + GAP)
        for sheet in reversed(range(1, min(len(limbs) - 1, SHEETS) + 1)):
            shift = SHEET * sheet
            svg.box(row, left + shift, y - height / 2 - shift, WIDE, height, PAPER, colour)
        module = svg.group(row, ", ".join(limb.joints[k] for limb in limbs), class_="module")
        svg.box(module, left, y - height / 2, WIDE, height, _tinted(colour), colour)
        words = [str(number[limb.joints[k]]) for limb in limbs]
        if len(words) > NAMES:
            words = [*words[: NAMES - 1], "…"]
        for n, word in enumerate(words):
            base = y + 4 + LINE * (n - (len(words) - 1) / 2)
            svg.text(module, left + WIDE / 2, base, word, "middle", 11)
        columns = str(limbs[0].columns[k])
        svg.text(row, left + WIDE / 2, y + height / 2 + 12, columns, "middle", 10, colour=GREY)
    return row


def _words_above(row: ET.Element, array: NamedArray, colour: str, at: tuple[float, float]) -> None:
    x, y = at[0], at[1] - _height(array) / 2 - _sheets(array) - 6
    for n, words in enumerate(reversed(_above(array))):
        weight, paint = ("bold", colour) if n == 2 else ("", colour if n == 0 else INK)
        svg.text(row, x, y - 12 * n, words, size=10, weight=weight, colour=paint)


def _words_beside(
    row: ET.Element, array: NamedArray, colour: str, at: tuple[float, float], pace: int
) -> None:
    lines = _beside(array, pace)
    x = at[0] + _length(array) + _sheets(array) + 12
    for n, words in enumerate(lines):
        y = at[1] + 4 + 13 * (n - (len(lines) - 1) / 2)
        weight = "" if n else "bold"
        paint = INK if 0 < n < len(lines) - 1 else colour
        svg.text(row, x, y, words, size=11, weight=weight, colour=paint)


def _tinted(colour: str) -> str:
    """The colour mixed with paper."""
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * TINT):02x}" for part in parts)
