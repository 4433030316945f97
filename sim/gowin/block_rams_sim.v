// SDPB, SDPX9B, DPB and DPX9B, the block RAMs of Gowin's parts with two ports, for simulation of
// gate-level netlists: words of 1, 2, 4, 8, 16 and 32 bits, or of 9, 18 and 36.
//
// Word k lies at bit k * BIT_WIDTH; of words of several bytes the low address bits enable them. What
// is read is there after the edge, and what is written goes to the reading side of its own port
// (WRITE_MODE 1). Contents, output registers, resets and block selects are not modelled: a netlist
// that uses them ends the simulation instead of giving a wrong number.

`define CONTENTS(bits, a) \
    parameter [bits-1:0] INIT_RAM_``a``0 = 0, INIT_RAM_``a``1 = 0, INIT_RAM_``a``2 = 0, \
    INIT_RAM_``a``3 = 0, INIT_RAM_``a``4 = 0, INIT_RAM_``a``5 = 0, INIT_RAM_``a``6 = 0, \
    INIT_RAM_``a``7 = 0, INIT_RAM_``a``8 = 0, INIT_RAM_``a``9 = 0, INIT_RAM_``a``A = 0, \
    INIT_RAM_``a``B = 0, INIT_RAM_``a``C = 0, INIT_RAM_``a``D = 0, INIT_RAM_``a``E = 0, \
    INIT_RAM_``a``F = 0
`define ALL_CONTENTS(bits) `CONTENTS(bits, 0), `CONTENTS(bits, 1), `CONTENTS(bits, 2), \
    `CONTENTS(bits, 3)
`define ANY(a) (|INIT_RAM_``a``0 || |INIT_RAM_``a``1 || |INIT_RAM_``a``2 || |INIT_RAM_``a``3 \
    || |INIT_RAM_``a``4 || |INIT_RAM_``a``5 || |INIT_RAM_``a``6 || |INIT_RAM_``a``7 \
    || |INIT_RAM_``a``8 || |INIT_RAM_``a``9 || |INIT_RAM_``a``A || |INIT_RAM_``a``B \
    || |INIT_RAM_``a``C || |INIT_RAM_``a``D || |INIT_RAM_``a``E || |INIT_RAM_``a``F)
`define FILLED (`ANY(0) || `ANY(1) || `ANY(2) || `ANY(3))

module gowin_two_ports #(
    parameter A = 1,
    parameter B = 1,
    parameter MODES = 0,
    parameter UNKNOWN = 0
) (
    input wire CLKA, CEA, WREA, CLKB, CEB, WREB, UNUSED,
    input wire [13:0] ADA, ADB,
    input wire [35:0] DIA, DIB,
    output reg [35:0] DOA, DOB
);
    function [35:0] enabled(input integer width, input [13:0] address);
        enabled = {36{1'b1}};
        if (width == 16 || width == 32)
            for (int k = 0; k < 4; k++) enabled[8 * k +: 8] = {8{address[k]}};
        if (width == 18 || width == 36)
            for (int k = 0; k < 4; k++) enabled[9 * k +: 9] = {9{address[k]}};
    endfunction
    localparam LOW_A = A >= 32 ? 5 : A >= 16 ? 4 : A >= 8 ? 3 : A >= 4 ? 2 : A >= 2 ? 1 : 0;
    localparam LOW_B = B >= 32 ? 5 : B >= 16 ? 4 : B >= 8 ? 3 : B >= 4 ? 2 : B >= 2 ? 1 : 0;

    reg [18431:0] memory = 0;
    wire [14:0] a = 15'(ADA >> LOW_A) * 15'(A);
    wire [14:0] b = 15'(ADB >> LOW_B) * 15'(B);
    wire [35:0] whose_a = enabled(A, ADA), whose_b = enabled(B, ADB);
    wire [A-1:0] into_a = memory[a +: A] & ~whose_a[A-1:0] | DIA[A-1:0] & whose_a[A-1:0];
    wire [B-1:0] into_b = memory[b +: B] & ~whose_b[B-1:0] | DIB[B-1:0] & whose_b[B-1:0];

    initial begin
        DOA = 0;
        DOB = 0;
        if (UNKNOWN != 0 || MODES != 0) $fatal(1, "a block RAM's mode that is not modelled");
    end
    always @(posedge CLKA) begin
        if (UNUSED) $fatal(1, "resets and block selects of block RAMs are not modelled");
        if (CEA) DOA <= 36'b0 | (WREA ? into_a : memory[a +: A]);
        if (CEA && WREA) memory[a +: A] <= into_a;
    end
    always @(posedge CLKB) begin
        if (CEB) DOB <= 36'b0 | (WREB ? into_b : memory[b +: B]);
        if (CEB && WREB) memory[b +: B] <= into_b;
    end
endmodule

`define SIMPLE_DUAL_PORT(name, bits, wide) \
module name #( \
    `ALL_CONTENTS(bits), \
    parameter READ_MODE = 0, BIT_WIDTH_0 = wide, BIT_WIDTH_1 = wide, BLK_SEL_0 = 0, BLK_SEL_1 = 0, \
    parameter RESET_MODE = "SYNC" \
) ( \
    input wire CLKA, CEA, CLKB, CEB, OCE, RESETA, RESETB, \
    input wire [13:0] ADA, ADB, \
    input wire [2:0] BLKSELA, BLKSELB, \
    input wire [wide-1:0] DI, \
    output wire [wide-1:0] DO \
); \
    wire [35:0] read; \
    wire [35:0] unread; \
    gowin_two_ports #( \
        .A(BIT_WIDTH_0), .B(BIT_WIDTH_1), .MODES(READ_MODE | BLK_SEL_0 | BLK_SEL_1), \
        .UNKNOWN(`FILLED) \
    ) ports ( \
        .CLKA(CLKA), .CEA(CEA), .WREA(1'b1), .CLKB(CLKB), .CEB(CEB), .WREB(1'b0), \
        .UNUSED(RESETA || RESETB || BLKSELA != 0 || BLKSELB != 0), \
        .ADA(ADA), .ADB(ADB), .DIA(36'b0 | DI), .DIB(36'b0), .DOA(unread), .DOB(read) \
    ); \
    assign DO = read[wide-1:0]; \
endmodule

`define TRUE_DUAL_PORT(name, bits, wide) \
module name #( \
    `ALL_CONTENTS(bits), \
    parameter READ_MODE0 = 0, READ_MODE1 = 0, WRITE_MODE0 = 0, WRITE_MODE1 = 0, \
    parameter BIT_WIDTH_0 = wide, BIT_WIDTH_1 = wide, BLK_SEL_0 = 0, BLK_SEL_1 = 0, \
    parameter RESET_MODE = "SYNC" \
) ( \
    input wire CLKA, CEA, CLKB, CEB, OCEA, OCEB, RESETA, RESETB, WREA, WREB, \
    input wire [13:0] ADA, ADB, \
    input wire [2:0] BLKSELA, BLKSELB, \
    input wire [wide-1:0] DIA, DIB, \
    output wire [wide-1:0] DOA, DOB \
); \
    wire [35:0] read_a, read_b; \
    gowin_two_ports #( \
        .A(BIT_WIDTH_0), .B(BIT_WIDTH_1), \
        .MODES(READ_MODE0 | READ_MODE1 | BLK_SEL_0 | BLK_SEL_1), \
        .UNKNOWN(`FILLED || WRITE_MODE0 != 1 || WRITE_MODE1 != 1) \
    ) ports ( \
        .CLKA(CLKA), .CEA(CEA), .WREA(WREA), .CLKB(CLKB), .CEB(CEB), .WREB(WREB), \
        .UNUSED(RESETA || RESETB || BLKSELA != 0 || BLKSELB != 0), \
        .ADA(ADA), .ADB(ADB), .DIA(36'b0 | DIA), .DIB(36'b0 | DIB), .DOA(read_a), .DOB(read_b) \
    ); \
    assign DOA = read_a[wide-1:0]; \
    assign DOB = read_b[wide-1:0]; \
endmodule

`SIMPLE_DUAL_PORT(SDPB, 256, 32)
`SIMPLE_DUAL_PORT(SDPX9B, 288, 36)
`TRUE_DUAL_PORT(DPB, 256, 16)
`TRUE_DUAL_PORT(DPX9B, 288, 18)
