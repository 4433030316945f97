"""Titles of the papers that ``rbdgen reproduce`` repeats, by the numbers that rbdgen gives them."""

from __future__ import annotations

PAPERS = {
    "000": "Yang, Wu and Pan 2016, prefix sums",
    "001": "Yang, Wu and Pan 2016, forward dynamics on a GPU",
    "002": "Yang, Chen and Han 2023, Dadu-RBD",
    "003": "Lathrop 1985, parallelism in manipulator dynamics",
    "004": "Plancher et al. 2021, gradients on a CPU, GPU and FPGA",
}
