"""One region of a round trip: a static pipeline that takes a task in every cycle it fires."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, ShapeLike, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import Node, Op, Region
from ..graph.word import indices
from ..schedule.channels import Pipeline
from ..schedule.fold import ends_in_register
from ..schedule.fused_sums import fused_sum, reads_at
from ..schedule.pipelined import region_of
from ..schedule.units import Job, job, nodes_of
from .arithmetic import aligned
from .delay_line import DelayLine, Rings
from .function_units import PlacedUnit
from .multiply_add import multiply_add
from .separate_module import SERVES_IN_VERILOG, Serves, serving
from .units import UNIT, Operand, Ports, Site, operand_of, overflow_of

SUBMODULE = {"mul": "multiply", "sincos": "sincos", "recip": "recip"}  # kind of unit → its name


class RegionPipeline(wiring.Component):
    """Hardware of one region.

    ``read[c][k]`` is word k of incoming channel c, straight from its memory, valid in the cycle
    ``words[k].read`` after the region fired; ``written[c][k]`` is word k of outgoing channel c,
    due in the cycle ``words[k].written``. Nothing here stalls or is reset: what passes through
    in a cycle in which the region did not fire is never written. ``held``: what it reads of
    registers that are no task's. ``serves``: comments for the signals of a node.
    """

    def __init__(self, plan: Pipeline, region: Region, serves: Serves) -> None:
        self.plan, self.region, self.serves = plan, region, serves
        self.into, self.out_of = plan.into(region), plan.out_of(region)
        read, written = (
            {(c, k): signed(w.width) for c, ch in enumerate(side) for k, w in enumerate(ch.words)}
            for side in (self.into, self.out_of)
        )
        schedule = plan.schedule
        self.fixed: FixedGraph = schedule.fixed
        self.nodes = [n for n in schedule.time if region_of(n) == region]
        sources = (source(arg) for node in self.nodes for arg in node.args)
        held = {own: None for own in sources if own.op is Op.PARAMETER}
        super().__init__(
            {f"read_{c}_{k}": In(shape) for (c, k), shape in read.items()}
            | {f"written_{c}_{k}": Out(shape) for (c, k), shape in written.items()}
            | {_port(n.name): In(signed(self.fixed.formats[n].width)) for n in held}
        )
        self.held = {n.name: getattr(self, _port(n.name)) for n in held}
        self.read, self.written = (
            [
                [getattr(self, f"{of}_{c}_{k}") for k in range(len(ch.words))]
                for c, ch in enumerate(side)
            ]
            for of, side in (("read", self.into), ("written", self.out_of))
        )
        self.placed: list[PlacedUnit] = []  # known once this has been elaborated
        self._outputs: dict[Job, Ports] = {}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        arrivals = {
            word.node: (word.read, signal)
            for channel, signals in zip(self.into, self.read, strict=True)
            for word, signal in zip(channel.words, signals, strict=True)
            if word.node is not None
        }
        number = self.fixed.graph.number
        lines = {
            n: DelayLine(f"x{number[n]}", *arrival, self._attrs(n))
            for n, arrival in arrivals.items()
        }
        for node in self.nodes:
            result = self._signal("n", node, signed(self.fixed.formats[node].width))
            attrs = self._attrs(node)
            lines[node] = DelayLine(result.name, self.plan.offset(node), result, attrs)
        for node in self.nodes:
            for operand in self.fixed.reads[node]:
                lines[operand].wanted.add(self._read(node, lines[operand].first))
        for channel in self.out_of:
            for word in channel.words:
                if word.node is not None:
                    lines[word.node].wanted.add(max(word.written, lines[word.node].first))
        rings = Rings(m, self.placed.append)
        for line in lines.values():
            line.build(m, rings, self.plan.schedule.target.ring)

        following: dict[Node, Value] = {}  # what a result's register takes next
        checks: dict[int, list[Value]] = {}  # cycle → overflow bits
        for node in self.nodes:
            self._unit(m, node, lines, following, checks)
        flag = self._flag(m, checks)
        for channel, signals in zip(self.out_of, self.written, strict=True):
            for word, signal in zip(channel.words, signals, strict=True):
                if word.node is None:
                    m.d.comb += signal.eq(flag)
                elif word.written < lines[word.node].first:
                    m.d.comb += signal.eq(following[word.node])
                else:
                    m.d.comb += signal.eq(lines[word.node].at[word.written])
        return m

    def _signal(self, kind: str, node: Node, shape: ShapeLike = 1, **more: bool) -> Signal:
        """A signal of a node, called by its kind and the node's number in the plan's graph."""
        name = f"{kind}{self.fixed.graph.number[node]}"
        return Signal(shape, name=name, attrs=self._attrs(node), **more)

    def _attrs(self, *nodes: Node) -> dict[str, str | int]:
        """The attributes of signals of these nodes."""
        return serving(self.serves, *nodes, attribute=SERVES_IN_VERILOG)

    def _start(self, node: Node) -> int:
        return self.plan.schedule.start(node) - self.plan.base[self.region]

    def _read(self, node: Node, there: int) -> int:
        """The cycle in which a node reads an operand that is there from a cycle on."""
        return reads_at(self.fixed, node, self._start(node), there)

    def _operand(self, node: Node, k: int, lines: dict[Node, DelayLine]) -> Operand:
        """Bits and fraction of the node's k-th operand in the cycle the node starts."""

        def value(origin: Node) -> Value:
            if origin.op is Op.PARAMETER:
                return self.held[origin.name]
            return lines[origin].at[self._read(node, lines[origin].first)]

        return operand_of(self.fixed, node, k, value)

    def _unit(
        self,
        m: Module,
        node: Node,
        lines: dict[Node, DelayLine],
        following: dict[Node, Value],
        checks: dict[int, list[Value]],
    ) -> None:
        if node in self.fixed.fused:  # is no word: the sum in its cell is
            return
        result, unit = lines[node].signal, UNIT[node.op]
        out = self.fixed.formats[node]
        if node in self.fixed.in_cell:
            wide = self._in_cell(m, node, lines)
            m.d.comb += result.eq(wide)
            self._check(m, node, wide, checks)
            return
        read = [self._operand(node, k, lines) for k in range(len(node.args))]
        if unit.place:
            outputs = self._placed(m, node, [value for value, _ in read])
            wide = unit.result(self.fixed, node, outputs)
            if unit.flag:
                checks.setdefault(self.plan.offset(node), []).append(outputs[unit.flag])
            if not ends_in_register(self.fixed, node):  # but in that of the unit's output
                m.d.comb += result.eq(wide)
                if not unit.flag:
                    self._check(m, node, wide, checks)
                return
        else:
            assert unit.logic is not None
            wide = unit.logic(m, self.fixed, node, *read)
        following[node] = wide[: out.width].as_signed() if len(wide) > out.width else wide
        if self.fixed.overflowing(node):
            register = self._signal("w", node, wide.shape(), reset_less=True)
            m.d.sync += register.eq(wide)
            m.d.comb += result.eq(register)
            self._check(m, node, register, checks)
        else:
            result_register = self._signal("r", node, signed(out.width), reset_less=True)
            m.d.sync += result_register.eq(wide)
            m.d.comb += result.eq(result_register)

    def _check(self, m: Module, node: Node, wide: Value, checks: dict[int, list[Value]]) -> None:
        """Overflow: the bits from the result's sign bit up are not all the same."""
        if not self.fixed.overflowing(node):
            return
        bit = self._signal("v", node)
        m.d.comb += bit.eq(overflow_of(self.fixed, node, wide))
        checks.setdefault(self.plan.offset(node), []).append(bit)

    def _placed(self, m: Module, node: Node, operands: list[Value]) -> Ports:
        """The outputs of the unit that serves a node; both nodes of a job have one."""
        own = job(node)
        if own not in self._outputs:
            kind, subject = own
            schedule, number = self.plan.schedule, self.fixed.graph.number[subject]
            site = Site(
                m,
                self.fixed,
                self.placed,
                schedule.target,
                schedule.binding.style_of(own),
                f"{SUBMODULE[kind]}_{number}",
                lambda port: f"p{number}" if port == "p" else f"{port}_{number}",
            )
            place = UNIT[node.op].place
            assert place is not None
            self._outputs[own] = place(site, node, *operands)
            attrs = self._attrs(*nodes_of(self.fixed, own))
            for output in self._outputs[own].values():
                output.attrs.update(attrs)
        return self._outputs[own]

    def _in_cell(self, m: Module, node: Node, lines: dict[Node, DelayLine]) -> Value:
        """The result of a sum and the product before it, in one cell, before it is wrapped."""
        product, number = self.fixed.in_cell[node], self.fixed.graph.number[node]
        own = fused_sum(self.fixed, node, product)
        assert own is not None
        a, b = (self._operand(product, k, lines)[0] for k in (0, 1))
        addend = source(node.args[own.addend])
        c, _ = self._operand(node, own.addend, lines)
        late = addend in lines and lines[addend].first >= self._start(node)
        unit, c = multiply_add(own, len(a), len(b), c, late)
        attrs = self._attrs(product, node)
        p = Signal(signed(unit.width), name=f"p{number}", attrs=attrs)
        m.submodules[f"multiply_add_{number}"] = unit.instance(a=a, b=b, c=c, p=p)
        self.placed.append(unit)
        return aligned(p[own.shift :].as_signed(), own.zeros)

    def _flag(self, m: Module, checks: dict[int, list[Value]]) -> Value:
        """Whether anything overflowed in this task so far, here or on its way here."""
        for channel, signals in zip(self.into, self.read, strict=True):
            for word, signal in zip(channel.words, signals, strict=True):
                if word.node is None:
                    checks.setdefault(word.read, []).append(signal[0])
        flag: Value = Const(0)
        end = self.plan.flags.get(self.region, 0)
        for cycle in range(min(checks, default=0), end + 1):
            seen = Signal(name=f"flag_{cycle}")
            m.d.comb += seen.eq(Cat(flag, *checks.get(cycle, [])).any())
            if cycle == end:
                return seen
            flag = Signal(name=f"flag_after_{cycle}", reset_less=True)
            m.d.sync += flag.eq(seen)
        return flag


def _port(name: str) -> str:
    """parameter[3] → held_3."""
    return f"held_{indices(name)[0]}"
