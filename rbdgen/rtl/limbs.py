"""Time-multiplexed limbs: one pipeline computes a robot whose limbs are alike up to signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed

from ..graph.node import Op
from ..schedule.limbs import LimbPlan
from .arithmetic import mirrored
from .core import WAKE, RtlCore, fill
from .function_units import PlacedUnit
from .separate_module import Parts, instance_of

FEW = 4  # words that so many limbs read on average stay in registers of their own
ZERO = ""  # where a limb reads no word of the task
LIMB = "limb"  # the part that is one limb's core; its own parts are limb_PART


class SharedLimbs(RtlCore):
    """A function of a robot, one task in n of a limb's intervals, for n time-multiplexed limbs.

    A task's limbs enter the limb's core one
    after the other, mirrored ones with their signs changed; n results are put together likewise.

    A result comes ``plan.latency`` cycles after its task was taken; either side may stall at any
    time. No path leads from ``o.ready`` to ``i.ready``, which is low during reset. ``limb`` is the
    hardware of ``plan.template``.
    """

    def __init__(
        self, plan: LimbPlan, limb: RtlCore, name: str | None = None, *, sticky: bool = True
    ) -> None:
        self.plan, self.limb, self.name = plan, limb, name
        super().__init__(plan.whole, sticky=sticky)

    @property
    def parts(self) -> Mapping[str, Any]:
        """The limb's core and what that consists of, by name."""
        return {LIMB: self.limb} | {f"{LIMB}_{k}": part for k, part in self.limb.parts.items()}

    @property
    def placed(self) -> list[PlacedUnit]:
        return self.limb.placed

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.name is None:
            m.submodules.limb = self.limb
        else:
            m.submodules.limb = instance_of(self.limb, f"{self.name}_{LIMB}")
        parts = Parts(m)
        self._send(parts["limbs_in"])
        self._collect(parts["limbs_out"])
        return m

    def _send(self, m: Module) -> None:
        """A task lies in a chain of registers, a limb in each, that moves on when one is taken.

        Words that many limbs read stay where they are, and whose turn it is chooses among them.
        """
        limbs, limb = self.plan.limbs, self.limb
        read = [self.plan.program.real.read(own) for own in limbs]
        busy, turn = Signal(), Signal(range(len(limbs)))
        load = Signal(init=1)  # else move on; what comes with no task is never sent
        m.d.comb += [
            # the limb's ready is a register, and low during reset
            self.i.ready.eq(limb.i.ready & load),
            limb.i.valid.eq(busy),
        ]
        if WAKE in limb.signature.members:  # a task comes in when the limb's core can take it
            m.d.comb += getattr(limb, WAKE).eq(self.i.valid)
        with m.If(limb.i.ready):
            m.d.sync += [
                busy.eq(~load | self.i.valid),
                turn.eq(Mux(load, 0, turn + 1)),
                load.eq(Mux(load, ~self.i.valid, turn == len(limbs) - 2)),
            ]
        held: dict[str, Signal] = {}  # word → the register that it stays in
        sent: dict[str, Value | int] = {}
        for name, word in limb.inputs.items():
            words, signs = zip(*(own.get(name, (ZERO, 1)) for own in read), strict=True)
            turns: dict[str, list[int]] = {}
            for k, source in enumerate(words):
                turns.setdefault(source, []).append(k)
            shared = len(turns) == 1 and len(set(signs)) == 1  # the same for every limb
            if shared or FEW * len(turns) < len(limbs):
                for source in [s for s in turns if s != ZERO and s not in held]:
                    held[source] = Signal(signed(word.width), reset_less=True, name="register")
                    with m.If(limb.i.ready & load):
                        m.d.sync += held[source].eq(self.i.payload[source])
                one = shared and words[0] in held  # a word that no limb reads is zero
                now = held[words[0]] if one else Signal(signed(word.width))
                if not shared:
                    with m.Switch(turn):
                        for source, of in turns.items():
                            with m.Case(*of):
                                m.d.comb += now.eq(held.get(source, 0))
                sent[name] = _signed(now, turn, signs)
                continue
            chain = [Signal(signed(word.width), reset_less=True) for _ in limbs]
            with m.If(limb.i.ready):
                for k, (register, source) in enumerate(zip(chain, words, strict=True)):
                    new = 0 if source == ZERO else self.i.payload[source]
                    m.d.sync += register.eq(Mux(load, new, chain[k + 1]) if chain[k + 1 :] else new)
            sent[name] = _signed(chain[0], turn, signs)
        fill(m, limb.i.payload, sent)

    def _collect(self, m: Module) -> None:
        """A result waits in registers, a limb in each, which are filled one after the other."""
        limbs, limb = self.plan.limbs, self.limb
        came = Signal(limb.o.payload.shape(), reset_less=True)  # out of memory into a register
        there, turn = Signal(), Signal(range(len(limbs)))  # whether it holds a limb's, and whose
        full, free = Signal(), Signal()  # a whole result; its place, which only the first waits for
        m.d.comb += [
            free.eq(~full | self.o.ready),
            limb.o.ready.eq(~there | free),
            self.o.valid.eq(full),
        ]
        with m.If(limb.o.ready):
            m.d.sync += [there.eq(limb.o.valid), came.eq(limb.o.payload)]
        with m.If(free):
            last = turn == len(limbs) - 1
            m.d.sync += full.eq(there & last)
            with m.If(there):
                m.d.sync += turn.eq(Mux(last, 0, turn + 1))
        given = [self.plan.program.real.given(own) for own in limbs]
        collected: dict[str, Value | int] = {}
        for name in limb.outputs:
            _, signs = zip(*(own.get(name, (ZERO, 1)) for own in given), strict=True)
            word, flag = _signed(came[name], turn, signs), came[limb.flags[name]]
            for k, own in enumerate(given):
                if name not in own:  # nobody reads it
                    continue
                whole, _ = own[name]
                for field, value in ((whole, word), (self.flags[whole], flag)):
                    register = Signal.like(self.o.payload[field], reset_less=True)
                    collected[field] = register
                    # no path from o.ready but to the first limb's
                    with m.If(there & (turn == k) & (free if k == 0 else 1)):
                        m.d.sync += register.eq(value)
        fixed = self.plan.whole
        for name, node in fixed.graph.outputs.items():
            if node.op is Op.CONST:
                collected[name] = int(self.outputs[name].quantize(node.value))
        fill(m, self.o.payload, collected)
        self.taken(m)


def _signed(word: Value, turn: Value, signs: Sequence[float]) -> Value:
    """±``word`` by whose turn it is; the most negative word becomes the most positive one."""
    if all(sign > 0 for sign in signs):
        return word
    minus = Cat(turn == k for k, sign in enumerate(signs) if sign < 0).any()
    return mirrored(word, minus)
