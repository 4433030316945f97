"""The cells of each family, and how many sites of a part each takes."""

from __future__ import annotations

from collections.abc import Mapping

# Family → resource → cell → sites. ``logic`` and ``memory`` are LUTs.
# ECP5: the write port of a LUT-RAM takes two LUTs more than its storage. UltraScale+: LUTs of a
# CLB, those of memories as in UG574, a shift register is one, too; with the names of 7-series
# cells. Gowin: a LUT-RAM takes the eight LUTs and six flip-flops of its function unit, as nextpnr
# counts them. Nexus: its write port is not made of LUTs, but there is one to eight of them.
SITES: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "ecp5": {
        "logic": {"LUT4": 1, "CCU2C": 2},
        "memory": {"TRELLIS_DPR16X4": 6},
        "flip_flops": {"TRELLIS_FF": 1},
        "block_rams": {"DP16KD": 1},
        "multipliers": {"MULT18X18D": 1},
    },
    "xcup": {
        "logic": {**{f"LUT{k}": 1 for k in range(1, 7)}, "SRL16E": 1, "SRLC32E": 1},
        "memory": {
            "RAM32M16": 8,
            "RAM64M8": 8,
            "RAM32M": 4,
            "RAM64M": 4,
            "RAM32X1D": 2,
            "RAM64X1D": 2,
            "RAM128X1D": 4,
            "RAM256X1D": 8,
        },
        "flip_flops": dict.fromkeys(("FDRE", "FDSE", "FDCE", "FDPE"), 1),
        "block_rams": {"RAMB18E2": 1, "RAMB36E2": 2, "RAMB18E1": 1, "RAMB36E1": 2},
        "multipliers": {"DSP48E2": 1, "DSP48E1": 1},
    },
    "gowin": {
        "logic": {**{f"LUT{k}": 1 for k in range(1, 5)}, "ALU": 1},
        "memory": {"RAM16SDP4": 8},
        "flip_flops": {
            **dict.fromkeys(("DFF", "DFFE", "DFFR", "DFFRE", "DFFS", "DFFSE"), 1),
            "RAM16SDP4": 6,
        },
        "block_rams": dict.fromkeys(("SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B"), 1),
        "multipliers": {"MULT18X18": 1},
    },
    "nexus": {
        "logic": {"LUT4": 1, "INV": 1, "CCU2": 2, "WIDEFN9": 2},
        "memory": {"DPR16X4": 4},
        "flip_flops": dict.fromkeys(("FD1P3BX", "FD1P3DX", "FD1P3IX", "FD1P3JX"), 1),
        "block_rams": dict.fromkeys(("DP16K", "PDP16K", "PDPSC16K"), 1),
        "multipliers": {"MULT18X18": 1},
    },
}
# Cells that are a memory of LUTs.
LUT_RAMS = {"ecp5": "TRELLIS_DPR16X4", "gowin": "RAM16SDP4", "nexus": "DPR16X4"}


def counted(family: str, cells: Mapping[str, int]) -> dict[str, int]:
    """Mapped cells as sites of each resource, and ``luts``, those of logic and memory together."""
    sites = {
        resource: sum(each * cells.get(cell, 0) for cell, each in kinds.items())
        for resource, kinds in SITES[family].items()
    }
    return {"luts": sites["logic"] + sites["memory"], **sites}
