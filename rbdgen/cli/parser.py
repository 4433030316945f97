"""Every command of the command line and its options. Imports little: help comes at once."""

from __future__ import annotations

from pathlib import Path

from .. import __version__
from ..api.peers import PAPERS
from ..design.choices import LANGUAGES, MODELS
from . import tool_options as tools
from .arguments import Parser, count, examples, languages, names, numbers, seed
from .design_options import called
from .options import (
    command,
    folder_command,
    forced,
    printed,
    queued,
    robot_command,
    topology_command,
    trusted,
)

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
        epilog=examples(*EXAMPLES) + "\n\nrbdgen COMMAND --help explains each option.",
    )
    top.add_argument("--version", action="version", version=f"rbdgen {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    robot_command(
        commands,
        "info",
        "joints, operation counts, word lengths",
        "rbdgen info my_robot.urdf",
        "rbdgen info hyq --base floating --function did",
        "rbdgen info iiwa14 --ii 4 --json",
        "rbdgen info iiwa14 --accelerator --ii 8 --target xcup",
    )
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
        help="golden: float64 reference; float: the traced graph; cpp, cpp32: the same in C++, "
        "compiled for this machine once, in double or single precision; cuda, cuda32: on its GPU; "
        "cuda-on-cpu, cuda32-on-cpu: the text of those, compiled for the CPU; fixed: the integer "
        "model; "
        "c, hls: the same as generate --to c and --to hls write it, compiled for this machine, hls "
        "with the open headers of the package da4ml; rtl: the Verilated hardware (default: "
        "%(default)s)",
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
        "rbdgen generate hyq --base floating --function id,m --multipliers 100",
        "rbdgen generate iiwa14 --accelerator --ii 8 --target xcup -o build/arm",
        "rbdgen generate iiwa14 --function did,m --to cpp",
    )
    made.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="where --to names several languages, DIR/LANGUAGE (default: a folder in build, called "
        "by the robot, the functions and what else is asked for)",
    )
    called(made)
    made.add_argument(
        "--to",
        type=languages,
        default=LANGUAGES[0],
        metavar="LANGUAGE[,LANGUAGE]",
        help="what the functions are written in, each in a folder of its own: verilog (default), "
        "hardware; cpp, C++ for a CPU; c, the hardware's integers in C; "
        "cuda, CUDA for a GPU; hls, the same integers for Vitis HLS",
    )

    made = robot_command(
        commands,
        "explore",
        "intervals, widths, formulations: the Pareto front",
        "rbdgen explore hyq --function did --ii 4,8,16 --jobs 2",
        "rbdgen explore iiwa14 --widths 16,18 -o build/widths",
        "rbdgen explore iiwa14 --function did --quick --no-synthesis   10^4 designs in minutes",
        "rbdgen explore iiwa14 --executor slurm --executor-option slurm_partition=cpu",
        several=True,
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
        "unless given; multipliers are shared and nothing takes turns, in schedules without "
        "linear programs, whose error is printed",
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
        several=True,
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

    made = folder_command(
        commands,
        "simulate",
        "every bit, cycle by cycle, against the integer model",
        "rbdgen simulate build/iiwa14_id",
        "rbdgen simulate build/iiwa14_id --states 100000 --seed 7",
        "rbdgen simulate build/arm --waves",
    )
    made.add_argument("--states", type=count, default=1000, help="default: %(default)s")
    made.add_argument(
        "--seed", type=seed, default=0, help="of states and stalls (default: %(default)s)"
    )
    made.add_argument(
        "--waves",
        action="store_true",
        help="write DIR/simulation.vcd too; an accelerator's timeline.svg",
    )
    made.add_argument(
        "--calibration",
        type=Path,
        metavar="JSON",
        help="words for the registers, of another robot, as rbdgen calibrate writes them",
    )

    made = folder_command(
        commands,
        "calibrate",
        "the words of another robot for a design with --parameters registers",
        "rbdgen calibrate build/iiwa14_id second_arm.urdf -o second_arm.json",
        "rbdgen calibrate build/iiwa14_id second_arm.urdf -o registers.h",
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

    tools.synthesize(
        folder_command(
            commands,
            "synthesize",
            "FPGA cells and clock",
            "rbdgen synthesize build/iiwa14_id",
            "rbdgen synthesize build/iiwa14_id --target xcup",
            "rbdgen synthesize build/pendulum_id --place-and-route --speed 6 --speed 8",
        )
    )

    folder_command(
        commands,
        "report",
        "one page on a design, for people: DIR/report.html",
        "rbdgen report build/iiwa14_id",
    )

    tools.board(
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
        "rbdgen package litex build/iiwa14_accelerator",
        "rbdgen package vivado build/iiwa14_accelerator",
    )
    made.add_argument(
        "kind",
        choices=("fusesoc", "litex", "vivado"),
        metavar="fusesoc|litex|vivado",
        help="a .core file; a module with DMA, and a SoC to simulate; an IP, and Tcl of block "
        "designs for PYNQ-Z2 and KV260",
    )
    made.add_argument("folder", metavar="DIR", help="what generate wrote")

    command(
        commands,
        "doctor",
        "what is here of all that rbdgen can use, and how to get the rest",
        "rbdgen doctor",
        "rbdgen doctor --json",
    )
    made = command(
        commands,
        "completion",
        "what a shell needs to complete commands and options",
        'eval "$(rbdgen completion bash)"',
    )
    made.add_argument("shell", choices=("bash", "zsh", "tcsh"), metavar="bash|zsh|tcsh")
    command(commands, "robots", "the robots that a name is enough for", "rbdgen robots")
    made = command(
        commands,
        "demo",
        "iiwa 14 from URDF to bits, a pendulum to an FPGA",
        "rbdgen demo",
        "rbdgen demo -o /tmp/demo --quiet",
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
        help="of measurements that take robots one after another, as cpu and exact-hls",
    )
    queued(made, "default: 1; of slurm all")
    made = command(
        commands,
        "reproduce",
        "the papers' tables and figures, beside ours",
        "rbdgen reproduce 003             seconds",
        "rbdgen reproduce 000 001 002 004 minutes each",
        "rbdgen reproduce 004 --closed    a controller at 1 kHz over a simulated arm: minutes",
        "rbdgen reproduce 000 001 --full  longer chains and larger batches: an hour",
    )
    made.add_argument(
        "papers",
        nargs="+",
        choices=tuple(PAPERS),
        metavar="PAPER",
        help="; ".join(f"{number}: {about}" for number, about in PAPERS.items()),
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
    for name in ("board", "compare", "package", "report", "simulate", "synthesize", "calibrate"):
        trusted(commands.choices[name])
    for made in commands.choices.values():
        printed(made)
    return top
