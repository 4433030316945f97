"""Plans of initiation interval 1: every operation has a unit, in the fewest cycles and registers.

A model of links between a host and an accelerator is here, too; it is not measured. Tasks go in,
through the core and out as in a pipeline, so that the slowest of the three sets the pace. The
host's own work and its driver's are in none of its figures.

Times are cycles since a task entered. A result registered by cycle t may be read in cycle t and
later; what waits is delayed by registers inside its region, or lies in the FIFO of a channel
between two regions. Which cycle each operation starts in is a linear program whose constraints
are differences, so its solutions are whole numbers: first the shortest latency (a longest
path), then the fewest bits of delay at that latency (Leiserson and Saxe's retiming objective).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import STILL, Node, Op, Region
from .difference_constraints import DifferenceConstraints, ScheduleError
from .units import Binding, reciprocal_latency, shifting, sincos_latency, sincos_products


@dataclass(frozen=True)
class HostLink:
    """A link that carries both ways at once.

    ``rate``: bytes a second on the wire, each way, line coding taken off. ``payload``: bytes of a
    packet at most, ``overhead``: those of its head, tail and acknowledgement. ``turn``: seconds
    that a call waits besides, there and back. ``source``: of all four. ``framed``: each task and
    each result is a frame of a board's line, in a packet of its own; else tasks are 32-bit words
    and those that come together share packets.
    """

    name: str
    rate: float
    payload: int
    overhead: int
    turn: float
    source: str
    framed: bool = False

    def seconds(self, size: float) -> float:
        """The time [s] of ``size`` bytes one way, in packets as full as possible."""
        packets = math.ceil(size / self.payload)
        return (size + packets * self.overhead) / self.rate

    def each(self, size: float, tasks: int) -> float:
        """Seconds a task of ``size`` bytes one way, of so many that come together."""
        return self.seconds(size) if self.framed else self.seconds(tasks * size) / tasks

    def call(self, taken: int, given: int) -> float:
        """Seconds of a task alone: ``taken`` bytes in, ``given`` bytes out, none in the core."""
        return self.turn + self.seconds(taken) + self.seconds(given)

    def pace(self, taken: int, given: int) -> float:
        """Tasks a second, one right behind the other, both ways at a time."""
        return 1 / max(self.each(taken, 1), self.each(given, 1))


# preamble 8, Ethernet 14, IPv4 20, UDP 8, checksum 4, gap 12; the turn is an assumption
UDP = HostLink(
    "1 GbE, UDP", 125e6, 1472, 66, 30e-6, "IEEE 802.3, RFC 768; turn: assumed", framed=True
)
# Start and stop bit. An FTDI bridge passes on what came when 62 bytes are there or its latency
# timer is out: 1 ms at the least, 16 ms unless it is set (FTDI AN232B-04).
LATENCY_TIMER, DEFAULT_TIMER = 1e-3, 16e-3
UART = HostLink(
    "UART, 3 Mbaud",
    0.3e6,
    1 << 30,
    0,
    LATENCY_TIMER,
    "10 bits a byte; turn: FTDI's latency timer, set to 1 ms (AN232B-04)",
    framed=True,
)


INPUT: Region = ("input", 0)
OUTPUT: Region = ("output", 0)
INPUT_REGISTER = 1  # cycle that a task spends in a register before its words enter their FIFOs
FIFO_WEIGHT = 0.1  # a bit waiting in LUT-RAM against a bit waiting in a register


def region_of(node: Node) -> Region:
    if node.op is Op.INPUT:
        return INPUT
    if node.region is None:
        raise ScheduleError(f"{node.op.value} node {node.index} belongs to no region")
    return node.region


def region_name(region: Region) -> str:
    """The region's module: ``forward_3`` is what joint 3 does on the way out."""
    kind, joint = region
    return kind if region in (INPUT, OUTPUT) else f"{kind}_{joint}"


@dataclass(frozen=True)
class Schedule:
    """When everything happens.

    ``time``  node → first cycle its registered result can be read.
    ``read``  (node, region) → cycle in which another region reads the node from its FIFO, to
              be used one cycle later.
    ``fire``  region → cycle in which it takes its tokens.
    ``latency`` cycles from a task's entry to its result at the output.
    """

    fixed: FixedGraph
    binding: Binding
    target: Target
    time: Mapping[Node, int]
    read: Mapping[tuple[Node, Region], int]
    fire: Mapping[Region, int]

    def duration(self, node: Node) -> int:
        return duration(self.fixed, self.binding, self.target, node)

    def start(self, node: Node) -> int:
        """The cycle in which the node's unit takes its operands."""
        return self.time[node] - self.duration(node)

    def written(self, node: Node) -> int:
        """The cycle at whose end the node's result enters a FIFO."""
        return self.time[node] - (1 if ends_in_adder(self.fixed, node) else 0)


def duration(fixed: FixedGraph, binding: Binding, target: Target, node: Node) -> int:
    """Cycles from operands to registered result."""
    match node.op:
        case Op.INPUT:
            return INPUT_REGISTER
        case Op.ADD | Op.SUB | Op.NEG | Op.SELECT | Op.SATURATE:
            return 1
        case Op.MUL:
            a, b = (fixed.formats[x].width for x in node.args)
            latency = target.multiplier_latency(a, b, binding.style[node])
            return latency + fixed.formats[node].rounded
        case Op.SIN | Op.COS:
            unit = fixed.sincos(node)
            style = binding.sincos[node.args[0]]
            made = sincos_products(unit, target, style)
            return sincos_latency(unit, [product.latency for product in made])
        case Op.MANTISSA | Op.EXPONENT:
            spec = fixed.reciprocal(node)
            style = binding.recip[node.args[0]]
            products = [target.multiplier_latency(a, b, style) for a, b in spec.products]
            return reciprocal_latency(spec, products)
        case Op.SCALE:
            return len(shifting(fixed.scale(node).steps)) + 1
    raise ScheduleError(f"no unit for {node.op.value}")


def ends_in_adder(fixed: FixedGraph, node: Node) -> bool:
    """Whether the unit's last stage is an adder (or a multiplexer) alone.

    A FIFO can stand in for its register.
    """
    if node in fixed.in_cell:
        return False
    return node.op in (Op.ADD, Op.SUB, Op.NEG, Op.SCALE, Op.SELECT, Op.SATURATE) or (
        node.op is Op.MUL and fixed.formats[node].rounded
    )


def unit(fixed: FixedGraph, node: Node) -> object:
    """The unit of scheduling: a node, or the unit with two results of one operand.

    Sine and cosine of an angle, mantissa and exponent of a reciprocal. A product and the sum in its
    cell are done together.
    """
    if node in fixed.fused:
        return fixed.fused[node]
    if node.op in (Op.SIN, Op.COS):
        return "sincos", node.args[0], region_of(node)
    if node.op in (Op.MANTISSA, Op.EXPONENT):
        return "recip", node.args[0], region_of(node)
    return node


@dataclass(frozen=True)
class Constraints:
    """The constraints on a schedule.

    ``own``: node → its variable. ``keys``: (node, region) → that of the cycle in which the region
    reads the node from its channel.
    """

    program: DifferenceConstraints
    own: Mapping[Node, object]
    keys: Mapping[tuple[Node, Region], object]


def constraints(fixed: FixedGraph, binding: Binding, target: Target) -> Constraints:
    """The constraints of every node at initiation interval 1."""
    units = [n for n in fixed.graph.nodes if n.op not in (*STILL, Op.MULC)]
    outputs = {source(n) for n in fixed.graph.outputs.values()} - _constants(fixed)
    takes = {n: duration(fixed, binding, target, n) for n in units}
    program = DifferenceConstraints()
    program.variable(INPUT)
    own = {n: unit(fixed, n) for n in units}
    for node in units:
        # units start when their region fires, or later; the task's inputs enter a register
        program.after(own[node], region_of(node), takes[node])
    keys: dict[tuple[Node, Region], object] = {}  # words that cross into a region: their variable

    def arrive(node: Node, region: Region) -> object:
        """The cycle in which ``region`` reads ``node`` from its channel."""
        word = node, region
        key = OUTPUT if region == OUTPUT else word  # results leave together
        if word not in keys:
            keys[word] = key
            program.after(key, own[node], 0 if ends_in_adder(fixed, node) else 1)
            if key is word:
                program.after(key, region, 0)
            program.after(region, region_of(node), 1)
            program.shorten(key, own[node], fixed.formats[node].width * FIFO_WEIGHT)
        return key

    for node in units:
        for operand in fixed.reads[node]:
            key = own[operand]
            wait = 0
            if region_of(operand) != region_of(node):
                key = arrive(operand, region_of(node))
                wait = 1  # the word comes out of memory into a register of the region
            program.after(own[node], key, takes[node] + wait)
            last = ("last", operand, region_of(node))
            if last not in program.number:
                program.shorten(last, key, fixed.formats[operand].width)
            program.after(last, own[node], -takes[node])
    for node in sorted(outputs, key=lambda n: n.index):
        arrive(node, OUTPUT)
    return Constraints(program, own, keys)


def schedule(fixed: FixedGraph, binding: Binding, target: Target) -> Schedule:
    """Times for every node at initiation interval 1."""
    made = constraints(fixed, binding, target)
    program, own, keys = made.program, made.own, made.keys
    end = program.earliest()[program.variable(OUTPUT)]
    given: dict[object, int] = {n: INPUT_REGISTER for n in own if n.op is Op.INPUT}
    given |= {INPUT: 0, OUTPUT: end}
    x = program.solve(given, end)
    read = {word: x[key] for word, key in keys.items()}
    fire = {region: x[region] for region in sorted({region_of(n) for n in own} | {OUTPUT})}
    deadlines: dict[Region, list[tuple[int, Region | None]]] = {region: [] for region in fire}
    for (node, region), at in read.items():
        deadlines[region].append((at, None))
        deadlines[region_of(node)].append((-1, region))
    # A region fires as late as its first word and its receivers allow: no token waits longer.
    for region in sorted(fire, key=lambda r: -fire[r]):
        if region != INPUT:
            fire[region] = min(at + (fire[to] if to else 0) for at, to in deadlines[region])
    times = {n: x[of] for n, of in own.items()}
    return verify_schedule(Schedule(fixed, binding, target, times, read, fire))


def verify_schedule(made: Schedule) -> Schedule:
    """The schedule, if it keeps its own rules.

    Raises:
        ScheduleError: an operand or a word of another region that is read before it is there, a
            region that fires before one that sends to it, results that leave apart, two times of
            one unit, an operation without a time; says which.
    """
    fixed, time, read, fire = made.fixed, made.time, made.read, made.fire
    if {n for n in fixed.graph.nodes if n.op not in (*STILL, Op.MULC)} != time.keys():
        raise ScheduleError("not every operation has a time")
    crossing = {(n, OUTPUT) for n in map(source, fixed.graph.outputs.values()) if n in time}
    together: dict[object, int] = {}
    for node, at in time.items():
        region, start = region_of(node), made.start(node)
        if node.op is Op.INPUT and at != INPUT_REGISTER:
            raise ScheduleError(f"input {node.name} in cycle {at}")
        if together.setdefault(unit(fixed, node), at) != at:
            raise ScheduleError(f"the unit of node {node.index} has two times")
        if start < fire[region]:
            raise ScheduleError(f"node {node.index} starts before {region_name(region)} fires")
        for operand in fixed.reads[node]:
            there = time[operand]
            if region_of(operand) != region:
                crossing.add((operand, region))
                there = read.get((operand, region), start) + 1  # into a register of the region
            if there > start:
                raise ScheduleError(f"node {node.index} reads {operand.index} before it is there")
    if crossing != read.keys():
        raise ScheduleError("not every word that crosses is read once")
    for (node, region), at in read.items():
        if (
            at <= made.written(node)
            or at < fire[region]
            or (region == OUTPUT and at > fire[region])
        ):
            raise ScheduleError(f"{region_name(region)} reads {node.index} in cycle {at}")
        if fire[region] <= fire[region_of(node)]:
            raise ScheduleError(f"{region_name(region)} fires before what sends to it")
    return made


def _constants(fixed: FixedGraph) -> set[Node]:
    return {n for n in fixed.graph.nodes if n.op in STILL}
