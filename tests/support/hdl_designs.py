"""Designs of a pendulum whose types in SystemVerilog and VHDL are tried, and benches of them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rbdgen.api.folder import read_manifest
from rbdgen.design.manifest import HardwareManifest
from tests.support.icarus import binary
from tests.support.made import generated


def folders() -> dict[str, Path]:
    """The folders by the names of their tops: cores, and an accelerator of two functions."""
    return {
        "torque": generated("pendulum", name="torque"),
        "mass": generated("pendulum", name="mass", functions=("m",), width=16),
        "after": generated("pendulum", name="after", functions=("step",), ii=8),
        "many": generated("pendulum", name="many", functions=("id", "m"), accelerator=True, ii=2),
    }


def entry_of(folder: Path) -> HardwareManifest:
    """The manifest of hardware."""
    return read_manifest(folder).facts


def filled(text: str, **values: str) -> str:
    """A text with values where it has their keys between two @."""
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def run_in_icarus(bench: Path, top: str, sources: Sequence[Path], *options: str) -> list[str]:
    """The lines that a bench prints, but for where it ends; sources come before it."""
    program = bench.with_suffix(".vvp")
    command = [binary("iverilog"), "-g2012", *options, "-s", top, "-o", program, *sources, bench]
    subprocess.run(command, check=True)
    done = subprocess.run([binary("vvp"), program], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "$finish" not in line]
