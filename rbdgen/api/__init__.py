"""rbdgen from Python: the same things that the command line does."""

from .arrays import read_arrays, write_arrays
from .compare import compare
from .errors import Mismatch
from .evaluate import evaluate
from .explore import explore
from .folder import (
    InputError,
    OutputError,
    UsageError,
    read_manifest,
    write_file,
)
from .generate import generate
from .info import info
from .places import check_place
from .results import Generated, Report, Results
from .simulate import simulate
from .states import states
from .synthesize import synthesize
from .topology import topology, topology_picture

__all__ = [
    "Generated",
    "InputError",
    "Mismatch",
    "OutputError",
    "UsageError",
    "check_place",
    "Report",
    "Results",
    "compare",
    "evaluate",
    "explore",
    "generate",
    "info",
    "read_arrays",
    "read_manifest",
    "simulate",
    "states",
    "synthesize",
    "topology",
    "topology_picture",
    "write_arrays",
    "write_file",
]
