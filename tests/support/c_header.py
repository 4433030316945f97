"""The C header, compiled to be called from Python."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.design.functions import GIVES, NEEDS
from rbdgen.tasks.routes import CODES
from rbdgen_host.driver import c_header

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SPELT = {"qd": "v", "qdd": "a"}
OK, OVERFLOW, UNKNOWN_FUNCTION = 0, 1, 2
TAG = 0xBEEF


def library(folder: Path, manifest: dict[str, Any], extra: dict[str, list[str]]) -> ctypes.CDLL:
    """A small program around the header: its inline functions, to be called from outside.

    ``extra``: arrays that a function takes besides those of `NEEDS`.
    """
    declared = {"h": "double h", "steps": "uint16_t steps"}
    name = manifest["name"]
    lines = [f'#include "{name}.h"', f'#include "{name}.h"']  # once is enough
    for own in manifest["tasks"]["functions"]:
        takes = [*NEEDS[own], *extra.get(own, [])]
        order = ["q", *(x for x in takes if x in ("sines", "cosines")), *takes]
        takes = list(dict.fromkeys(order))
        arguments = "".join(f"{declared.get(array, f'const double *{array}')}, " for array in takes)
        values = "".join(f"{array}, " for array in takes)
        lines += [
            f"int encode_{own}({arguments}uint16_t tag, uint32_t *packet);",
            f"int encode_{own}({arguments}uint16_t tag, uint32_t *packet)",
            f"{{ return {name}_encode_{own}({values}tag, packet); }}",
        ]
        arguments = "".join(f", double *{array}" for array in GIVES[own])
        values = "".join(f", {array}" for array in GIVES[own])
        lines += [
            f"int decode_{own}(const uint32_t *packet, uint16_t *tag{arguments});",
            f"int decode_{own}(const uint32_t *packet, uint16_t *tag{arguments})",
            f"{{ return {name}_decode_{own}(packet, tag{values}); }}",
        ]
    lines += [
        "int to_word(double value, int width, int fraction, int32_t *word);",
        "int to_word(double value, int width, int fraction, int32_t *word)",
        f"{{ return {name}_to_word(value, width, fraction, word); }}",
        "int identify(uint32_t (*read32)(void *, uint32_t), void *context);",
        "int identify(uint32_t (*read32)(void *, uint32_t), void *context)",
        f"{{ return {name}_identify(read32, context); }}",
    ]
    (folder / f"{name}.h").write_text(c_header(manifest))
    source = folder / "program.c"
    source.write_text("\n".join(lines) + "\n")
    made = folder / "program.so"
    assert COMPILER is not None  # the simulation needs one too
    subprocess.run(
        [COMPILER, "-std=c99", *WARNINGS, "-shared", "-fPIC", str(source), "-o", str(made), "-lm"],
        check=True,
    )
    return ctypes.CDLL(str(made))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def header(function: str, status: int = 0) -> int:
    return CODES[function] | status << 8 | TAG << 16


def rows(state: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    n = len(state["q"])
    return [{k: np.ascontiguousarray(x[i]) for k, x in state.items()} for i in range(n)]


def response_words(arrays: dict[str, np.ndarray], facts: Any) -> tuple[int, ...]:
    """The words that the integer model gave, from the numbers that they stand for."""
    words = []
    for word in facts.outputs:
        name, _, index = word.name.rstrip("]").partition("[")
        value = arrays[name][tuple(int(k) for k in index.split(","))]
        words.append(int(math.ldexp(float(value), word.fraction)))
    return tuple(words)
