"""The commands on a robot, and options of those that run Yosys, nextpnr and boards."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from ..design.choices import LANGUAGES, MODELS
from ..design.target import PLACERS, ROUTERS, TARGETS
from .arguments import Parser, count, languages, numbers, positive, seed, whole
from .options import (
    add_option,
    forced,
    queued,
    robot_command,
    shown_of_languages,
    topology_command,
    wishes,
)


def robot_commands(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the commands from info to compare."""
    made = robot_command(
        commands,
        "info",
        "joints, operation counts, word lengths",
        "rbdgen info my_robot.urdf",
        "rbdgen info hyq --base floating --function did",
        "rbdgen info iiwa14 --accelerator --ii 8 --target xcup --json",
        "rbdgen info hyq --function id,did --latency 3us --rate 1MHz",
    )
    wishes(made)
    topology_command(commands)

    made = robot_command(
        commands,
        "states",
        "random states within the limits, for evaluate",
        "rbdgen states my_robot.urdf -n 1000 -o states.npz",
        "rbdgen states hyq --base floating --function did --seed 3",
        "rbdgen states iiwa14 --external-forces all -o pushed.npz",
    )
    made.add_argument(
        "-n", "--states", type=count, default=1000, metavar="N", help="default: %(default)s"
    )
    made.add_argument("--seed", type=seed, default=0, help="default: %(default)s")
    made.add_argument(
        "-o",
        "--output",
        metavar="NPZ",
        type=Path,
        default=Path("states.npz"),
        help="gets the arrays that the functions need (default: %(default)s)",
    )

    made = robot_command(
        commands,
        "evaluate",
        "a batch of states through any of the models",
        "rbdgen evaluate iiwa14 --input states.npz --output out.npz",
        "rbdgen evaluate my_robot.urdf --model rtl --input states.npz --output out.npz",
        "rbdgen evaluate hyq --function crba,did --model fixed --input s.npz --output o.npz",
    )
    made.add_argument(
        "--model",
        choices=MODELS,
        default="golden",
        help="which model computes (default: golden); golden: float64 reference; float: the "
        "traced graph; cpp, cpp32: the same in C++, compiled for this machine once, in double or "
        "single precision; cuda, cuda32: on its GPU; cuda-on-cpu, cuda32-on-cpu: the text of "
        "those, compiled for the CPU; fixed: the integer model; c, hls: the same as generate --to "
        "c and --to hls write it, compiled for this machine, hls with the open headers of the "
        "package da4ml; rtl: the Verilated hardware",
    )
    made.add_argument(
        "--input",
        required=True,
        metavar="NPZ",
        type=Path,
        help="arrays q (N, nq), qd, qdd, tau (N, nv), Minv (N, nv, nv), f_ext (N, bodies, 6), "
        "payload (N, 10), as the functions need; a floating base's q starts with x, y, z and a "
        "quaternion x, y, z, w",
    )
    made.add_argument(
        "--output",
        required=True,
        metavar="NPZ",
        type=Path,
        help="gets what the functions give: tau, qdd, M, Minv, dtau_dq, dtau_dqd, dqdd_dq, "
        "dqdd_dqd, d2tau_dq2, g, nle, and so on; and joint_names",
    )

    made = robot_command(
        commands,
        "fit",
        "limits from recorded states, so that words are for what the robot does",
        "rbdgen fit iiwa14 states.npz -o design.yaml",
        "rbdgen fit gantry.yaml log.npz -o fitted.yaml",
        "rbdgen fit my_robot.urdf log.npz --margin 0.5 --function did -o design.yaml",
    )
    made.add_argument(
        "states",
        metavar="NPZ",
        type=Path,
        help="what was recorded: q (N, nq), and of qd, qdd, tau (N, nv) what there is, in the "
        "order of the joints; at least 100 states, finite, within the URDF's limits",
    )
    made.add_argument(
        "--margin",
        type=float,
        default=0.25,
        metavar="SHARE",
        help="of the largest that was recorded, by which limits are more (default: %(default)s)",
    )
    made.add_argument(
        "-o", "--output", metavar="YAML", type=Path, help="gets the design, which generate takes"
    )

    made = robot_command(
        commands,
        "generate",
        "Verilog, RTLIL, manifest, diagram; or C++, C, CUDA, HLS",
        "rbdgen generate my_robot.urdf -o build/mine",
        "rbdgen generate iiwa14 --accelerator --ii 8 --target xcup -o build/arm",
        "rbdgen generate iiwa14 --function did,m --to cpp   what acts in it: --to cpp --help",
    )
    wishes(made)
    made.narrow = partial(shown_of_languages, made)
    made.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="the folder; where --to names several languages, DIR/LANGUAGE (default: a folder in "
        "build, called by the robot, the functions and what else is asked for)",
    )
    made.add_argument(
        "--to",
        type=languages,
        default=LANGUAGES[0],
        metavar="LANGUAGE[,LANGUAGE]",
        help="verilog (default), cpp, c, cuda or hls; verilog: hardware; cpp: C++ for a CPU; c: "
        "the hardware's integers in C; cuda: CUDA for a GPU; hls: the same integers for Vitis HLS; "
        "several languages: each in a folder of its own. With --help: the options that act in it",
    )

    made = robot_command(
        commands,
        "explore",
        "intervals, widths, formulations, folds: the Pareto front",
        "rbdgen explore hyq --function did --ii 4,8,16 --jobs 2",
        "rbdgen explore iiwa14 --ii 8,16 --fold none,joints --target ecp5-25f",
        "rbdgen explore iiwa14 --function did --quick --no-synthesis   10^4 designs in minutes",
        "rbdgen explore iiwa14 --executor slurm --executor-option slurm_partition=cpu",
    )
    made.add_argument(
        "--widths",
        type=numbers,
        metavar="BITS[,BITS]",
        help="of words, to try, in place of --error (default with --quick: 12 to 32)",
    )
    made.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="default: a folder in build, called as that of generate, and _explore",
    )
    made.add_argument(
        "--quick",
        action="store_true",
        help="thousands of designs in minutes: every interval, width, guard bit and rotation, "
        "unless given; multipliers are shared and nothing is time-multiplexed, in schedules "
        "without linear programs, whose error is printed",
    )
    made.add_argument(
        "--no-synthesis", action="store_true", help="estimate only; map nothing with Yosys"
    )
    queued(made, "default: as there are cores; of slurm all")

    made = robot_command(
        commands,
        "compare",
        "our designs and C++ side by side, beside what others have built",
        "rbdgen compare",
        "rbdgen compare iiwa14 --function did --ii 1,8",
        "rbdgen compare iiwa14 --function did --design build/iiwa14_did",
    )
    made.add_argument(
        "--design",
        action="append",
        default=[],
        metavar="DIR",
        help="what generate wrote and synthesize placed and routed; may be repeated",
    )
    made.add_argument(
        "--no-cpu",
        dest="cpu",
        action="store_false",
        help="do not compile and time our C++ on this machine, which takes half a minute; nor our "
        "CUDA, where there is a GPU",
    )
    made.add_argument(
        "--pinocchio",
        action="store_true",
        help="time Pinocchio beside it, of id, did or dfd, templated and code-generated; "
        "compiling that takes minutes, once",
    )
    made.add_argument(
        "-o", "--output", metavar="SVG", type=Path, help="draw it, too; FILE.html: as a page"
    )


def board(made: Parser) -> None:
    """Which board, of what, and how it is spoken to."""
    made.add_argument("board", nargs="?", metavar="BOARD", help="one of --list")
    made.add_argument(
        "folder",
        nargs="?",
        metavar="DIR|ROBOT",
        help="what generate --accelerator wrote, or a robot, of which that is made first",
    )
    made.add_argument("--list", action="store_true", help="the boards there are")
    group = made.add_argument_group("the accelerator, of a robot")
    add_option(
        group, "functions", help="what it computes (default: all that generate --accelerator does)"
    )
    add_option(
        group,
        "ii",
        help="a task every K cycles (default: the shortest interval that fits the part); of id or "
        "of m alone, where that fills more than a third of it, the default is time-multiplexed "
        "joints, in the fewest LUTs",
    )
    add_option(group, "width")
    group.add_argument(
        "-o", "--output", metavar="DIR", help="its folder (default: as that of generate)"
    )
    forced(made)
    wishes(made, group, power=False)  # a board gets an accelerator
    group = made.add_argument_group("the bitstream")
    group.add_argument("--seeds", type=count, default=1, help="placements tried (default: 1)")
    group.add_argument(
        "--frequency", type=positive, default=80.0, metavar="MHZ", help="aimed at (default: 80)"
    )
    _nextpnr(group)
    sent = group.add_mutually_exclusive_group()
    sent.add_argument("--load", action="store_true", help="send it there with openFPGALoader")
    sent.add_argument(
        "--flash",
        action="store_true",
        help="write it to the board's flash with openFPGALoader, and the board starts from that",
    )
    group = made.add_argument_group("the line")
    group.add_argument(
        "--link",
        choices=("uart", "udp", "spi"),
        help="a serial line, gigabit Ethernet or a microcontroller's SPI (default: the first "
        "that --list says of the board)",
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
        "--port",
        metavar="PORT",
        help="what --check takes: a serial port's path, or udp://HOST, or spi:/dev/spidev0.0@HZ",
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
