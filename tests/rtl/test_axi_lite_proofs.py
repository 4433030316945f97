"""AXI4-Lite, proved: each read and write has one answer, of its register, in every order."""

from __future__ import annotations

from pathlib import Path

import pytest
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from rbdgen.shell.axi_lite import AxiLite, HostRegister, Resp
from tests.support.proofs import (
    Order,
    Proof,
    assume,
    happens,
    holds,
    implies,
    mutant,
    prove,
    refuted,
)

pytestmark = pytest.mark.synthesis

ADDRESS = 5
TABLE = (
    HostRegister("one", 0, "a register", writable=True),
    HostRegister("two", 4, "one to read"),
    HostRegister("three", 12, "another", writable=True),
)


class AxiLiteProof(Proof):
    """Transactions are numbered; one of each kind is followed, any of them."""

    def build(self, m: Module) -> None:
        self.reads(m)
        self.writes(m)

    def channel(self, m: Module, name: str, payloads: dict[str, int]) -> Value:
        """What the host offers, and offers until it is taken; whether it is taken."""
        part = self.part
        valid, ready = getattr(part, f"{name}valid"), getattr(part, f"{name}ready")
        m.d.comb += valid.eq(self.any(1, f"{name}valid"))
        word = Cat(getattr(part, port) for port in payloads)
        for port, bits in payloads.items():
            m.d.comb += getattr(part, port).eq(self.any(bits, port))
        waits, before = Signal(), Signal(len(word), reset_less=True)
        m.d.sync += [waits.eq(valid & ~ready), before.eq(word)]
        assume(m, implies(waits, valid & (word == before)))
        return valid & ready

    def answer(self, m: Module, name: str, payload: Value) -> Value:
        """What is offered to the host stands until it is taken; whether it is."""
        valid, ready = getattr(self.part, f"{name}valid"), getattr(self.part, f"{name}ready")
        m.d.comb += ready.eq(self.any(1, f"{name}ready"))
        waits, before = Signal(), Signal(len(payload), reset_less=True)
        m.d.sync += [waits.eq(valid & ~ready), before.eq(payload)]
        holds(m, implies(waits, valid & (payload == before)))
        return valid & ready

    def reads(self, m: Module) -> None:
        part = self.part
        values = {r: getattr(part, f"value_{r.name}") for r in TABLE}
        for register, value in values.items():
            m.d.comb += value.eq(self.any(32, f"now_{register.name}"))
        asks = self.channel(m, "ar", {"araddr": ADDRESS})
        answers = self.answer(m, "r", Cat(part.rdata, part.rresp))
        order = Order(m, self, ADDRESS, 8)
        order.counted(asks, answers)
        assume(m, implies(asks, order.is_right(order.came, part.araddr)))
        # what is there in the cycle before the answer is offered
        address = order.value[2:]
        found, known = Signal(32), Signal()
        for register, value in values.items():
            with m.If(address == register.offset // 4):
                m.d.comb += [found.eq(value), known.eq(1)]
        before, due, due_known = Signal(), Signal(32, reset_less=True), Signal(reset_less=True)
        m.d.sync += [before.eq(part.rvalid & ~part.rready), due.eq(found), due_known.eq(known)]
        fresh = part.rvalid & ~before
        own = part.rvalid & (order.went == order.number)
        right = (part.rdata == due) & (part.rresp == Mux(due_known, Resp.OKAY, Resp.SLVERR))
        holds(m, implies(own & fresh, right))
        # at most one is asked while one is answered; asked, it is answered in the next cycle
        asked = self.look("asked", 1)
        holds(m, order.inside == asked + part.rvalid)
        holds(m, implies(part.arready, ~asked))
        kept = self.look("asked_of", ADDRESS - 2)
        newest = order.minus(order.came, 1)
        holds(m, implies(asked & (newest == order.number), kept == address))
        free = Signal()
        m.d.sync += free.eq(asked & ~part.rvalid)
        holds(m, implies(free, part.rvalid))
        happens(m, answers & (order.went == 3) & asked)

    def writes(self, m: Module) -> None:
        part = self.part
        names = self.channel(m, "aw", {"awaddr": ADDRESS})
        brings = self.channel(m, "w", {"wdata": 32, "wstrb": 4})
        answers = self.answer(m, "b", part.bresp)
        named, brought = Order(m, self, ADDRESS, 8), Order(m, self, 36, 8)
        named.counted(names, answers)
        brought.counted(brings, answers)
        assume(m, named.number == brought.number)
        assume(m, implies(names, named.is_right(named.came, part.awaddr)))
        word = Cat(part.wdata, part.wstrb)
        assume(m, implies(brings, brought.is_right(brought.came, word)))
        address, of = named.value[2:], brought.value
        own = part.bvalid & (named.went == named.number)
        before = Signal()
        m.d.sync += before.eq(part.bvalid & ~part.bready)
        fresh = part.bvalid & ~before
        mask = Cat(strobe.replicate(8) for strobe in of[32:])
        known: Value = Const(0)
        for register in TABLE:
            if register.writable:
                writes = getattr(part, f"write_{register.name}")
                is_it = address == register.offset // 4
                known = known | is_it
                # once, with the answer, of what was named and brought
                holds(m, implies(own & fresh, writes == is_it))
                holds(m, implies(~fresh, ~writes))
                right = (part.write_data == of[:32]) & (part.write_mask == mask)
                holds(m, implies(own & writes, right))
        holds(m, implies(own, part.bresp == Mux(known, Resp.OKAY, Resp.SLVERR)))
        # how its registers go with that
        got_address, got_data = self.look("got_address", 1), self.look("got_data", 1)
        holds(m, named.inside == got_address + part.bvalid)
        holds(m, brought.inside == got_data + part.bvalid)
        holds(m, named.went == brought.went)
        holds(m, implies(part.awready, ~got_address))
        holds(m, implies(part.wready, ~got_data))
        newest, brought_last = named.minus(named.came, 1), brought.minus(brought.came, 1)
        kept = self.look("address", ADDRESS - 2)
        holds(m, implies(got_address & (newest == named.number), kept == address))
        is_last = got_data & (brought_last == brought.number)
        strobes = self.look("strobes", 4)
        holds(m, implies(is_last, Cat(part.write_data, strobes) == of))
        free = Signal()
        m.d.sync += free.eq(got_address & got_data & ~part.bvalid)
        holds(m, implies(free, part.bvalid))
        happens(m, answers & (named.went == 3) & got_address)


def proof(of: type = AxiLite) -> Proof:
    return AxiLiteProof(of(TABLE, ADDRESS))


def test_axi_lite(tmp_path: Path) -> None:
    prove(proof(), 4, tmp_path)


@pytest.mark.slow
def test_no_empty_proof(tmp_path: Path) -> None:
    prove(proof(), 20, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("with m.If(asked & ~self.rvalid)", "with m.If(asked)"),
        ("got_address & got_data & ~self.bvalid", "got_address & ~self.bvalid"),
        ("~got_data & ~take_data", "~got_data"),
        ("asked_of < len(values)", "1"),
    ],
)
def test_a_mistake_is_refuted(old: str, new: str, tmp_path: Path) -> None:
    assert refuted(proof(mutant(AxiLite, old, new)), 12, tmp_path)
