"""The command line: arguments, progress and tables; the work is in ``rbdgen.api``."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import __version__, api
from .api.evaluate import MODELS
from .passes.precision import PrecisionError
from .passes.ranges import RangeError
from .robot.choices import CHECKS, FACTORISATIONS, FOLDS, FORMULATIONS, ROOTS, SCHEDULERS, STYLES
from .robot.design import shipped_robots
from .robot.model import RobotError
from .rtl.emit import EmitError
from .schedule.exact import NoSolver
from .simulate.toolchain import SimulationError
from .synthesize.tool import SynthesisError
from .tables import info_text, simulation_text
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
        return int(options.run(options) or 0)
    except ERRORS as error:
        print(f"rbdgen: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("rbdgen: stopped", file=sys.stderr)
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
    return 1


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

    command = _robot_command(commands, "info", _info, "joints, operation counts, word lengths")
    command.add_argument("--json", action="store_true", help="as JSON on standard output")

    command = _robot_command(
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

    command = _robot_command(commands, "generate", _generate, "Verilog, RTLIL, manifest, diagram")
    command.add_argument("-o", "--output", metavar="DIR", help="default: build/NAME")

    command = _robot_command(
        commands, "explore", _explore, "intervals, widths, formulations: the Pareto front", True
    )
    command.add_argument("--widths", type=_list, metavar="BITS[,BITS]", help="of words, to try")
    command.add_argument("-o", "--output", metavar="DIR", help="default: build/NAME_explore")
    command.add_argument("--jobs", type=_count, metavar="N", help="at a time (default: all cores)")
    command.add_argument(
        "--no-synthesis", action="store_true", help="estimate only; map nothing with Yosys"
    )

    command = _robot_command(
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

    command = _folder_command(
        commands, "simulate", _simulate, "every bit, cycle by cycle, against the integer model"
    )
    command.add_argument("--states", type=_count, default=1000, help="default: %(default)s")
    command.add_argument("--seed", type=_seed, default=0, help="of states and stalls")
    command.add_argument("--waves", action="store_true", help="write DIR/simulation.vcd too")

    command = _folder_command(commands, "synthesize", _synthesize, "FPGA cells and clock")
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
    command.add_argument("--seeds", type=_count, default=1, help="placements tried (default: 1)")
    command.add_argument(
        "--frequency", type=_positive, default=150.0, metavar="MHZ", help="aimed at"
    )

    command = commands.add_parser("demo", help="iiwa 14 from URDF to bits, a pendulum to an FPGA")
    command.add_argument("-o", "--output", metavar="DIR", default="build/demo")
    command.set_defaults(run=_demo)
    command = commands.add_parser("bench", help="the long measurements (hours, all of them)")
    command.add_argument("names", nargs="*", metavar="NAME", help="which of them; none: all")
    command.add_argument("-o", "--output", metavar="DIR", default="build/bench")
    command.set_defaults(run=_bench)
    return top


def _robot_command(
    commands: Any, name: str, run: Any, about: str, several: bool = False
) -> argparse.ArgumentParser:
    """A command about a robot; ``several``: at several initiation intervals."""
    command = commands.add_parser(name, help=about, description=about)
    command.add_argument(
        "robot",
        metavar="ROBOT",
        nargs="?" if name == "compare" else None,
        default="iiwa14",
        help=f"a URDF, a YAML design that names one, or one of {', '.join(shipped_robots())}",
    )
    command.add_argument(
        "--function",
        type=_functions,
        action="extend",
        metavar="NAME[,NAME]",
        help="what to compute; several share one graph, and the option may be repeated. "
        "id: inverse dynamics, tau from q, qd, qdd; fd: forward dynamics, qdd from q, qd, tau; "
        "m: mass matrix; minv: its inverse; did: tau and its gradients dtau_dq, dtau_dqd; "
        "dfd: qdd and its gradients dqdd_dq, dqdd_dqd; difd: dqdd_dq, dqdd_dqd from q, qd, qdd "
        "and a given Minv (default: the design's, else id)",
    )
    command.add_argument(
        "--formulation",
        choices=FORMULATIONS,
        help="of the gradients: composite bodies (default, half the multiplications), or "
        "recursive, derivatives carried from body to body as others do",
    )
    command.add_argument(
        "--factorisation",
        choices=FACTORISATIONS,
        help="how minv, fd and dfd invert the mass matrix: ltdl, factors with the tree's "
        "sparsity; mminvgen, articulated bodies; auto (default), the cheaper for this robot",
    )
    command.add_argument("--width", type=int, metavar="BITS", help="of words (default: 18)")
    command.add_argument(
        "--error",
        type=float,
        metavar="RMS",
        help="relative error of every output array (such as 1e-4) in place of a width: each word "
        "gets the bits that this takes, more than a hardware multiplier's only where it must",
    )
    command.add_argument("--target", choices=tuple(TARGETS), help="default: ecp5-85f")
    command.add_argument(
        "--ii",
        type=_list if several else int,
        metavar="K[,K]" if several else "K",
        help="initiation interval: a task every K cycles on a K-th of the multipliers (default: "
        + ("those up to 32 that save some)" if several else "1)"),
    )
    command.add_argument(
        "--multipliers",
        type=int,
        metavar="N",
        help="hardware multipliers to use, in place of --ii: the smallest interval that fits",
    )
    command.add_argument(
        "--scheduler",
        choices=SCHEDULERS,
        help="of a folded design: list (default, seconds), or exact (OR-tools CP-SAT, minutes: the "
        "shortest latency, often proven)",
    )
    command.add_argument(
        "--style",
        choices=STYLES,
        help="throughput (default); or latency, the fewest cycles from start to done within the "
        "multipliers that there are",
    )
    command.add_argument(
        "--clock",
        type=float,
        metavar="NS",
        help="with --style latency: operations chained within a slow clock of this period, not "
        "pipelined for a fast one",
    )
    command.add_argument("--base", choices=("fixed", "floating"), help="default: fixed")
    command.add_argument(
        "--root",
        choices=ROOTS,
        help="a floating base's own coordinates: free (default), part of the function; given, its "
        "motion comes in and only the joints' rows and columns come out; ignored, it is held still",
    )
    command.add_argument(
        "--mimic",
        choices=("fold", "independent"),
        help="a mimic joint follows its master (default), or is free as in Pinocchio's default",
    )
    command.add_argument(
        "--gravity", type=float, nargs=3, metavar=("X", "Y", "Z"), help="default: 0 0 -9.81 m/s²"
    )
    command.add_argument(
        "--snap",
        type=float,
        metavar="TOL",
        help="angles this near [rad] to a multiple of 90° become it (default: 1e-5; 0: none)",
    )
    command.add_argument(
        "--external-forces", nargs="*", metavar="LINK", help='links with a force input, or "all"'
    )
    command.add_argument(
        "--angles",
        choices=("on-chip", "sincos"),
        help="make sines on the chip (default), or take sines and cosines as inputs",
    )
    command.add_argument(
        "--rotation", type=int, choices=(3, 4), help="multiplications per rotation (default: 4)"
    )
    command.add_argument(
        "--fold",
        choices=FOLDS,
        help="what --ii and --multipliers fold: limbs, n limbs that are alike up to signs take "
        "turns in the hardware of one; none, operations share multipliers; auto (default), limbs "
        "where there are such",
    )
    command.set_defaults(run=run)
    return command


def _folder_command(commands: Any, name: str, run: Any, about: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=about, description=about)
    command.add_argument("folder", metavar="DIR", help="what generate wrote")
    command.set_defaults(run=run)
    return command


def _choices(options: argparse.Namespace) -> dict[str, Any]:
    forces = options.external_forces
    return {
        "functions": tuple(options.function) if options.function else None,
        "width": options.width,
        "error": options.error,
        "target": options.target,
        "base": options.base,
        "mimic": options.mimic,
        "gravity": tuple(options.gravity) if options.gravity else None,
        "snap": options.snap,
        "external_forces": tuple(forces) if forces is not None else None,
        "angles": options.angles,
        "rotation": options.rotation,
        "formulation": options.formulation,
        "factorisation": options.factorisation,
        "root": options.root,
        "ii": options.ii,
        "multipliers": options.multipliers,
        "scheduler": options.scheduler,
        "style": options.style,
        "clock": options.clock,
        "fold": options.fold,
    }


def _functions(text: str) -> tuple[str, ...]:
    try:
        return tuple(CHECKS["functions"](text.split(",")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _list(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError("whole numbers with commas between") from None


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("a number above 0")
    return number


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("not negative")
    return number


def progress() -> Any:
    """Lines on standard error, each with the seconds since the start."""
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - started:6.1f} s] {line}", file=sys.stderr, flush=True)

    return say


def _info(options: argparse.Namespace) -> None:
    facts = api.info(options.robot, **_choices(options))
    print(json.dumps(facts, indent=2) if options.json else info_text(facts))


def _evaluate(options: argparse.Namespace) -> None:
    results = api.evaluate(
        options.robot,
        api.read_arrays(options.input),
        options.model,
        progress=progress(),
        **_choices(options),
    )
    wrong = int(results["overflow"].any(axis=1).sum()) if "overflow" in results else 0
    if wrong:
        print(f"rbdgen: {wrong} states overflowed; see overflow in the output", file=sys.stderr)
    api.write_arrays(options.output, results)


def _generate(options: argparse.Namespace) -> None:
    place = api.generate(options.robot, options.output, progress=progress(), **_choices(options))
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
        **{**_choices(options), "ii": None},
    )
    print(report["text"])


def _compare(options: argparse.Namespace) -> None:
    report = api.compare(
        options.robot,
        options.design,
        progress=progress(),
        **({"intervals": options.ii} if options.ii else {}),
        **{**_choices(options), "ii": None},
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
    )
    print(report["text"])


def _demo(options: argparse.Namespace) -> None:
    from .demo import demo

    demo(Path(options.output), progress())


def _bench(options: argparse.Namespace) -> None:
    from .bench import bench

    bench(options.names, Path(options.output), progress())
