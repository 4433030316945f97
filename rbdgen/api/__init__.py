"""rbdgen from Python: the same five things that the command line does."""

from .evaluate import InputError, evaluate
from .folder import OutputError, write_arrays, write_file
from .generate import generate
from .info import info
from .simulate import Mismatch, read_manifest, simulate
from .synthesize import synthesize

__all__ = [
    "InputError",
    "Mismatch",
    "OutputError",
    "evaluate",
    "generate",
    "info",
    "read_manifest",
    "simulate",
    "synthesize",
    "write_arrays",
    "write_file",
]
