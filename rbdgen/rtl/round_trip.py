# amaranth: UnusedElaboratable=no
"""The core: regions and channels of a plan between one input and one output stream."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from ..graph.node import Node, Region
from ..schedule.channels import Pipeline
from ..schedule.difference_constraints import BANK
from ..schedule.pipelined import INPUT, OUTPUT, region_name
from .core import RtlCore
from .delay_line import LutRam
from .function_units import PlacedUnit
from .queues import ChannelFifo
from .region import RegionPipeline
from .separate_module import Serves, instance_of

WAITING = 3  # results that may wait to be taken: one a clock takes two


class RoundTrip(RtlCore):
    """A function of a robot, one task a clock.

    A result comes ``plan.latency`` cycles after its task was taken, one per clock; either side
    may stall at any time. ``i.ready`` is a register. After reset the first task is taken in the
    second cycle.

    The core of a ``name`` only instantiates its `parts`, as modules called NAME_PART that are to
    be written apart: Amaranth's time and memory then grow with the largest of them. ``serves``:
    comments for the signals of a node.
    """

    def __init__(
        self, plan: Pipeline, serves: Serves, name: str | None = None, *, sticky: bool = True
    ) -> None:
        self.plan, self.name = plan, name
        self.regions: dict[Region, RegionPipeline] = {
            region: RegionPipeline(plan, region, serves)
            for region in plan.fire
            if region not in (INPUT, OUTPUT)
        }
        self.fifos = [ChannelFifo(channel) for channel in plan.channels]
        super().__init__(plan.fixed, sticky=sticky)
        self._results = LutRam(len(self.o.payload.as_value()), BANK)

    @property
    def parts(self) -> dict[str, ChannelFifo | RegionPipeline]:
        """FIFOs and regions by name."""
        parts: dict[str, ChannelFifo | RegionPipeline] = {}
        for fifo in self.fifos:
            sender, receiver = fifo.channel.sender, fifo.channel.receiver
            parts[f"fifo_{region_name(sender)}_to_{region_name(receiver)}"] = fifo
        return parts | {region_name(region): part for region, part in self.regions.items()}

    @property
    def placed(self) -> list[PlacedUnit]:
        return [self._results, *(unit for part in self.parts.values() for unit in part.placed)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        plan = self.plan
        fifos = {(f.channel.sender, f.channel.receiver): f for f in self.fifos}
        for name, part in self.parts.items():
            if self.name is None:
                m.submodules[name] = part
            else:
                m.submodules[name] = instance_of(part, f"{self.name}_{name}")

        # A region fires when every incoming channel has a token and every outgoing one has room.
        # It is decided the cycle before, so that the many registers which follow `fire` start from
        # a register, and so do the many channels that it depends on.
        fire = {region: Signal(name=f"fire_{region_name(region)}") for region in plan.fire}
        into = {r: [f for (_, to), f in fifos.items() if to == r] for r in plan.fire}
        out_of = {r: [f for (of, _), f in fifos.items() if of == r] for r in plan.fire}
        for region in plan.fire:
            tokens, room = Signal(name=f"tokens_{region_name(region)}"), Signal()
            stay = Cat(f.stays for f in into[region]).all()
            follow = Cat(f.follows for f in into[region]).all()
            m.d.comb += tokens.eq(Mux(fire[region], follow, stay))
            m.d.comb += room.eq(Cat(f.room for f in out_of[region]).all())
            if region == INPUT:
                m.d.sync += self.i.ready.eq(room)
                m.d.comb += fire[region].eq(self.i.valid & self.i.ready)
            elif region == OUTPUT:
                m.d.sync += fire[region].eq(tokens & self._output(m, fire[OUTPUT], into[OUTPUT]))
            else:
                m.d.sync += fire[region].eq(tokens & room)
            m.d.comb += [f.pop.eq(fire[region]) for f in into[region]]
            m.d.comb += [f.push.eq(fire[region]) for f in out_of[region]]

        self.write_registers(m)
        for region, pipeline in self.regions.items():
            m.d.comb += [port.eq(self.registers[k]) for k, port in pipeline.held.items()]
            for fifo, words in zip(into[region], pipeline.read, strict=True):
                m.d.comb += [x.eq(y) for x, y in zip(words, fifo.read, strict=True)]
            for fifo, words in zip(out_of[region], pipeline.written, strict=True):
                m.d.comb += [x.eq(y) for x, y in zip(fifo.written, words, strict=True)]
        task = Signal(self.i.payload.shape(), reset_less=True)  # written a cycle after it came
        m.d.sync += task.eq(self.i.payload)
        for fifo in out_of.get(INPUT, []):
            for word, signal in zip(fifo.channel.words, fifo.written, strict=True):
                assert word.node is not None  # a task that comes in has no flag yet
                m.d.comb += signal.eq(task[word.node.name])
        return m

    def _output(self, m: Module, fire: Signal, fifos: list[ChannelFifo]) -> Value:
        """Whether there is room for a result in the next cycle."""
        values: dict[Node, Value] = {}
        flags: dict[Node, Value] = {}
        for fifo in fifos:
            words = list(zip(fifo.channel.words, fifo.read, strict=True))
            nodes = {word.node: signal for word, signal in words if word.node is not None}
            values |= nodes
            flags |= {n: signal[0] for word, signal in words if word.node is None for n in nodes}
        return self._give(m, fire, values, flags)

    def _give(
        self, m: Module, fire: Signal, values: dict[Node, Value], flags: dict[Node, Value]
    ) -> Value:
        """Results, by the node they come from, wait here to be taken; ``fire``: they are there.

        Returns whether there is room for one in the next cycle. Room is left for what may come
        while ``o.ready`` is on its way: no path leads from there to what makes results.
        """
        result, taken = self.result(m, values, flags), self.taken(m)
        waiting = Signal(range(WAITING + 1))
        write_address, read_address = Signal(range(BANK)), Signal(range(BANK))
        m.submodules.results = self._results.instance(
            write=fire,
            write_address=write_address,
            data=result.as_value(),
            read_address=read_address,
            q=self.o.payload.as_value(),
        )
        m.d.sync += [
            write_address.eq(write_address + fire),
            read_address.eq(read_address + taken),
            waiting.eq(waiting + fire - taken),
            self.o.valid.eq(fire | Mux(taken, waiting > 1, self.o.valid)),
        ]
        return waiting + fire < WAITING
