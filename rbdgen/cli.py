"""The command line: arguments, progress and tables; the work is in ``rbdgen.api``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from . import __version__, api
from .api.evaluate import MODELS
from .options import (
    choices_of,
    count,
    folder_command,
    numbers,
    positive,
    robot_command,
    seed,
    topology_command,
)
from .passes.precision import PrecisionError
from .passes.ranges import RangeError
from .robot.model import RobotError
from .rtl.emit import EmitError
from .schedule.exact import NoSolver
from .simulate.toolchain import SimulationError
from .synthesize.nextpnr import PLACERS, ROUTERS
from .synthesize.tool import SynthesisError
from .tables import info_text, simulation_text, topology_text
from .target import TARGETS

ERRORS = (
    RobotError,
    api.InputError,
    api.OutputError,
    api.Mismatch,
    EmitError,
    RangeError,
    SimulationError,
    SynthesisError,
    PrecisionError,
    NoSolver,
)
EXAMPLES = """examples:
  rbdgen info iiwa14                          what the robot is and what its dynamics cost
  rbdgen topology hyq -o hyq.svg              which limbs could share hardware, best root
  rbdgen generate my_robot.urdf -o build/mine Verilog, RTLIL, manifest.json, pipeline.svg
  rbdgen simulate build/mine --states 10000   every bit against the integer model
  rbdgen synthesize build/mine --place-and-route
  rbdgen generate hyq --base floating --function did,m
  rbdgen evaluate iiwa14 --model fixed --input states.npz --output out.npz
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or 1 with one line on standard error."""
    options = parser().parse_args(arguments)
    try:
        with _terminated_as_interrupted():
            return int(options.run(options) or 0)
    except ERRORS as error:
        print(f"rbdgen: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("rbdgen: stopped", file=sys.stderr)
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
    return 1


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM as if it were SIGINT, so that no tool goes on alone and no temporary folder stays."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where no handler can be set
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def parser() -> argparse.ArgumentParser:
    """Every command and option."""
    top = argparse.ArgumentParser(
        prog="rbdgen",
        description="From a robot's URDF to verified rigid-body-dynamics hardware.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"rbdgen {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = robot_command(commands, "info", _info, "joints, operation counts, word lengths")
    command.add_argument("--json", action="store_true", help="as JSON on standard output")

    command = topology_command(commands, "topology", _topology)
    command.add_argument("--json", action="store_true", help="as JSON on standard output")

    command = robot_command(
        commands, "evaluate", _evaluate, "a batch of states through any of the models"
    )
    command.add_argument(
        "--model",
        choices=MODELS,
        default="golden",
        help="golden: float64 reference; float: the traced graph; fixed: the integer model; "
        "rtl: the Verilated hardware (default: %(default)s)",
    )
    command.add_argument(
        "--input",
        required=True,
        metavar="NPZ",
        type=Path,
        help="arrays q (N, nq), qd, qdd, tau (N, nv), Minv (N, nv, nv), f_ext (N, bodies, 6), as "
        "the functions need; a floating base's q starts with x, y, z and a quaternion x, y, z, w",
    )
    command.add_argument(
        "--output",
        required=True,
        metavar="NPZ",
        type=Path,
        help="gets what the functions give: tau, qdd, M, Minv, dtau_dq, dtau_dqd, dqdd_dq, "
        "dqdd_dqd; and joint_names",
    )

    command = robot_command(commands, "generate", _generate, "Verilog, RTLIL, manifest, diagram")
    command.add_argument("-o", "--output", metavar="DIR", help="default: build/NAME")

    command = robot_command(
        commands, "explore", _explore, "intervals, widths, formulations: the Pareto front", True
    )
    command.add_argument("--widths", type=numbers, metavar="BITS[,BITS]", help="of words, to try")
    command.add_argument("-o", "--output", metavar="DIR", help="default: build/NAME_explore")
    command.add_argument("--jobs", type=count, metavar="N", help="at a time (default: all cores)")
    command.add_argument(
        "--no-synthesis", action="store_true", help="estimate only; map nothing with Yosys"
    )

    command = robot_command(
        commands, "compare", _compare, "our designs beside what others have built", True
    )
    command.add_argument("--json", action="store_true", help="as JSON on standard output")
    command.add_argument(
        "--design",
        action="append",
        default=[],
        metavar="DIR",
        help="what generate wrote and synthesize placed and routed; may be repeated",
    )

    command = folder_command(
        commands, "simulate", _simulate, "every bit, cycle by cycle, against the integer model"
    )
    command.add_argument("--states", type=count, default=1000, help="default: %(default)s")
    command.add_argument("--seed", type=seed, default=0, help="of states and stalls")
    command.add_argument(
        "--waves",
        action="store_true",
        help="write DIR/simulation.vcd too; an accelerator's timeline.svg",
    )

    command = folder_command(commands, "synthesize", _synthesize, "FPGA cells and clock")
    command.add_argument(
        "--target",
        choices=tuple(TARGETS),
        help="default: the design's; xcup and xc7 are mapped only",
    )
    command.add_argument("--place-and-route", action="store_true", help="with nextpnr: minutes")
    command.add_argument(
        "--speed",
        type=int,
        action="append",
        choices=(6, 7, 8),
        help="speed grade; may be repeated (default: 6)",
    )
    command.add_argument("--seeds", type=count, default=1, help="placements tried (default: 1)")
    command.add_argument(
        "--frequency", type=positive, default=150.0, metavar="MHZ", help="aimed at"
    )
    command.add_argument(
        "--placer",
        choices=PLACERS,
        default=PLACERS[0],
        help="nextpnr's (default: %(default)s); static for large designs with shared multipliers",
    )
    command.add_argument(
        "--router",
        choices=ROUTERS,
        default=ROUTERS[0],
        help="nextpnr's (default: %(default)s); router2 where that does not end",
    )
    command.add_argument(
        "--no-floorplan",
        dest="floorplanned",
        action="store_false",
        help="nextpnr chooses the sites of multipliers and block RAMs too, one by one",
    )

    command = commands.add_parser("demo", help="iiwa 14 from URDF to bits, a pendulum to an FPGA")
    command.add_argument("-o", "--output", metavar="DIR", default="build/demo")
    command.set_defaults(run=_demo)
    command = commands.add_parser("bench", help="the long measurements (hours, all of them)")
    command.add_argument("names", nargs="*", metavar="NAME", help="which of them; none: all")
    command.add_argument("-o", "--output", metavar="DIR", default="build/bench")
    command.set_defaults(run=_bench)
    return top


def progress() -> Any:
    """Lines on standard error, each with the seconds since the start."""
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - started:6.1f} s] {line}", file=sys.stderr, flush=True)

    return say


def _info(options: argparse.Namespace) -> None:
    facts = api.info(options.robot, **choices_of(options))
    print(json.dumps(facts, indent=2) if options.json else info_text(facts))


def _topology(options: argparse.Namespace) -> None:
    facts = api.topology(
        options.robot,
        options.tolerance,
        options.turns,
        options.reroot,
        base=options.base,
        mimic=options.mimic,
    )
    if options.output is not None:
        api.topology_picture(facts, options.output)
    print(json.dumps(facts, indent=2) if options.json else topology_text(facts))


def _evaluate(options: argparse.Namespace) -> None:
    results = api.evaluate(
        options.robot,
        api.read_arrays(options.input),
        options.model,
        progress=progress(),
        **choices_of(options),
    )
    wrong = int(results["overflow"].any(axis=1).sum()) if "overflow" in results else 0
    if wrong:
        print(f"rbdgen: {wrong} states overflowed; see overflow in the output", file=sys.stderr)
    api.write_arrays(options.output, results)


def _generate(options: argparse.Namespace) -> None:
    place = api.generate(options.robot, options.output, progress=progress(), **choices_of(options))
    print(place)


def _explore(options: argparse.Namespace) -> None:
    report = api.explore(
        options.robot,
        options.output,
        intervals=options.ii or (),
        widths=options.widths or (),
        synthesis=not options.no_synthesis,
        jobs=options.jobs,
        progress=progress(),
        **{**choices_of(options), "ii": None},
    )
    print(report["text"])


def _compare(options: argparse.Namespace) -> None:
    report = api.compare(
        options.robot,
        options.design,
        progress=progress(),
        **({"intervals": options.ii} if options.ii else {}),
        **{**choices_of(options), "ii": None},
    )
    text = report.pop("text")
    print(json.dumps(report, indent=2) if options.json else text)


def _simulate(options: argparse.Namespace) -> None:
    report = api.simulate(
        options.folder, options.states, options.seed, options.waves, progress=progress()
    )
    print(simulation_text(report))


def _synthesize(options: argparse.Namespace) -> None:
    report = api.synthesize(
        options.folder,
        options.target,
        options.place_and_route,
        speeds=options.speed or (6,),
        seeds=range(1, options.seeds + 1),
        frequency=options.frequency,
        progress=progress(),
        placer=options.placer,
        router=options.router,
        floorplanned=options.floorplanned,
    )
    print(report["text"])


def _demo(options: argparse.Namespace) -> None:
    from .demo import demo

    demo(Path(options.output), progress())


def _bench(options: argparse.Namespace) -> None:
    from .bench import bench

    bench(options.names, Path(options.output), progress())
