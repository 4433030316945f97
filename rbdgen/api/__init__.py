"""rbdgen from Python: the same things that the command line does."""

from typing import TYPE_CHECKING

from ..system import names_from

if TYPE_CHECKING:
    from .arrays import read_arrays, write_arrays
    from .board_link import simulated_board
    from .calibration import calibrate
    from .closed_loop import loop
    from .design_report import report
    from .energy_estimate import energy
    from .evaluation import evaluate
    from .exploration import explore
    from .folder import (
        InputError,
        OutputError,
        UsageError,
        read_manifest,
        write_file,
    )
    from .fusesoc import package_cocotb, package_fusesoc, package_litex
    from .generation import generate
    from .limits_from_log import fit
    from .on_board import accelerator_of, board, board_design
    from .output_paths import check_place
    from .program_folder import package_python, package_ros2
    from .recorded_states import states
    from .results import Generated, Mismatch, Report, Results
    from .robots import mount
    from .simulation import simulate
    from .structure import info, topology, topology_picture
    from .synthesis import synthesize
    from .vivado import package_vivado
    from .wave_dump import waves

__getattr__ = names_from(
    __name__,
    {
        "rbdgen_benchmarks.compare.comparison": ("compare",),  # beside the compiler, as in cli
        ".arrays": ("read_arrays", "write_arrays"),
        ".calibration": ("calibrate",),
        ".on_board": ("accelerator_of", "board", "board_design"),
        ".board_link": ("simulated_board",),
        ".closed_loop": ("loop",),
        ".design_report": ("report",),
        ".results": ("Mismatch", "Generated", "Report", "Results"),
        ".energy_estimate": ("energy",),
        ".evaluation": ("evaluate",),
        ".exploration": ("explore",),
        ".folder": ("InputError", "OutputError", "UsageError", "read_manifest", "write_file"),
        ".fusesoc": ("package_cocotb", "package_fusesoc", "package_litex"),
        ".generation": ("generate",),
        ".robots": ("mount",),
        ".output_paths": ("check_place",),
        ".limits_from_log": ("fit",),
        ".simulation": ("simulate",),
        ".recorded_states": ("states",),
        ".synthesis": ("synthesize",),
        ".program_folder": ("package_python", "package_ros2"),
        ".vivado": ("package_vivado",),
        ".wave_dump": ("waves",),
        ".structure": ("info", "topology", "topology_picture"),
    },
)

__all__ = [
    "Generated",
    "InputError",
    "Mismatch",
    "OutputError",
    "UsageError",
    "board",
    "accelerator_of",
    "board_design",
    "calibrate",
    "check_place",
    "simulated_board",
    "Report",
    "Results",
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
    "states",
    "synthesize",
    "topology",
    "topology_picture",
    "waves",
    "write_arrays",
    "write_file",
]
