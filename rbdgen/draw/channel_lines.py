"""Which way the diagram's channels run from bar to bar, and where their labels stand.

All that one region sends to others leaves its right end as one line, turns up or down behind it,
and branches into the tracks of those that receive. What a receiver takes that fires before the
sender is done comes straight out of the sender's upper or lower edge, in one line with what others
take at about that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..graph.node import Region
from ..schedule.pipelined import INPUT, OUTPUT
from ..schedule.plan import Channel
from .bars import BEND, PORT, Bar, Layout, overlaps
from .svg import Point

TIP = 7.0  # between an arrow's end and the line that it comes from
NEAR, SAME = 3.5, 1.5  # verticals as near as this are hard to tell apart; look like one
TOGETHER = 56.0  # receivers that begin as near as this to each other share a line
NEARBY, CANDIDATES = 24, 40  # places that are tried
BLOCKED, BEHIND = 1000, 8  # costs of a place: near another vertical, behind a bar


@dataclass
class Route:
    """``label`` is the lower right corner of the channel's label."""

    points: list[Point]
    label: Point
    bundled: bool = False
    branches: bool = False  # off a line that goes on, at points[-2]


def routes(layout: Layout) -> dict[Channel, Route]:
    """A way for each channel of the plan."""
    verticals = _Verticals(list(layout.bars.values()))
    at = _early_lines(layout, verticals)  # the x at which a channel runs up or down
    for region in layout.bars:
        at |= _late_lines(layout, region, verticals)

    found: dict[Channel, Route] = {}
    for bar in layout.bars.values():
        near = [at[c] for port in bar.ports for c in port.channels if _is_early(layout, c)]
        labels = min([bar.left - TIP, *near]) - 4
        for port in bar.ports:
            for k, channel in enumerate(port.channels):
                row, column = divmod(k, port.columns)
                last = min(port.columns, len(port.channels)) - 1
                x = labels - port.cell * (last - column)
                y = bar.entry(port) + PORT * (row - 0.5 * (port.rows - 1)) + 3
                points = _points(layout, channel, bar, bar.entry(port), at)
                found[channel] = Route(points, (x, y), len(port.channels) > 1)
    for channel in layout.plan.channels:
        if channel.receiver == OUTPUT:
            y = layout.roof + 6  # of an input that is a result
            x = layout.start
            if channel.sender != INPUT:
                bar = layout.bars[channel.sender]
                x, y = bar.right, bar.exit(True, alone=not _late(layout, channel.sender))
            found[channel] = Route([(x, y), (layout.end, y)], (layout.end - 8, y + 3))
    _mark_branches(layout, found, at)
    return found


class _Verticals:
    """The vertical lines that have a place already."""

    def __init__(self, bars: list[Bar]) -> None:
        self.bars = bars
        self.taken: list[tuple[float, float, float]] = []

    def place(self, candidates: Sequence[float], ends: Sequence[float], behind: int) -> float:
        """The x of the best place for a line between the highest and lowest end.

        ``candidates`` begin with the one liked best; ``behind`` is the cost of crossing a bar.
        """
        top, bottom = min(ends), max(ends)

        def cost(k: int) -> tuple[int, int]:
            x = candidates[k]
            beside = [abs(x - u) for u, t, b in self.taken if t <= bottom and top <= b]
            on = sum((d < NEAR) + 2 * (d < SAME) for d in beside)
            bars = sum(
                b.left - 2 < x < b.right + 2 and top < b.top and b.bottom < bottom
                for b in self.bars
            )
            return BLOCKED * on + behind * bars + k, k

        x = candidates[min(range(len(candidates)), key=cost)]
        self.taken.append((x, top, bottom))
        return x


def _early_lines(layout: Layout, verticals: _Verticals) -> dict[Channel, float]:
    """The lines of channels between bars that overlap: as near to the receivers as may be."""
    lines: list[tuple[Bar, list[Channel], list[float]]] = []
    for region, bar in layout.bars.items():
        rest = [c for c in layout.plan.out_of(region) if _is_early(layout, c)]
        rest.sort(key=lambda c: layout.bars[c.receiver].left)
        while rest:
            first = layout.bars[rest[0].receiver].left
            together = [c for c in rest if layout.bars[c.receiver].left <= first + TOGETHER]
            rest = rest[len(together) :]
            nearest = min(first - TIP, bar.right - 2)
            step = min(BEND, max(2.0, (nearest - bar.left) / 4))
            places = [nearest - step * k for k in range(NEARBY)]
            lines.append((bar, together, [x for x in places if x > bar.left] or [bar.left + 2]))
    # First what has little choice. Then what ends furthest to the right: it enters furthest out,
    # and crosses least if it runs nearest to the receiver.
    lines.sort(key=lambda line: (min(len(line[2]), 4), -line[0].right))
    at: dict[Channel, float] = {}
    for bar, channels, places in lines:
        ends = [_entry(layout, c) for c in channels]
        ends += [_edge(bar, layout.bars[c.receiver]) for c in channels]
        at |= dict.fromkeys(channels, verticals.place(places, ends, 0))
    return at


def _late_lines(layout: Layout, region: Region, verticals: _Verticals) -> dict[Channel, float]:
    """The lines of channels from the region to bars that begin after it."""
    bar, channels = layout.bars[region], _late(layout, region)
    if not channels:
        return {}
    ends = [_leave(layout, bar), *(_entry(layout, c) for c in channels)]
    furthest = min(layout.bars[c.receiver].left for c in channels) - TIP - 2
    places = [bar.right + TIP + BEND * k for k in range(CANDIDATES)]
    x = verticals.place([p for p in places if p <= furthest] or places[:1], ends, BEHIND)
    return dict.fromkeys(channels, x)


def _is_early(layout: Layout, channel: Channel) -> bool:
    """Whether the receiver's bar begins before the sender's ends."""
    if channel.sender == INPUT or channel.receiver == OUTPUT:
        return False
    return overlaps(layout.bars[channel.sender], layout.bars[channel.receiver])


def _late(layout: Layout, region: Region) -> list[Channel]:
    """The channels to bars that begin after the region's ends."""
    out_of = layout.plan.out_of(region)
    return [c for c in out_of if c.receiver != OUTPUT and not _is_early(layout, c)]


def _edge(sender: Bar, receiver: Bar) -> float:
    """The y of the edge through which the sender sends while it is at work."""
    return sender.bottom if receiver.top > sender.top else sender.top


def _leave(layout: Layout, bar: Bar) -> float:
    """The y of the exit for all other bars."""
    alone = all(c.receiver != OUTPUT for c in layout.plan.out_of(bar.region))
    return bar.exit(to_output=False, alone=alone)


def _entry(layout: Layout, channel: Channel) -> float:
    bar = layout.bars[channel.receiver]
    return bar.entry(next(port for port in bar.ports if channel in port.channels))


def _points(
    layout: Layout, channel: Channel, to: Bar, entry: float, at: dict[Channel, float]
) -> list[Point]:
    """The points of a line from the sender to the receiver's left end."""
    if channel.sender == INPUT:
        return [(layout.start, entry), (to.left, entry)]
    bar, x = layout.bars[channel.sender], at[channel]
    if _is_early(layout, channel):
        return [(x, _edge(bar, to)), (x, entry), (to.left, entry)]
    leave = _leave(layout, bar)
    return [(bar.right, leave), (x, leave), (x, entry), (to.left, entry)]


def _mark_branches(layout: Layout, found: dict[Channel, Route], at: dict[Channel, float]) -> None:
    """The turns of a line are branches, but for the highest and the lowest of them."""
    for region in layout.bars:
        lines: dict[float, list[Route]] = {}
        for channel in layout.plan.out_of(region):
            if channel in at:
                lines.setdefault(at[channel], []).append(found[channel])
        for line in lines.values():
            heights = [y for route in line for _, y in route.points[:-1]]
            for route in line:
                route.branches = min(heights) < route.points[-1][1] < max(heights)
