"""The parts a design can be placed on, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """An ECP5: ``luts`` LUT4 with as many flip-flops; two of them make one slice or CCU2C."""

    name: str
    part: str
    luts: int
    multipliers: int  # MULT18X18D
    block_rams: int  # DP16KD, 18 kbit each
    flag: str  # nextpnr's name of the die
    package: str = "CABGA381"

    @property
    def lut_rams(self) -> int:
        """TRELLIS_DPR16X4 that fit: one in each tile of eight LUT4, where it takes six."""
        return self.luts // 8


TARGETS = {
    target.name: target
    for target in (
        Target("ecp5-25f", "LFE5U-25F", 24288, 28, 56, "--25k"),
        Target("ecp5-45f", "LFE5U-45F", 43848, 72, 108, "--45k"),
        Target("ecp5-85f", "LFE5U-85F", 83640, 156, 208, "--85k"),
    )
}


def find_target(name: str) -> Target:
    """The target called ``name``.

    Raises:
        ValueError: no such target; the message names those there are.
    """
    if name not in TARGETS:
        raise ValueError(f"no target {name!r}: there are {', '.join(TARGETS)}")
    return TARGETS[name]
