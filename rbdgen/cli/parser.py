"""Every command of the command line and its options. Imports little: help comes at once."""

from __future__ import annotations

from pathlib import Path

from .. import __version__
from ..design.choices import PAPERS
from .arguments import Parser, count, examples, names, number, pair, positive, seed, whole
from .options import (
    MOVED,
    OFTEN,
    command,
    folder_command,
    forced,
    printed,
    queued,
    trusted,
)
from .robot_parsers import board, robot_commands, synthesize

EXAMPLES = (
    "rbdgen info iiwa14                          what the robot is and what its dynamics cost",
    "rbdgen topology hyq -o hyq.svg              which limbs could share hardware, best root",
    "rbdgen generate my_robot.urdf -o build/mine Verilog, RTLIL, manifest.json, pipeline.svg",
    "rbdgen simulate build/mine --states 10000   every bit against the integer model",
    "rbdgen synthesize build/mine --place-and-route",
    "rbdgen generate hyq --base floating --function did,m",
    "rbdgen states iiwa14 -n 1000 -o states.npz  random states within the limits",
    "rbdgen evaluate iiwa14 --model fixed --input states.npz --output out.npz",
)


def parser() -> Parser:
    """Every command and option."""
    top = Parser(
        prog="rbdgen",
        description="From a robot's URDF to verified rigid-body-dynamics hardware.",
        epilog=examples(*EXAMPLES)
        + "\n\nrbdgen COMMAND --help has its options; --help all explains every one.",
    )
    top.add_argument("--version", action="version", version=f"rbdgen {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    robot_commands(commands)

    made = folder_command(
        commands,
        "simulate",
        "every bit, cycle by cycle, against the integer model",
        "rbdgen simulate build/iiwa14_id",
        "rbdgen simulate build/iiwa14_id --states 100000 --seed 7",
        "rbdgen simulate build/all_arms --calibration second_arm.json",
    )
    made.add_argument("--states", type=count, default=1000, help="default: %(default)s")
    made.add_argument(
        "--seed", type=seed, default=0, help="of states and stalls (default: %(default)s)"
    )
    made.add_argument(
        "--calibration",
        type=Path,
        metavar="JSON",
        help="words for the registers, of another robot, as rbdgen calibrate writes them",
    )

    made = folder_command(
        commands,
        "waves",
        "signals of a few tasks, real numbers by joint among them, for GTKWave and Surfer",
        "rbdgen waves build/iiwa14_id",
        "rbdgen waves build/iiwa14_accelerator --tasks 100",
        "rbdgen waves build/iiwa14_id --tasks 8 --seed 3",
    )
    made.add_argument("--tasks", type=count, default=24, help="default: %(default)s")
    made.add_argument("--seed", type=seed, default=0, help="of tasks (default: %(default)s)")

    made = folder_command(
        commands,
        "loop",
        "a controller's Verilated design drives MuJoCo's robot, beside the law in float64",
        "rbdgen generate iiwa14 --controller computed-torque --ii 8 -o build/law",
        "rbdgen loop build/law --rate 4kHz --load 1 --push 20",
        "rbdgen loop build/law --noise 1e-5,1e-3 --late 1",
    )
    made.add_argument(
        "--rate", default="1kHz", metavar="RATE", help="ticks a second (default: %(default)s)"
    )
    made.add_argument(
        "--seconds", type=positive, default=1.4, metavar="S", help="how long (default: %(default)s)"
    )
    made.add_argument(
        "--late",
        type=whole,
        default=0,
        metavar="TICKS",
        help="from reading the state to driving the joints (default: %(default)s)",
    )
    made.add_argument(
        "--load",
        type=number,
        default=0.0,
        metavar="KG",
        help="at the last link, unknown to the law (default: none)",
    )
    made.add_argument(
        "--push",
        type=number,
        default=0.0,
        metavar="N",
        help="on the last link, along y, in the third quarter of the time (default: none)",
    )
    made.add_argument(
        "--noise",
        type=pair,
        default=(0.0, 0.0),
        metavar="Q,QD",
        help="standard deviations of what the law reads: rad or m, rad/s or m/s (default: none)",
    )
    made.add_argument(
        "--drop",
        metavar="TIME",
        help="of a controller with ticks: no commands come for so long, from a quarter of the time "
        "on (such as 5ms; default: none)",
    )
    made.add_argument("--seed", type=seed, default=0, help="of the noise (default: %(default)s)")

    made = folder_command(
        commands,
        "calibrate",
        "the words of another robot for a design with --parameters registers",
        "rbdgen calibrate build/all_arms second_arm.urdf",
        "rbdgen calibrate build/all_arms second_arm.urdf -o second_arm.json",
        "rbdgen calibrate build/all_arms second_arm.urdf -o registers.h",
    )
    made.add_argument("robot", metavar="ROBOT", help="a robot of the same structure")
    made.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("calibration.json"),
        metavar="FILE",
        help="gets the words: .json, or .h, a table in C (default: %(default)s)",
    )

    synthesize(
        folder_command(
            commands,
            "synthesize",
            "FPGA cells and clock",
            "rbdgen synthesize build/iiwa14_id",
            "rbdgen synthesize build/iiwa14_id --target xcup",
            "rbdgen synthesize build/pendulum_id --place-and-route --speed 6 --speed 8",
        )
    )

    made = folder_command(
        commands,
        "energy",
        "toggles of a mapped core, nJ a result and watts, estimated, each with its range",
        "rbdgen energy build/iiwa14_id",
        "rbdgen energy build/iiwa14_id --frequency 150 --rate 1kHz",
        "rbdgen energy build/iiwa14_id --states 1000 --seed 1",
    )
    made.add_argument("--states", type=count, default=300, help="default: %(default)s")
    made.add_argument("--seed", type=seed, default=0, help="of states (default: %(default)s)")
    made.add_argument(
        "--frequency",
        type=positive,
        metavar="MHZ",
        help="the clock, for watts (default: the fastest placement's, if there is one)",
    )
    made.add_argument(
        "--rate", metavar="RATE", help="tasks a second (such as 1kHz): watts at that rate too"
    )

    folder_command(
        commands,
        "report",
        "one page on a design, for people: DIR/report.html",
        "rbdgen report build/iiwa14_id",
        "rbdgen report build/iiwa14_id --trust   although files of the folder changed",
        "rbdgen report build/iiwa14_id --json    where the page is, for scripts",
    )

    board(
        command(
            commands,
            "board",
            "a bitstream for a board, and the line to it",
            "rbdgen board --list",
            "rbdgen generate pendulum --accelerator --function id,m --ii 2 --target ecp5-85f -o D",
            "rbdgen board ulx3s-85f D",
            "rbdgen board ulx3s-85f iiwa14 --function id --ii 8   the accelerator is made first",
            "rbdgen board ulx3s-85f D --simulate   a port to call from another terminal",
            "rbdgen board ulx3s-85f D --simulate --check --states 100",
            "rbdgen board ulx3s-85f D --check --port /dev/ttyUSB0",
        )
    )

    made = command(
        commands,
        "package",
        "what other tools take a design by",
        "rbdgen package fusesoc build/iiwa14_id",
        "rbdgen package cocotb build/iiwa14_id    then make in build/iiwa14_id/cocotb",
        "rbdgen package litex build/iiwa14_accelerator",
        "rbdgen package vivado build/iiwa14_accelerator --frequency 250",
        "rbdgen package python build/iiwa14_id   of --to cpp; pip install build/iiwa14_id/python",
        "rbdgen package ros2 build/iiwa14_id     of --to cpp; colcon builds build/iiwa14_id/ros2",
    )
    made.add_argument(
        "kind",
        choices=("fusesoc", "cocotb", "litex", "vivado", "python", "ros2"),
        metavar="fusesoc|cocotb|litex|vivado|python|ros2",
        help="a .core file; a driver and tests for cocotb; a module with DMA, and a SoC to "
        "simulate; an IP, and Tcl of block designs for PYNQ-Z2, KV260, VCU118, Alveo U50 and "
        "Alveo U250; of C++ a package of Python; of C++ of id a package of ROS 2, with an "
        "inverse_dynamics_solver and a controller for ros2_control",
    )
    made.add_argument("folder", metavar="DIR", help="what generate wrote")
    made.add_argument(
        "--frequency",
        type=positive,
        metavar="MHZ",
        help="of vivado: the clock that ooc.tcl asks for, with the design alone",
    )

    command(
        commands,
        "doctor",
        "what is here of all that rbdgen can use, and how to get the rest",
        "rbdgen doctor",
        "rbdgen doctor --json",
        "rbdgen doctor --json --quiet > tools.json",
    )
    made = command(
        commands,
        "completion",
        "what a shell needs to complete commands and options",
        'eval "$(rbdgen completion bash)"',
        'eval "$(rbdgen completion zsh)"',
        "rbdgen completion tcsh > ~/.rbdgen.tcsh   which ~/.tcshrc sources",
    )
    made.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="bash|zsh|tcsh")
    command(
        commands,
        "robots",
        "the robots that a name is enough for",
        "rbdgen robots",
        "rbdgen robots --json",
        "rbdgen info hyq   one of them",
    )
    made = command(
        commands,
        "demo",
        "iiwa 14 from URDF to bits, a pendulum to an FPGA",
        "rbdgen demo",
        "rbdgen demo -o /tmp/demo --quiet",
        "rbdgen demo --json   its table, for scripts",
    )
    made.add_argument(
        "-o", "--output", metavar="DIR", default="build/demo", help="default: %(default)s"
    )
    made = command(
        commands,
        "bench",
        "the long measurements; without a name, which there are",
        "rbdgen bench",
        "rbdgen bench growth cpu",
        "rbdgen bench functions      all whose names begin so",
        "rbdgen bench all            hours",
    )
    made.add_argument(
        "names", nargs="*", metavar="NAME", help="which of them; all: all but those of days"
    )
    made.add_argument(
        "-o", "--output", metavar="DIR", default="build/bench", help="default: %(default)s"
    )
    made.add_argument(
        "--only",
        type=names,
        default=(),
        metavar="ROBOT[,ROBOT]",
        help="of measurements that take robots one after another, as cpu and bit-exactness-hls",
    )
    queued(made, "default: 1; of slurm all")
    made = command(
        commands,
        "reproduce",
        "the papers' tables and figures, beside ours",
        "rbdgen reproduce lathrop1985     seconds; or 003",
        "rbdgen reproduce 000 001 002 004 minutes each",
        "rbdgen reproduce 004 --closed    a controller at 1 kHz over a simulated arm: minutes",
        "rbdgen reproduce 000 001 --full  longer chains and larger batches: an hour",
    )
    made.add_argument(
        "papers",
        nargs="+",
        choices=(*PAPERS, *(paper.name for paper in PAPERS.values())),
        metavar="PAPER",
        help="; ".join(f"{number} or {name}: {title}" for number, (name, title) in PAPERS.items()),
    )
    made.add_argument("--full", action="store_true", help="sizes that take longer than minutes")
    made.add_argument(
        "--closed",
        action="store_true",
        help="of 004: its gradient in a controller at 1 kHz, closed over MuJoCo's arm with noise, "
        "a delay and a push; error of the tool by words, 004-closed.svg and .json",
    )
    made.add_argument(
        "-o", "--output", metavar="DIR", default="build/reproduce", help="default: %(default)s"
    )
    for name in ("generate", "explore"):
        forced(commands.choices[name])
    for name in (
        "board",
        "compare",
        "package",
        "report",
        "energy",
        "simulate",
        "waves",
        "loop",
        "synthesize",
        "calibrate",
    ):
        trusted(commands.choices[name])
    for name, made in commands.choices.items():
        printed(made)
        made.often = OFTEN.get(name, ())
        made.moved = MOVED.get(name, {})
    return top
