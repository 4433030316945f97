"""The options of the commands that run Yosys and nextpnr, and speak to boards."""

from __future__ import annotations

import argparse

from ..design.target import PLACERS, ROUTERS, TARGETS
from .arguments import Parser, count, positive, whole
from .design_options import add_option
from .options import forced, queued


def board(made: Parser) -> None:
    """Which board, of what, and how it is spoken to."""
    made.add_argument("board", nargs="?", metavar="BOARD", help="one of --list")
    made.add_argument(
        "folder",
        nargs="?",
        metavar="DIR|ROBOT",
        help="what generate --accelerator wrote; or a robot, of which that is made first",
    )
    made.add_argument("--list", action="store_true", help="the boards there are")
    group = made.add_argument_group("the accelerator, of a robot")
    add_option(
        group, "functions", help="what it computes (default: all that generate --accelerator does)"
    )
    add_option(
        group,
        "ii",
        help="a task every K cycles (default: the shortest interval that fits the part; of id or "
        "of m alone, where that fills more than a third of it: time-multiplexed joints, in the "
        "fewest LUTs)",
    )
    add_option(group, "width")
    group.add_argument(
        "-o", "--output", metavar="DIR", help="its folder (default: as that of generate)"
    )
    forced(made)
    group = made.add_argument_group("the bitstream")
    group.add_argument("--seeds", type=count, default=1, help="placements tried (default: 1)")
    group.add_argument(
        "--frequency", type=positive, default=80.0, metavar="MHZ", help="aimed at (default: 80)"
    )
    _nextpnr(group)
    group.add_argument("--load", action="store_true", help="send it there with openFPGALoader")
    group = made.add_argument_group("the line")
    group.add_argument(
        "--link",
        choices=("uart", "udp"),
        default="uart",
        help="a serial line, or Ethernet, where the board has gigabits (default: uart)",
    )
    group.add_argument(
        "--ip", metavar="A.B.C.D", help="of a board with Ethernet (default: 192.168.1.50)"
    )
    group.add_argument(
        "--simulate",
        action="store_true",
        help="no bitstream: the Verilated design behind a pseudo-terminal, which is printed",
    )
    group.add_argument(
        "--check",
        action="store_true",
        help="no bitstream: random states over the line, every bit beside the integer model's",
    )
    group.add_argument(
        "--port", metavar="PORT", help="what --check takes: a serial port's path, or udp://HOST"
    )
    group.add_argument(
        "--states", type=count, help="of --check (default: 100000; with --simulate 1000)"
    )


def _nextpnr(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--placer",
        choices=PLACERS,
        default=PLACERS[0],
        help="nextpnr's (default: %(default)s); static for large designs with shared multipliers",
    )
    group.add_argument(
        "--router",
        choices=ROUTERS,
        default=ROUTERS[0],
        help="nextpnr's (default: %(default)s); router2 where that does not end",
    )


def synthesize(made: Parser) -> None:
    """Add the options for the part, and for nextpnr."""
    made.add_argument(
        "--target",
        choices=tuple(TARGETS),
        help="default: the design's; xcup and xc7 are mapped only",
    )
    group = made.add_argument_group("place and route")
    group.add_argument("--place-and-route", action="store_true", help="with nextpnr: minutes")
    group.add_argument(
        "--speed",
        type=whole,
        action="append",
        help="speed grade; may be repeated (default: the part's slowest: 6 of an ECP5)",
    )
    seeds = group.add_mutually_exclusive_group()
    seeds.add_argument("--seeds", type=count, default=1, help="placements tried (default: 1)")
    seeds.add_argument(
        "--seed",
        type=count,
        action="append",
        metavar="K",
        help="the K-th of them alone; may be repeated",
    )
    group.add_argument(
        "--frequency", type=positive, default=150.0, metavar="MHZ", help="aimed at (default: 150)"
    )
    _nextpnr(group)
    group.add_argument(
        "--no-floorplan",
        dest="floorplanned",
        action="store_false",
        help="nextpnr chooses the sites of multipliers and block RAMs too, one by one",
    )
    queued(made, "default: 1: each takes gigabytes; of slurm all")
