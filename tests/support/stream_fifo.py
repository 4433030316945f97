"""A FIFO in Verilog with fields of many widths, which breaks its streams' rules if told to."""

from __future__ import annotations

import numpy as np

from rbdgen.design.target import Ports
from rbdgen.system.records import NamedWord

# A FIFO of 8 tokens. Field `fault` of a token makes the design misbehave from then on.
DESIGN = """
module fifo (
    input clk, input rst,
    input [199:0] i__payload, input i__valid, output i__ready,
    output [199:0] o__payload, output o__valid, input o__ready
);
    reg [199:0] memory [0:7];
    reg [3:0] head = 0, tail = 0;
    reg [2:0] fault = 0;
    reg [7:0] age = 0;
    wire [3:0] used = head - tail;
    wire present = used != 0;
    assign i__ready = used != 8 && fault != 1;
    assign o__valid = present && !(fault == 2 && age[0]) || fault == 4 && age == 200;
    assign o__payload = memory[tail[2:0]] ^ (fault == 3 ? age : 0);
    always @(posedge clk) begin
        age <= age + 1;
        if (i__valid && i__ready) begin
            memory[head[2:0]] <= i__payload;
            head <= head + 1;
            if (i__payload[199:197] != 0) fault <= i__payload[199:197];
        end
        if (present && o__valid && o__ready && fault != 5) tail <= tail + 1;
        if (rst) begin head <= 0; tail <= 0; fault <= 0; age <= 0; end
    end
endmodule
"""
FIELDS = [
    *(NamedWord(f"s{n}", n) for n in (1, 18, 31, 33, 64)),
    *(NamedWord(f"u{n}", n, signed=False) for n in (3, 16, 31)),
    NamedWord("fault", 3, signed=False),
]
PORTS = Ports.of(FIELDS, FIELDS)


def tokens(n: int, fault: int = 0) -> np.ndarray:
    """Random tokens with the extremes of every field; ``fault`` in the middle one."""
    rng = np.random.default_rng(7)
    columns = [
        rng.integers(f.limits[0], f.limits[1], n, dtype=np.int64, endpoint=True)
        for f in PORTS.input.fields[:-1]
    ]
    for row, bound in ((0, 0), (1, 1)):
        for column, f in zip(columns, PORTS.input.fields, strict=False):
            column[row] = f.limits[bound]
    faults = np.zeros(n, np.int64)
    faults[n // 2] = fault
    return np.stack([*columns, faults], axis=1)
