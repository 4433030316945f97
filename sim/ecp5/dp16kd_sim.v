// DP16KD, the block RAM of the ECP5: for simulation of gate-level netlists.
//
// 1024 words of two bytes of 9 bits. A port of 18 bits has a word, one of 9 a byte of it, and one of
// 4, 2 or 1 a part of a byte's first 8. Of 36 bits port A writes and port B reads two words, each
// with the other's pins as the other half; a port B of fewer bits then reads by its own pins.
// Contents as Yosys and Project Trellis lay them out: word k lies in INITVAL_(k / 16), 20 bits apart.
// The address is registered in the RAM, the data too where REGMODE says OUTREG. Resets, clock
// polarities and chip selects are not modelled: a netlist that uses them ends the simulation instead
// of giving a wrong number. What a port reads while the other writes there is the old word.

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
        if (!known(DATA_WIDTH_A) || !known(DATA_WIDTH_B))
            $fatal(1, "DP16KD: a width that is not modelled");
        if (WRITEMODE_A == "WRITETHROUGH" || WRITEMODE_B == "WRITETHROUGH")
            $fatal(1, "DP16KD: a mode of writes that is not modelled");
        if (CLKBMUX != "CLKB" || CLKAMUX != "CLKA" || CSDECODE_A != "0b000"
            || CSDECODE_B != "0b000" || (WIDE && REGMODE_A != REGMODE_B))
            $fatal(1, "DP16KD: a mode that is not modelled");
    end
    always @(posedge CLKA)
        if (RSTA || CSA2 || CSA1 || CSA0) $fatal(1, "DP16KD: an input that is not modelled");
    always @(posedge CLKB)
        if (RSTB || CSB2 || CSB1 || CSB0 || (CEB && WEB && DATA_WIDTH_B == 36))
            $fatal(1, "DP16KD: an input that is not modelled");

    wire [13:0] ada = {
        ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0
    };
    wire [13:0] adb = {
        ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0
    };
    wire [17:0] dia = {
        DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
        DIA3, DIA2, DIA1, DIA0
    };
    wire [17:0] dib = {
        DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
        DIB3, DIB2, DIB1, DIB0
    };

    function automatic known(input integer width);
        known = width == 1 || width == 2 || width == 4 || width == 9 || width == 18 || width == 36;
    endfunction
    // where a port's bits begin in a word
    function automatic [4:0] first(input integer width, input [13:0] at);
        case (width)
            1: first = (at[3] ? 5'd9 : 5'd0) + {2'b0, at[2:0]};
            2: first = (at[3] ? 5'd9 : 5'd0) + {2'b0, at[2:1], 1'b0};
            4: first = (at[3] ? 5'd9 : 5'd0) + {2'b0, at[2], 2'b0};
            9: first = at[3] ? 5'd9 : 5'd0;
            default: first = 5'd0;
        endcase
    endfunction
    // the bits of a word that it writes: of a whole word, the bytes that its lowest address bits say
    function automatic [17:0] written(input integer width, input [13:0] at);
        case (width)
            1: written = 18'h1 << first(width, at);
            2: written = 18'h3 << first(width, at);
            4: written = 18'hf << first(width, at);
            9: written = 18'h1ff << first(width, at);
            default: written = {{9{at[1]}}, {9{at[0]}}};
        endcase
    endfunction

    reg [17:0] memory [0:1023];
    integer k;
    initial for (k = 0; k < 1024; k = k + 1) memory[k] = CONTENTS[k * 20 +: 18];

    wire [9:0] word_a = {ada[13:5], ada[4] && DATA_WIDTH_A != 36};
    wire [9:0] word_b = {adb[13:5], adb[4] && !WIDE};
    wire [17:0] mask_a = written(DATA_WIDTH_A, ada), mask_b = written(DATA_WIDTH_B, adb);
    wire [17:0] upper = {{9{ada[3]}}, {9{ada[2]}}};
    wire [17:0] old_a = memory[word_a], old_b = memory[word_b], other = memory[word_a | 10'd1];
    wire [17:0] new_a = (old_a & ~mask_a) | ((dia << first(DATA_WIDTH_A, ada)) & mask_a);
    wire [17:0] new_b = (old_b & ~mask_b) | ((dib << first(DATA_WIDTH_B, adb)) & mask_b);
    reg [17:0] read_a, read_b, registered_a, registered_b;
    // verilator lint_off MULTIDRIVEN
    always @(posedge CLKA) begin
        if (CEA && WEA) begin
            memory[word_a] <= new_a;
            if (DATA_WIDTH_A == 36) memory[word_a | 10'd1] <= (other & ~upper) | (dib & upper);
        end
    end
    always @(posedge CLKB) if (CEB && WEB) memory[word_b] <= new_b;
    // verilator lint_on MULTIDRIVEN
    generate
        if (WIDE) begin : both
            always @(posedge CLKB) begin
                if (CEB) {read_b, read_a} <= {memory[word_b | 10'd1], old_b};
                if (OCEB) {registered_b, registered_a} <= {read_b, read_a};
            end
        end else begin : each
            always @(posedge CLKA) begin
                if (CEA && (!WEA || WRITEMODE_A != "NORMAL"))
                    read_a <= old_a >> first(DATA_WIDTH_A, ada);
                if (OCEA) registered_a <= read_a;
            end
            always @(posedge CLKB) begin
                if (CEB && (!WEB || WRITEMODE_B != "NORMAL"))
                    read_b <= old_b >> first(DATA_WIDTH_B, adb);
                if (OCEB) registered_b <= read_b;
            end
        end
    endgenerate
    assign {
        DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
        DOA3, DOA2, DOA1, DOA0
    } = REGMODE_A == "OUTREG" ? registered_a : read_a;
    assign {
        DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
        DOB3, DOB2, DOB1, DOB0
    } = REGMODE_B == "OUTREG" ? registered_b : read_b;
endmodule
