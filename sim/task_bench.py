"""The bench of a multifunction accelerator behind its shell: every packet answered, all counted.

It knows nothing of the core. The environment variable RBDGEN_SCENARIO names a JSON file:

    packets      tasks, each a list of beats (unsigned ``tdata``) and each with a tag of its own
    answers      their responses, in the same order and form
    malformed    packets that are no tasks, with tags of their own too
    refusals     the error responses to them
    floods       one packet each, with "answer", "clocks" (the rate at which it is answered when
                 it comes again and again, and at which it is taken) and "latency" (from its last
                 beat taken to the first beat of its response offered)
    rates        one packet each, with "answer" and the "clocks" from answer to answer on average
    registers    name → offset
    identity     name → value of the registers that never change
    results      function code → name of the register that counts its results
    sticky       status code of a response → bit of the register ``status``
    drain        clocks after which nothing of a finished run can still be on its way

Ports are those of `rbdgen.shell.task_shell.TaskShell`. Responses come in any order.
"""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from .axi_bench import PERIOD_NS, SCENARIO, Bench, Packet, pause_at_random, random_pauses

DRAIN = SCENARIO["drain"]
LONGEST = max(len(beats) for beats in chain(SCENARIO["packets"], SCENARIO["answers"]))
FIRST_ERROR = 2  # of the status codes


def tag_of(packet: Packet) -> int:
    return packet[0] >> 16 & 0xFFFF


def status_of(packet: Packet) -> int:
    return packet[0] >> 8 & 0xFF


def tagged(packet: Packet, tag: int) -> list[int]:
    return [packet[0] & ~(0xFFFF << 16) | tag << 16, *packet[1:]]


class TaskBench(Bench):
    """The bench of a shell's links, and a host at its registers; it counts what the shell counts.

    ``taken`` and ``given`` are the clocks of every TLAST, ``offered`` those of every first beat of
    a response.
    """

    def __init__(self, dut: Any, *, reset_source: bool = True) -> None:
        super().__init__(dut, reset_source=reset_source)
        self.host = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        for channel in (self.host.read_if, self.host.write_if):
            channel.log.setLevel("WARNING")
        self.offered: list[int] = []
        self.beats = 0  # taken
        self.stalls = {"input_stall": 0, "output_stall": 0}
        cocotb.start_soon(self._count())

    async def reset(self) -> None:
        await super().reset()
        for seen in (self.taken, self.given, self.offered):
            seen.clear()
        self.beats = 0
        self.stalls = dict.fromkeys(self.stalls, 0)

    async def answers(self, expected: Sequence[Packet], *, silence: bool = True) -> None:
        """The responses, in any order, and then nothing."""
        due = {tag_of(answer): list(answer) for answer in expected}
        while due:
            frame = await with_timeout(self.sink.recv(), (50 * LONGEST + DRAIN) * PERIOD_NS, "ns")
            beats = list(frame.tdata)
            assert beats == due.pop(tag_of(beats), None), f"response {beats}"
        if silence:
            self.sink.clear_pause_generator()
            self.sink.pause = False
            await ClockCycles(self.dut.clk, DRAIN)
            assert self.sink.empty() and self.sink.idle(), "a response too many"

    async def read(self, name: str) -> int:
        got = await self.host.read(SCENARIO["registers"][name], 4)
        assert got.resp == AxiResp.OKAY
        return int.from_bytes(got.data, "little")

    async def write(self, name: str, value: int) -> None:
        done = await self.host.write(SCENARIO["registers"][name], value.to_bytes(4, "little"))
        assert done.resp == AxiResp.OKAY

    async def check_counters(self, answers: Sequence[Packet]) -> None:
        """All registers say what was seen, if ``answers`` left since the last reset."""
        results = [answer for answer in answers if status_of(answer) < FIRST_ERROR]
        assert await self.read("in_flight") == 0
        assert await self.read("tasks") == len(results)
        assert await self.read("results") == len(results)
        assert await self.read("errors") == len(answers) - len(results)
        by_code = Counter(answer[0] & 0xFF for answer in results)
        for code, name in SCENARIO["results"].items():
            assert await self.read(name) == by_code[int(code)]
        for name, cycles in self.stalls.items():
            assert await self.read(name) == cycles, name
        seen = {status_of(answer) for answer in answers} - {0}
        assert await self.read("status") == sum(1 << SCENARIO["sticky"][str(k)] for k in seen)

    async def _count(self) -> None:
        dut, clock, begun = self.dut, 0, False
        while True:
            await FallingEdge(dut.clk)
            clock += 1
            if dut.rst.value:
                begun = False
                continue
            valid, ready = bool(dut.m_axis_tvalid.value), bool(dut.m_axis_tready.value)
            if valid and not begun:
                self.offered.append(clock)
            begun = not (ready and dut.m_axis_tlast.value) if valid else begun
            self.stalls["output_stall"] += valid and not ready
            offered = bool(dut.s_axis_tvalid.value)
            self.beats += offered and bool(dut.s_axis_tready.value)
            self.stalls["input_stall"] += offered and not dut.s_axis_tready.value


def mixed(rng: random.Random) -> tuple[list[Packet], list[Packet]]:
    """All packets, good and bad, in random order but with runs of either; and their responses."""
    good = list(zip(SCENARIO["packets"], SCENARIO["answers"], strict=True))
    bad = list(zip(SCENARIO["malformed"], SCENARIO["refusals"], strict=True))
    rng.shuffle(good)
    rng.shuffle(bad)
    both = []
    while good or bad:
        source = rng.choice([kind for kind in (good, bad) if kind])
        both += [source.pop() for _ in range(min(len(source), rng.randrange(1, 6)))]
    return [packet for packet, _ in both], [response for _, response in both]


@cocotb.test()
async def every_packet_is_answered(dut: Any) -> None:
    """Pauses everywhere, tasks between malformed packets: one response each, the right one."""
    bench = TaskBench(dut)
    await bench.reset()
    pause_at_random(bench)
    rng = random.Random(cocotb.RANDOM_SEED)
    packets, answers = mixed(rng)
    bench.send(packets)
    await bench.answers(answers)
    await bench.check_counters(answers)


@cocotb.test()
async def full_rate(dut: Any) -> None:
    """Latency, and the promised rate on both links across packet borders."""
    bench = TaskBench(dut)
    for flood in SCENARIO["floods"]:
        await bench.reset()
        bench.send([tagged(flood["packet"], tag) for tag in range(60)])
        await bench.answers([tagged(flood["answer"], tag) for tag in range(60)])
        assert bench.offered[0] - bench.taken[0] == flood["latency"]
        assert {b - a for a, b in pairwise(bench.given)} == {flood["clocks"]}
        # A slower output link holds the input back only once what lies between is full.
        assert all(b - a <= flood["clocks"] for a, b in pairwise(bench.taken[:8]))
        assert len(bench.taken) == 60
    for rate in SCENARIO["rates"]:
        await bench.reset()
        bench.send([tagged(rate["packet"], tag) for tag in range(120)])
        await bench.answers([tagged(rate["answer"], tag) for tag in range(120)])
        mean = (bench.given[-1] - bench.given[59]) / 60
        assert abs(mean - rate["clocks"]) <= 0.05 * rate["clocks"], mean


@cocotb.test()
async def reset_anywhere(dut: Any) -> None:
    """Reset in any beat of packets and responses: what follows is served as after the first."""
    bench = TaskBench(dut)
    await bench.reset()
    packets, _ = mixed(random.Random(cocotb.RANDOM_SEED))
    kinds = ("packets", "answers"), ("malformed", "refusals")
    after, expected = ([x for pair in kinds for x in SCENARIO[pair[k]][:3]] for k in (0, 1))
    old = [packet for packet in packets if packet not in after]
    for cut in range(1, 3 * LONGEST + 20):
        if cut % 3 == 0:
            bench.sink.set_pause_generator(random_pauses(random.Random(cut)))
        bench.send(old[cut : cut + 12])
        await ClockCycles(dut.clk, 1 + cut)
        bench.source.clear()
        await bench.reset()
        bench.sink.clear_pause_generator()
        bench.sink.pause = False
        bench.sink.clear()
        bench.send(after)
        await bench.answers(expected, silence=False)
        await ClockCycles(dut.clk, 4)
        await bench.check_counters(expected)


@cocotb.test()
async def source_without_reset(dut: Any) -> None:
    """What a source offers while the design is in reset is neither lost nor doubled."""
    bench = TaskBench(dut, reset_source=False)
    bench.send(SCENARIO["packets"])
    await bench.reset()
    await bench.answers(SCENARIO["answers"])


@cocotb.test()
async def disabled(dut: Any) -> None:
    """A packet half in is finished, no other is begun; enabled again, nothing was lost."""
    bench = TaskBench(dut)
    await bench.reset()
    long = max(range(len(SCENARIO["packets"])), key=lambda k: len(SCENARIO["packets"][k]))
    for cut in range(1, 6):
        # A reset in a packet is a border too.
        bench.send([SCENARIO["packets"][long]])
        await ClockCycles(dut.clk, cut)
        bench.source.clear()
        await bench.reset()
        await bench.write("control", 0)
        bench.send(SCENARIO["packets"][:3])
        await ClockCycles(dut.clk, DRAIN)
        assert not dut.s_axis_tready.value and not bench.beats
        await bench.write("control", 1)
        await bench.answers(SCENARIO["answers"][:3])

    halves = len(SCENARIO["packets"][long])
    for beats in range(halves + 1):
        await bench.reset()
        bench.source.set_pause_generator(k >= beats for k in range(1 << 30))
        both = [long, (long + 1) % len(SCENARIO["packets"])]
        bench.send([SCENARIO["packets"][k] for k in both])
        await ClockCycles(dut.clk, halves + 5)
        begun = bench.beats > 0
        await bench.write("control", 0)
        bench.source.clear_pause_generator()
        bench.source.pause = False
        await ClockCycles(dut.clk, DRAIN)
        assert not dut.s_axis_tready.value
        assert len(bench.taken) == len(bench.given) == begun
        await bench.write("control", 1)
        await bench.answers([SCENARIO["answers"][k] for k in both])


@cocotb.test()
async def registers(dut: Any) -> None:
    """Identity, what is in flight, busy clocks, clearing, strobes, and addresses of nothing."""
    bench = TaskBench(dut)
    await bench.reset()
    for channel in (
        bench.host.read_if.ar_channel,
        bench.host.read_if.r_channel,
        bench.host.write_if.aw_channel,
        bench.host.write_if.w_channel,
        bench.host.write_if.b_channel,
    ):
        channel.set_pause_generator(random_pauses(random.Random(str(channel.bus))))
    for name, value in SCENARIO["identity"].items():
        assert await bench.read(name) == value, name

    used = set(SCENARIO["registers"].values())
    for offset in (*range(0, 0x84, 4), 0x114, 0xFFC):
        if offset not in used:
            assert (await bench.host.read(offset, 4)).resp == AxiResp.SLVERR
        if offset not in {SCENARIO["registers"][name] for name in ("control", "status")}:
            assert (await bench.host.write(offset, bytes(4))).resp == AxiResp.SLVERR
    control = SCENARIO["registers"]["control"]
    for byte in (1, 2, 3):
        await bench.host.write(control + byte, b"\x00")
        assert await bench.read("control") == 1
    await bench.host.write(control, b"\x00")
    assert await bench.read("control") == 0
    await bench.write("control", 1)

    bench.sink.pause = True
    bench.send(SCENARIO["packets"][:2])
    await ClockCycles(dut.clk, DRAIN)
    assert [await bench.read(n) for n in ("tasks", "in_flight", "results")] == [2, 2, 0]
    before = await bench.read("busy")
    await ClockCycles(dut.clk, 100)
    assert await bench.read("busy") >= before + 100
    bench.sink.pause = False
    await bench.answers(SCENARIO["answers"][:2])
    assert [await bench.read(n) for n in ("tasks", "in_flight", "results")] == [2, 0, 2]

    bench.send(SCENARIO["malformed"])
    await bench.answers(SCENARIO["refusals"])
    counters = ["tasks", "results", "errors", "busy", "input_stall", "output_stall"]
    counters += SCENARIO["results"].values()
    raised = await bench.read("status")
    assert all([await bench.read("errors"), await bench.read("busy"), raised])
    for bit in (1 << k for k in SCENARIO["sticky"].values()):
        await bench.write("status", bit)
        raised &= ~bit
        assert await bench.read("status") == raised
    await bench.write("control", 0b11)
    assert await bench.read("control") == 1
    assert not any([await bench.read(name) for name in counters])

    for flood in SCENARIO["floods"]:
        await bench.write("control", 0b11)
        bench.send([flood["packet"]])
        await bench.answers([flood["answer"]])
        # In flight from the clock after the core takes it, which is the one after its last beat.
        busy = bench.given[-1] - bench.taken[-1] - 1
        is_error = status_of(flood["answer"]) >= FIRST_ERROR
        assert await bench.read("busy") == (0 if is_error else busy)
    await RisingEdge(dut.clk)
