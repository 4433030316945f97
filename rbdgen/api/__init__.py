"""rbdgen from Python: the same things that the command line does.

What cannot be done is a `Refusal` of one line; the other errors here are kinds of it.
"""

from typing import TYPE_CHECKING

from ..system import names_from

if TYPE_CHECKING:
    from ..robot.model import RobotError
    from ..shell.catalog import BoardError
    from ..system.quoting import Refusal
    from ..tools.toolchain import SimulationError, SynthesisError
    from .arrays import read_arrays, write_arrays
    from .board_link import simulated_board
    from .calibration import RealCalibration, calibrate
    from .closed_loop import loop
    from .design_report import report
    from .energy_estimate import EnergyEstimate, energy
    from .evaluation import evaluate
    from .exploration import Exploration, explore
    from .folder import InputError, OutputError, UsageError, read_manifest, write_file
    from .fusesoc import package_cocotb, package_fusesoc, package_litex
    from .generation import generate
    from .limits_from_log import Fit, fit
    from .loop_facts import Loop
    from .on_board import OnBoard, accelerator_of, board, board_design
    from .output_paths import check_place
    from .parallel import JobError
    from .program_folder import package_python, package_ros2
    from .recorded_states import states
    from .results import Generated, Mismatch, Report, Results
    from .robots import mount
    from .simulation import Simulation, simulate
    from .structure import Info, TopologyReport, info, topology, topology_picture
    from .synthesis import Synthesis, synthesize
    from .vivado import package_vivado
    from .wave_dump import Waves, waves

__getattr__ = names_from(
    __name__,
    {
        # beside the compiler, as in cli
        "rbdgen_benchmarks.compare.comparison": ("Comparison", "compare"),
        "..robot.model": ("RobotError",),
        "..shell.catalog": ("BoardError",),
        "..system.quoting": ("Refusal",),
        "..tools.toolchain": (
            "SimulationError",
            "SynthesisError",
        ),
        ".arrays": (
            "read_arrays",
            "write_arrays",
        ),
        ".board_link": ("simulated_board",),
        ".calibration": (
            "RealCalibration",
            "calibrate",
        ),
        ".closed_loop": ("loop",),
        ".design_report": ("report",),
        ".energy_estimate": (
            "EnergyEstimate",
            "energy",
        ),
        ".evaluation": ("evaluate",),
        ".exploration": (
            "Exploration",
            "explore",
        ),
        ".folder": (
            "InputError",
            "OutputError",
            "UsageError",
            "read_manifest",
            "write_file",
        ),
        ".fusesoc": (
            "package_cocotb",
            "package_fusesoc",
            "package_litex",
        ),
        ".generation": ("generate",),
        ".limits_from_log": (
            "Fit",
            "fit",
        ),
        ".loop_facts": ("Loop",),
        ".on_board": (
            "OnBoard",
            "accelerator_of",
            "board",
            "board_design",
        ),
        ".output_paths": ("check_place",),
        ".parallel": ("JobError",),
        ".program_folder": (
            "package_python",
            "package_ros2",
        ),
        ".recorded_states": ("states",),
        ".results": (
            "Generated",
            "Mismatch",
            "Report",
            "Results",
        ),
        ".robots": ("mount",),
        ".simulation": (
            "Simulation",
            "simulate",
        ),
        ".structure": (
            "Info",
            "TopologyReport",
            "info",
            "topology",
            "topology_picture",
        ),
        ".synthesis": (
            "Synthesis",
            "synthesize",
        ),
        ".vivado": ("package_vivado",),
        ".wave_dump": (
            "Waves",
            "waves",
        ),
    },
)

__all__ = [
    "BoardError",
    "Comparison",  # noqa: F822, by __getattr__
    "EnergyEstimate",
    "Exploration",
    "Fit",
    "Generated",
    "Info",
    "InputError",
    "JobError",
    "Loop",
    "Mismatch",
    "OnBoard",
    "OutputError",
    "RealCalibration",
    "Refusal",
    "Report",
    "Results",
    "RobotError",
    "Simulation",
    "SimulationError",
    "Synthesis",
    "SynthesisError",
    "TopologyReport",
    "UsageError",
    "Waves",
    "accelerator_of",
    "board",
    "board_design",
    "calibrate",
    "check_place",
    "compare",  # noqa: F822, by __getattr__
    "energy",
    "evaluate",
    "explore",
    "fit",
    "generate",
    "info",
    "loop",
    "mount",
    "package_cocotb",
    "package_fusesoc",
    "package_litex",
    "package_python",
    "package_ros2",
    "package_vivado",
    "read_arrays",
    "read_manifest",
    "report",
    "simulate",
    "simulated_board",
    "states",
    "synthesize",
    "topology",
    "topology_picture",
    "waves",
    "write_arrays",
    "write_file",
]
