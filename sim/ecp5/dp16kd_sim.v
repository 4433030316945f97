// DP16KD, the block RAM of the ECP5, as a ROM: for simulation of gate-level netlists.
//
// Read through port B, 18 bits wide, or 36 with port A's outputs as the lower half. Contents as
// Yosys and Project Trellis lay them out: 18-bit word k lies in INITVAL_(k / 16), 20 bits apart.
// The address is registered in the RAM, the data too where REGMODE says OUTREG. Writing, resets,
// clock polarities and chip selects are not modelled: a netlist that uses them ends the simulation
// instead of giving a wrong number.

module DP16KD #(
    parameter [319:0] INITVAL_00 = 320'b0,
    parameter [319:0] INITVAL_01 = 320'b0,
    parameter [319:0] INITVAL_02 = 320'b0,
    parameter [319:0] INITVAL_03 = 320'b0,
    parameter [319:0] INITVAL_04 = 320'b0,
    parameter [319:0] INITVAL_05 = 320'b0,
    parameter [319:0] INITVAL_06 = 320'b0,
    parameter [319:0] INITVAL_07 = 320'b0,
    parameter [319:0] INITVAL_08 = 320'b0,
    parameter [319:0] INITVAL_09 = 320'b0,
    parameter [319:0] INITVAL_0A = 320'b0,
    parameter [319:0] INITVAL_0B = 320'b0,
    parameter [319:0] INITVAL_0C = 320'b0,
    parameter [319:0] INITVAL_0D = 320'b0,
    parameter [319:0] INITVAL_0E = 320'b0,
    parameter [319:0] INITVAL_0F = 320'b0,
    parameter [319:0] INITVAL_10 = 320'b0,
    parameter [319:0] INITVAL_11 = 320'b0,
    parameter [319:0] INITVAL_12 = 320'b0,
    parameter [319:0] INITVAL_13 = 320'b0,
    parameter [319:0] INITVAL_14 = 320'b0,
    parameter [319:0] INITVAL_15 = 320'b0,
    parameter [319:0] INITVAL_16 = 320'b0,
    parameter [319:0] INITVAL_17 = 320'b0,
    parameter [319:0] INITVAL_18 = 320'b0,
    parameter [319:0] INITVAL_19 = 320'b0,
    parameter [319:0] INITVAL_1A = 320'b0,
    parameter [319:0] INITVAL_1B = 320'b0,
    parameter [319:0] INITVAL_1C = 320'b0,
    parameter [319:0] INITVAL_1D = 320'b0,
    parameter [319:0] INITVAL_1E = 320'b0,
    parameter [319:0] INITVAL_1F = 320'b0,
    parameter [319:0] INITVAL_20 = 320'b0,
    parameter [319:0] INITVAL_21 = 320'b0,
    parameter [319:0] INITVAL_22 = 320'b0,
    parameter [319:0] INITVAL_23 = 320'b0,
    parameter [319:0] INITVAL_24 = 320'b0,
    parameter [319:0] INITVAL_25 = 320'b0,
    parameter [319:0] INITVAL_26 = 320'b0,
    parameter [319:0] INITVAL_27 = 320'b0,
    parameter [319:0] INITVAL_28 = 320'b0,
    parameter [319:0] INITVAL_29 = 320'b0,
    parameter [319:0] INITVAL_2A = 320'b0,
    parameter [319:0] INITVAL_2B = 320'b0,
    parameter [319:0] INITVAL_2C = 320'b0,
    parameter [319:0] INITVAL_2D = 320'b0,
    parameter [319:0] INITVAL_2E = 320'b0,
    parameter [319:0] INITVAL_2F = 320'b0,
    parameter [319:0] INITVAL_30 = 320'b0,
    parameter [319:0] INITVAL_31 = 320'b0,
    parameter [319:0] INITVAL_32 = 320'b0,
    parameter [319:0] INITVAL_33 = 320'b0,
    parameter [319:0] INITVAL_34 = 320'b0,
    parameter [319:0] INITVAL_35 = 320'b0,
    parameter [319:0] INITVAL_36 = 320'b0,
    parameter [319:0] INITVAL_37 = 320'b0,
    parameter [319:0] INITVAL_38 = 320'b0,
    parameter [319:0] INITVAL_39 = 320'b0,
    parameter [319:0] INITVAL_3A = 320'b0,
    parameter [319:0] INITVAL_3B = 320'b0,
    parameter [319:0] INITVAL_3C = 320'b0,
    parameter [319:0] INITVAL_3D = 320'b0,
    parameter [319:0] INITVAL_3E = 320'b0,
    parameter [319:0] INITVAL_3F = 320'b0,
    parameter DATA_WIDTH_A = 18,
    parameter DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG",
    parameter REGMODE_B = "NOREG",
    parameter RESETMODE = "SYNC",
    parameter ASYNC_RESET_RELEASE = "SYNC",
    parameter CSDECODE_A = "0b000",
    parameter CSDECODE_B = "0b000",
    parameter WRITEMODE_A = "NORMAL",
    parameter WRITEMODE_B = "NORMAL",
    parameter CLKAMUX = "CLKA",
    parameter CLKBMUX = "CLKB",
    parameter INIT_DATA = "STATIC",
    parameter GSR = "ENABLED"
) (
    input wire
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0,
    input wire
    ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input wire CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output wire
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
    DOA3, DOA2, DOA1, DOA0,
    input wire
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
    DIB3, DIB2, DIB1, DIB0,
    input wire
    ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input wire CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output wire
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
    DOB3, DOB2, DOB1, DOB0
);
    localparam WIDE = DATA_WIDTH_B == 36;
    localparam [64 * 320 - 1:0] CONTENTS = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39,
        INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32,
        INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
        INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24,
        INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D,
        INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16,
        INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F,
        INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
        INITVAL_00
    };

    initial begin
        if (!WIDE && DATA_WIDTH_B != 18)
            $fatal(1, "DP16KD: a read width that is not modelled");
        if (CLKBMUX != "CLKB" || CSDECODE_B != "0b000" || (WIDE && REGMODE_A != REGMODE_B))
            $fatal(1, "DP16KD: a mode that is not modelled");
    end
    always @(posedge CLKA)
        if (CEA && WEA) $fatal(1, "DP16KD: writing is not modelled");
    always @(posedge CLKB)
        if (WEB || RSTB || CSB2 || CSB1 || CSB0)
            $fatal(1, "DP16KD: an input that is not modelled");

    // Port A writes in the widest mode and is idle otherwise, so it has no clock of its own here.
    wire [9:0] address = {
        ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4 && !WIDE
    };
    function automatic [17:0] word(input [9:0] at);
        word = CONTENTS[at * 20 +: 18];
    endfunction
    reg [35:0] read, registered;
    always @(posedge CLKB) begin
        if (CEB) read <= WIDE ? {word(address | 10'd1), word(address)} : {word(address), 18'd0};
        if (OCEB) registered <= read;
    end
    wire [35:0] data = REGMODE_B == "OUTREG" ? registered : read;
    assign {
        DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0,
        DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0
    } = data;
endmodule
