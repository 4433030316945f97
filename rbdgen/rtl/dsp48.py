"""AMD's multipliers, DSP48E1 and DSP48E2: products, and a sum behind a product."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, Signal, Value, signed

from .arithmetic import later
from .multiplier import DSP48_LATENCY, DSP_WIDTH, LIMB, ONE, Multiplier, digits_of
from .multiply_add import MultiplyAdd

# Addends of the adder behind the product, as OPMODE. The two bits that DSP48E2 has more are 0.
NOTHING, PASSED, LOWER, C = 0b0000101, 0b0010101, 0b1010101, 0b0110101
ROUNDING = 0b10 << 7  # OPMODE of a DSP48E2: the constant RND is added, too
MINUS_Z = 0b0001  # ALUMODE: the addend's complement, which a carry makes its negative
_ON = [f"CE{of}" for of in ("A1", "A2", "B1", "B2", "C", "M", "P")]
_OFF = [f"CE{of}" for of in ("D", "AD", "CTRL", "ALUMODE", "INMODE", "CARRYIN")]
_OFF += [f"RST{of}" for of in ("A", "B", "C", "D", "M", "P", "CTRL", "ALUMODE", "INMODE")]
_OFF += ["RSTALLCARRYIN", "CARRYIN", "CARRYCASCIN", "MULTSIGNIN"]
_WITHOUT = [f"{of}REG" for of in ("D", "AD", "INMODE", "OPMODE", "ALUMODE", "CARRYIN")]
NONE: Value = Const(0)


@dataclass(frozen=True)
class Dsp48:
    """A family's multiplier of ``wider`` x 18 bits with the adder behind it, all registers on."""

    name: str
    wider: int
    opmode: int  # bits of OPMODE

    def product(self, m: Module, unit: Multiplier, a: Value, b: Value) -> Value:
        """A unit's product: of one cell, which adds what LUTs make of the ``rows``; or of two or
        four, each of which adds what the one before it passes on, 17 bits lower."""
        left = len(a) - unit.rows[0], len(b) - unit.rows[1]
        if any(unit.rows) and min(left) <= DSP_WIDTH and max(left) <= self.wider:
            return self._with_rows(m, unit, a, b)
        cut = [(self._limbs(x, self.wider), self._limbs(y, DSP_WIDTH)) for x, y in _orders(a, b)]
        xs, ys = min(cut, key=lambda limbs: len(limbs[0]) * len(limbs[1]))
        pairs = [(x, y) for x in xs for y in ys]
        inputs = 1 + (len(pairs) == 1 and unit.latency >= DSP48_LATENCY)
        done = inputs + len(pairs) + 1
        if unit.latency < done:
            raise ValueError(f"{unit.name}: of {len(pairs)} {self.name} it takes {done} cycles")
        p, passed = self._cell(m, *pairs[0], NOTHING, inputs)
        low = []
        for k, (x, y) in enumerate(pairs[1:]):
            adds = PASSED if k == 1 else LOWER
            if adds == LOWER:
                low.append(later(m, p[:LIMB], len(pairs) - 1 - k))
            p, passed = self._cell(m, later(m, x, k), later(m, y, k), adds, 2, passed)
        return later(m, Cat(*low, p)[: len(a) + len(b)].as_signed(), unit.latency - done)

    def _with_rows(self, m: Module, unit: Multiplier, a: Value, b: Value) -> Value:
        (i, j), rows, digits = unit.rows, sum(unit.rows), digits_of(unit.rows)
        above, at = a[i:].as_signed(), [(b, a[:i]), (a[i:].as_signed(), b[:j])]
        # what the digits multiply, its triple, and their bits, of this cycle and of the next ones
        early = [[later(m, of) for of in (x, x + (x << 1), low)] for x, low in at]
        late = [[later(m, of) for of in own] for own in early]
        words, offset = list[Value](), 0
        for n, (k, first, count) in enumerate(digits):
            x, triple, bits = (early, late)[n // 2][k]
            word = Mux(bits[first], x, 0)
            if count == 2:
                word = Mux(bits[first + 1], Mux(bits[first], triple, x << 1), word)
            words.append(word << offset)
            offset += count
        low = sum(words[2:], later(m, sum(words[1:2], words[0])))
        x, y = _orders(above, b[j:].as_signed())[0]
        p, _ = self._cell(m, x, y, C, 2, low[rows:].as_signed())
        found = Cat(later(m, low[:rows], 2), p)[: len(a) + len(b)].as_signed()
        return later(m, found, unit.latency - DSP48_LATENCY)

    def multiply_add(self, m: Module, unit: MultiplyAdd, a: Value, b: Value, c: Value) -> Value:
        """A unit's sum, of one DSP48E2, in its 48 bits."""
        x, y = _orders(a, b)[0]
        return self._cell(m, x, y, C, 2, c, minus=unit.minus, one=unit.one, late=unit.late)[0]

    def _limbs(self, value: Value, most: int) -> list[Value]:
        if len(value) <= most:
            return [value]
        return [Cat(value[:LIMB], Const(0, 1)).as_signed(), value[LIMB:].as_signed()]

    def _cell(
        self,
        m: Module,
        x: Value,
        y: Value,
        adds: int,
        inputs: int,
        addend: Value = NONE,
        *,
        minus: bool = False,
        one: int = 0,
        late: bool = False,
    ) -> tuple[Value, Value]:
        """The product and the ``addend``, and the same for the next cell, after so many ``inputs``
        registers of the operands, the pipeline and the output register; C has one unless ``late``.

        ``minus``: the addend is subtracted. ``one``: a constant that is added, of a DSP48E2.
        """
        c, passed = (addend, NONE) if adds == C else (NONE, addend)
        p = Signal(signed(48))
        following = Signal(48)
        wired = {"A": (x, 30), "B": (y, DSP_WIDTH), "C": (c, 48), "PCIN": (passed, 48)}
        wired |= {"ACIN": (NONE, 30), "BCIN": (NONE, 18), "D": (NONE, self.wider)}
        wired |= {"INMODE": (NONE, 5), "ALUMODE": (NONE, 4), "CARRYINSEL": (NONE, 3)}
        wired |= {"OPMODE": (Const(adds | (ROUNDING if one else 0), self.opmode), self.opmode)}
        wired |= dict.fromkeys(_OFF, (NONE, 1)) | dict.fromkeys(_ON, (ONE, 1))
        if minus:  # a b + ~c + 1
            wired |= {"ALUMODE": (Const(MINUS_Z, 4), 4), "CARRYIN": (ONE, 1)}
        constant = {"p_RND": Const(one, 48)} if one else {}
        m.submodules += Instance(
            self.name,
            **{f"p_{of}": inputs for of in ("AREG", "BREG", "ACASCREG", "BCASCREG")},
            **{f"p_{of}": 1 for of in ("MREG", "PREG")},
            p_CREG=int(not late),
            **constant,
            **{f"p_{of}": 0 for of in (*_WITHOUT, "CARRYINSELREG")},
            **{f"i_{of}": _resized(value, width) for of, (value, width) in wired.items()},
            i_CLK=ClockSignal(),
            o_P=p,
            o_PCOUT=following,
        )
        return p, following


def _orders(a: Value, b: Value) -> list[tuple[Value, Value]]:
    """The operands on the wider and on the narrower input: first, the wider on the wider one."""
    return [(a, b), (b, a)] if len(a) >= len(b) else [(b, a), (a, b)]


def _resized(value: Value, width: int) -> Value:
    return Cat(value, value[-1].replicate(width - len(value)))


DSP48E2, DSP48E1 = Dsp48("DSP48E2", 27, 9), Dsp48("DSP48E1", 25, 7)
