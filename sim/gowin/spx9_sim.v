// SPX9, the single-port block RAM of Gowin's parts with words of 9, 18 or 36 bits, as a ROM: for
// simulation of gate-level netlists.
//
// Word k lies at bit k * BIT_WIDTH of all INIT_RAM side by side, the lowest first; the low address
// bits enable bytes. The address is registered in the RAM, the data too where READ_MODE says so.
// Writing, resets and block selects are not modelled: a netlist that uses them ends the simulation
// instead of giving a wrong number.

module SPX9 #(
    parameter [287:0] INIT_RAM_00 = 288'b0,
    parameter [287:0] INIT_RAM_01 = 288'b0,
    parameter [287:0] INIT_RAM_02 = 288'b0,
    parameter [287:0] INIT_RAM_03 = 288'b0,
    parameter [287:0] INIT_RAM_04 = 288'b0,
    parameter [287:0] INIT_RAM_05 = 288'b0,
    parameter [287:0] INIT_RAM_06 = 288'b0,
    parameter [287:0] INIT_RAM_07 = 288'b0,
    parameter [287:0] INIT_RAM_08 = 288'b0,
    parameter [287:0] INIT_RAM_09 = 288'b0,
    parameter [287:0] INIT_RAM_0A = 288'b0,
    parameter [287:0] INIT_RAM_0B = 288'b0,
    parameter [287:0] INIT_RAM_0C = 288'b0,
    parameter [287:0] INIT_RAM_0D = 288'b0,
    parameter [287:0] INIT_RAM_0E = 288'b0,
    parameter [287:0] INIT_RAM_0F = 288'b0,
    parameter [287:0] INIT_RAM_10 = 288'b0,
    parameter [287:0] INIT_RAM_11 = 288'b0,
    parameter [287:0] INIT_RAM_12 = 288'b0,
    parameter [287:0] INIT_RAM_13 = 288'b0,
    parameter [287:0] INIT_RAM_14 = 288'b0,
    parameter [287:0] INIT_RAM_15 = 288'b0,
    parameter [287:0] INIT_RAM_16 = 288'b0,
    parameter [287:0] INIT_RAM_17 = 288'b0,
    parameter [287:0] INIT_RAM_18 = 288'b0,
    parameter [287:0] INIT_RAM_19 = 288'b0,
    parameter [287:0] INIT_RAM_1A = 288'b0,
    parameter [287:0] INIT_RAM_1B = 288'b0,
    parameter [287:0] INIT_RAM_1C = 288'b0,
    parameter [287:0] INIT_RAM_1D = 288'b0,
    parameter [287:0] INIT_RAM_1E = 288'b0,
    parameter [287:0] INIT_RAM_1F = 288'b0,
    parameter [287:0] INIT_RAM_20 = 288'b0,
    parameter [287:0] INIT_RAM_21 = 288'b0,
    parameter [287:0] INIT_RAM_22 = 288'b0,
    parameter [287:0] INIT_RAM_23 = 288'b0,
    parameter [287:0] INIT_RAM_24 = 288'b0,
    parameter [287:0] INIT_RAM_25 = 288'b0,
    parameter [287:0] INIT_RAM_26 = 288'b0,
    parameter [287:0] INIT_RAM_27 = 288'b0,
    parameter [287:0] INIT_RAM_28 = 288'b0,
    parameter [287:0] INIT_RAM_29 = 288'b0,
    parameter [287:0] INIT_RAM_2A = 288'b0,
    parameter [287:0] INIT_RAM_2B = 288'b0,
    parameter [287:0] INIT_RAM_2C = 288'b0,
    parameter [287:0] INIT_RAM_2D = 288'b0,
    parameter [287:0] INIT_RAM_2E = 288'b0,
    parameter [287:0] INIT_RAM_2F = 288'b0,
    parameter [287:0] INIT_RAM_30 = 288'b0,
    parameter [287:0] INIT_RAM_31 = 288'b0,
    parameter [287:0] INIT_RAM_32 = 288'b0,
    parameter [287:0] INIT_RAM_33 = 288'b0,
    parameter [287:0] INIT_RAM_34 = 288'b0,
    parameter [287:0] INIT_RAM_35 = 288'b0,
    parameter [287:0] INIT_RAM_36 = 288'b0,
    parameter [287:0] INIT_RAM_37 = 288'b0,
    parameter [287:0] INIT_RAM_38 = 288'b0,
    parameter [287:0] INIT_RAM_39 = 288'b0,
    parameter [287:0] INIT_RAM_3A = 288'b0,
    parameter [287:0] INIT_RAM_3B = 288'b0,
    parameter [287:0] INIT_RAM_3C = 288'b0,
    parameter [287:0] INIT_RAM_3D = 288'b0,
    parameter [287:0] INIT_RAM_3E = 288'b0,
    parameter [287:0] INIT_RAM_3F = 288'b0,
    parameter BIT_WIDTH = 9,
    parameter READ_MODE = 1'b0,
    parameter WRITE_MODE = 2'b00,
    parameter BLK_SEL = 3'b000,
    parameter RESET_MODE = "SYNC"
) (
    input wire [35:0] DI,
    input wire [13:0] AD,
    input wire [2:0] BLKSEL,
    input wire CLK, CE, OCE, RESET, WRE,
    output wire [35:0] DO
);
    localparam [18431:0] CONTENTS = {
        INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A,
        INIT_RAM_39, INIT_RAM_38, INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34,
        INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, INIT_RAM_2F, INIT_RAM_2E,
        INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28,
        INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22,
        INIT_RAM_21, INIT_RAM_20, INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C,
        INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, INIT_RAM_17, INIT_RAM_16,
        INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10,
        INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A,
        INIT_RAM_09, INIT_RAM_08, INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04,
        INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00
    };
    localparam LOW = BIT_WIDTH == 36 ? 5 : BIT_WIDTH == 18 ? 4 : 3;
    initial
        if ((BIT_WIDTH != 9 && BIT_WIDTH != 18 && BIT_WIDTH != 36) || BLK_SEL != 0)
            $fatal(1, "SPX9: a mode that is not modelled");
    always @(posedge CLK)
        if (WRE || RESET || BLKSEL != 0) $fatal(1, "SPX9: only reading is modelled");

    reg [BIT_WIDTH-1:0] word = 0, late = 0;
    always @(posedge CLK) begin
        if (CE) word <= CONTENTS[(AD >> LOW) * BIT_WIDTH +: BIT_WIDTH];
        if (OCE) late <= word;
    end
    wire [BIT_WIDTH-1:0] data = READ_MODE ? late : word;
    assign DO = 36'b0 | data;
endmodule
