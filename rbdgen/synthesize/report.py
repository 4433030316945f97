"""What a design costs and how fast it is, as data, JSON and a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rbdgen.synthesize.nextpnr import Placement
from rbdgen.synthesize.targets import Target, find_target
from rbdgen.synthesize.tool import Progress
from rbdgen.synthesize.yosys import Cells

# Cells of Yosys that a report shows, with what each takes of the part.
ECP5_CELLS = {
    "LUT4": "4-input tables, outside carry chains",
    "CCU2C": "carry cells, two tables each",
    "TRELLIS_FF": "flip-flops",
    "TRELLIS_DPR16X4": "LUT-RAM, 16 x 4 bits",
    "MULT18X18D": "multipliers",
    "DP16KD": "block RAM, 18 kbit",
}
