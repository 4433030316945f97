"""One region of a round trip: a static pipeline that takes a task in every cycle it fires."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op, Region, source
from ..schedule.channels import Plan
from ..schedule.pipelined import operands, region_of
from .lane import Lane, Rings
from .lut_ram import LutRam
from .multiplier import Multiplier
from .operation import overflow_of, product_of, result_of
from .reciprocal import ReciprocalUnit
from .sincos import SinCosUnit


class RegionPipeline(wiring.Component):
    """Hardware of one region.

    ``read[c][k]`` is word k of incoming channel c, straight from its memory, valid in the cycle
    ``words[k].read`` after the region fired; ``written[c][k]`` is word k of outgoing channel c,
    due in the cycle ``words[k].written``. Nothing here stalls or is reset: what passes through
    in a cycle in which the region did not fire is never written.
    """

    def __init__(self, plan: Plan, region: Region) -> None:
        self.plan, self.region = plan, region
        self.into, self.out_of = plan.into(region), plan.out_of(region)
        read, written = (
            {(c, k): signed(w.width) for c, ch in enumerate(side) for k, w in enumerate(ch.words)}
            for side in (self.into, self.out_of)
        )
        super().__init__(
            {f"read_{c}_{k}": In(shape) for (c, k), shape in read.items()}
            | {f"written_{c}_{k}": Out(shape) for (c, k), shape in written.items()}
        )
        self.read, self.written = (
            [
                [getattr(self, f"{of}_{c}_{k}") for k in range(len(ch.words))]
                for c, ch in enumerate(side)
            ]
            for of, side in (("read", self.into), ("written", self.out_of))
        )
        schedule = plan.schedule
        self.fixed: FixedGraph = schedule.fixed
        self.nodes = [n for n in schedule.time if region_of(n) == region]
        self.multipliers: list[Multiplier] = []
        self.table_units: list[SinCosUnit | ReciprocalUnit] = []
        self.rams: list[LutRam] = []
        self._sincos_of: dict[Node, dict[Op, Signal]] = {}
        self._reciprocal_of: dict[Node, dict[Op, Signal]] = {}
        self._outside: dict[Node, Signal] = {}  # operand of a reciprocal → out of range

    def elaborate(self, platform: object) -> Module:
        m = Module()
        arrivals = {
            word.node: (word.read, signal)
            for channel, signals in zip(self.into, self.read, strict=True)
            for word, signal in zip(channel.words, signals, strict=True)
            if word.node is not None
        }
        lanes = {n: Lane(f"x{n.index}", *arrival) for n, arrival in arrivals.items()}
        for node in self.nodes:
            name, shape = f"n{node.index}", signed(self.fixed.formats[node].width)
            lanes[node] = Lane(name, self.plan.offset(node), Signal(shape, name=name))
        for node in self.nodes:
            for operand in operands(node):
                lanes[operand].wanted.add(self._start(node))
        for channel in self.out_of:
            for word in channel.words:
                if word.node is not None:
                    lanes[word.node].wanted.add(max(word.written, lanes[word.node].first))
        rings = Rings(m, self.rams)
        for lane in lanes.values():
            lane.build(m, rings, self.plan.schedule.target.ring)

        following: dict[Node, Value] = {}  # what a result's register takes next
        checks: dict[int, list[Value]] = {}  # cycle → overflow bits
        for node in self.nodes:
            self._unit(m, node, lanes, following, checks)
        flag = self._flag(m, checks)
        for channel, signals in zip(self.out_of, self.written, strict=True):
            for word, signal in zip(channel.words, signals, strict=True):
                if word.node is None:
                    m.d.comb += signal.eq(flag)
                elif word.written < lanes[word.node].first:
                    m.d.comb += signal.eq(following[word.node])
                else:
                    m.d.comb += signal.eq(lanes[word.node].at[word.written])
        return m

    def _start(self, node: Node) -> int:
        return self.plan.schedule.start(node) - self.plan.base[self.region]

    def _operand(self, node: Node, k: int, lanes: dict[Node, Lane]) -> tuple[Value, int]:
        """Bits and fraction of the node's k-th operand in the cycle the node starts."""
        argument = node.args[k]
        word = self.fixed.formats[argument]
        origin = source(argument)
        if origin.op is Op.CONST:
            own = self.fixed.formats[origin]
            return Const(int(own.quantize(origin.value)), signed(own.width)), word.fraction
        return lanes[origin].at[self._start(node)], word.fraction

    def _unit(
        self,
        m: Module,
        node: Node,
        lanes: dict[Node, Lane],
        following: dict[Node, Value],
        checks: dict[int, list[Value]],
    ) -> None:
        result = lanes[node].signal
        out = self.fixed.formats[node]
        if node.op in (Op.SIN, Op.COS):
            self._sincos(m, node, lanes)
            return
        if node.op in (Op.MANTISSA, Op.EXPONENT):
            self._reciprocal(m, node, lanes)
            if node.op is Op.EXPONENT:
                outside = self._outside[node.args[0]]
                checks.setdefault(self.plan.offset(node), []).append(outside)
            return
        wide: Value
        if node.op is Op.MUL:
            wide = self._product(m, node, lanes)
            if not out.rounded:  # the multiplier's own output register holds the result
                m.d.comb += result.eq(wide)
                self._check(m, node, wide, checks)
                return
        else:
            count = len(node.args)
            read = [self._operand(node, k, lanes) for k in range(count)]
            wide = result_of(m, self.fixed, node, read)
        following[node] = wide[: out.width].as_signed() if len(wide) > out.width else wide
        if self.fixed.overflowing(node):
            register = Signal(wide.shape(), name=f"w{node.index}", reset_less=True)
            m.d.sync += register.eq(wide)
            m.d.comb += result.eq(register)
            self._check(m, node, register, checks)
        else:
            result_register = Signal(signed(out.width), name=f"r{node.index}", reset_less=True)
            m.d.sync += result_register.eq(wide)
            m.d.comb += result.eq(result_register)

    def _check(self, m: Module, node: Node, wide: Value, checks: dict[int, list[Value]]) -> None:
        """Overflow: the bits from the result's sign bit up are not all the same."""
        if not self.fixed.overflowing(node):
            return
        bit = Signal(name=f"v{node.index}")
        m.d.comb += bit.eq(overflow_of(self.fixed, node, wide))
        checks.setdefault(self.plan.offset(node), []).append(bit)

    def _product(self, m: Module, node: Node, lanes: dict[Node, Lane]) -> Value:
        """a · b, cut off (or rounded, by an adder that the caller registers) to the format."""
        (a, _), (b, _) = (self._operand(node, k, lanes) for k in (0, 1))
        schedule = self.plan.schedule
        style = schedule.binding.style[node]
        latency = schedule.target.multiplier_latency(len(a), len(b), style)
        unit = Multiplier(len(a), len(b), latency, style)
        p = Signal(signed(len(a) + len(b)), name=f"p{node.index}")
        m.submodules[f"multiply_{node.index}"] = unit.instance(a=a, b=b, p=p)
        self.multipliers.append(unit)
        return product_of(self.fixed, node, p)

    def _sincos(self, m: Module, node: Node, lanes: dict[Node, Lane]) -> None:
        angle = node.args[0]
        if angle not in self._sincos_of:
            schedule = self.plan.schedule
            value, _ = self._operand(node, 0, lanes)
            spec = self.fixed.sincos(node)
            style = schedule.binding.sincos[angle]
            widths = spec.slope_width, spec.delta_width
            latency = schedule.target.multiplier_latency(*widths, style)
            unit = SinCosUnit(spec, len(value), Multiplier(*widths, latency, style))
            sin = Signal(signed(spec.width), name=f"sin_{angle.index}")
            cos = Signal(signed(spec.width), name=f"cos_{angle.index}")
            m.submodules[f"sincos_{angle.index}"] = unit.instance(angle=value, sin=sin, cos=cos)
            self.multipliers += [unit.multiplier] * spec.products
            self.table_units.append(unit)
            self._sincos_of[angle] = {Op.SIN: sin, Op.COS: cos}
        m.d.comb += lanes[node].signal.eq(self._sincos_of[angle][node.op])

    def _reciprocal(self, m: Module, node: Node, lanes: dict[Node, Lane]) -> None:
        pivot = node.args[0]
        if pivot not in self._reciprocal_of:
            schedule = self.plan.schedule
            value, _ = self._operand(node, 0, lanes)
            spec = self.fixed.reciprocal(node)
            style = schedule.binding.recip[pivot]
            multipliers = tuple(
                Multiplier(a, b, schedule.target.multiplier_latency(a, b, style), style)
                for a, b in spec.products
            )
            unit = ReciprocalUnit(spec, multipliers)
            mantissa = Signal(signed(spec.width), name=f"mantissa_{pivot.index}")
            exponent = Signal(signed(spec.exponent_width), name=f"exponent_{pivot.index}")
            outside = Signal(name=f"outside_{pivot.index}")
            m.submodules[f"recip_{pivot.index}"] = unit.instance(
                operand=value, mantissa=mantissa, exponent=exponent, outside=outside
            )
            self.multipliers += multipliers
            self.table_units.append(unit)
            self._reciprocal_of[pivot] = {Op.MANTISSA: mantissa, Op.EXPONENT: exponent}
            self._outside[pivot] = outside
        m.d.comb += lanes[node].signal.eq(self._reciprocal_of[pivot][node.op])

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
