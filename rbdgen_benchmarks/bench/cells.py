"""A core as cells of UltraScale+ and of ECP5, where Yosys has the memory for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rbdgen.api.synthesis import mapped
from rbdgen.compile.product import Product
from rbdgen.design.target import TARGETS
from rbdgen.shell.emit import Emitted, emit
from rbdgen.system.quoting import Progress
from rbdgen.tools.toolchain import SynthesisError

FAMILIES = ("xcup", "ecp5")
# Products of a core that is mapped. As WebAssembly Yosys has 4 GB, which about 6000 products with
# nothing around them fill.
LARGEST = 4000
LARGEST_ECP5 = max(part.multipliers for part in TARGETS.values() if part.family == "ecp5")
TOO_LARGE = "{} products: more than Yosys as WebAssembly maps in its 4 GB"


def cells(
    core: Product, place: Path, progress: Progress, families: Sequence[str] = FAMILIES
) -> dict[str, dict[str, Any]]:
    """Family → cell → how many, mapped only; or ``why_not``. Kept in ``place``, by the RTL's text.

    Every product is a hardware multiplier as far as the design's target has them, for both
    families: what ECP5 cells are counted may be more than any ECP5 has; those are mapped module by
    module.
    """
    if reason := too_large(core):
        return no_cells(reason)
    progress("RTL")
    made: Emitted[Any] = emit(core.accelerator, "core")
    found = {}
    for family in families:
        progress(f"{family}: mapping {core.plan.multipliers} multipliers")
        found[family] = _kept(made, family, core.plan.multipliers > LARGEST_ECP5, place, progress)
    return found


def too_large(core: Product) -> str | None:
    """The reason not to map a core, if there is one."""
    products = core.plan.multipliers
    return TOO_LARGE.format(products) if products > LARGEST else None


def no_cells(reason: str) -> dict[str, dict[str, Any]]:
    """A placeholder for the cells of every family, with the reason why they are missing."""
    return {family: {"why_not": reason} for family in FAMILIES}


def _kept(
    made: Emitted[Any], family: str, too_many: bool, place: Path, progress: Progress
) -> dict[str, Any]:
    try:
        by_module = family == "ecp5" and too_many
        return mapped(made, family, place, progress, by_module=by_module).to_json()
    except SynthesisError as error:  # not kept: it may be this machine's
        return {"why_not": str(error)}


def count(found: dict[str, Any], *names: str) -> int | str:
    """How many cells whose names start with one of ``names``; a dash for what was not mapped."""
    if "why_not" in found:
        return "-"
    return sum(n for cell, n in found["cells"].items() if cell.startswith(names))


# What the tables show: family, column, cells that it counts.
COLUMNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("xcup", "DSP48E2", ("DSP48E2",)),
    ("xcup", "LUT", ("LUT",)),
    ("xcup", "FF", ("FD",)),
    ("ecp5", "MULT18X18D", ("MULT18X18D",)),
    ("ecp5", "LUT4", ("LUT4",)),
    ("ecp5", "CCU2C", ("CCU2C",)),
    ("ecp5", "TRELLIS_FF", ("TRELLIS_FF",)),
)


def columns(found: dict[str, dict[str, Any]]) -> list[int | str]:
    """The entries of ``COLUMNS``."""
    return [count(found[family], *names) for family, _, names in COLUMNS]
