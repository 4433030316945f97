// MULT18X18D, the 18 x 18 multiplier of the ECP5, for simulation of gate-level netlists.
//
// From the meaning of the cell's parameters: P = A * B through optional input, pipeline and output
// registers, each with a clock, clock enable and synchronous reset of its own choice. Cascade
// inputs, the C port, the shift chain and asynchronous resets are not modelled: a netlist that uses
// them, or a parameter value unknown here, ends the simulation instead of giving a wrong number.

module MULT18X18D #(
    parameter REG_INPUTA_CLK = "NONE",
    parameter REG_INPUTA_CE = "CE0",
    parameter REG_INPUTA_RST = "RST0",
    parameter REG_INPUTB_CLK = "NONE",
    parameter REG_INPUTB_CE = "CE0",
    parameter REG_INPUTB_RST = "RST0",
    parameter REG_INPUTC_CLK = "NONE",
    parameter REG_INPUTC_CE = "CE0",
    parameter REG_INPUTC_RST = "RST0",
    parameter REG_PIPELINE_CLK = "NONE",
    parameter REG_PIPELINE_CE = "CE0",
    parameter REG_PIPELINE_RST = "RST0",
    parameter REG_OUTPUT_CLK = "NONE",
    parameter REG_OUTPUT_CE = "CE0",
    parameter REG_OUTPUT_RST = "RST0",
    parameter CLK0_DIV = "ENABLED",
    parameter CLK1_DIV = "ENABLED",
    parameter CLK2_DIV = "ENABLED",
    parameter CLK3_DIV = "ENABLED",
    parameter HIGHSPEED_CLK = "NONE",
    parameter GSR = "ENABLED",
    parameter CAS_MATCH_REG = "FALSE",
    parameter SOURCEB_MODE = "B_SHIFT",
    parameter MULT_BYPASS = "DISABLED",
    parameter RESETMODE = "SYNC"
) (
    input wire
    A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
    input wire
    B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
    input wire
    C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
    input wire
    SRIA17, SRIA16, SRIA15, SRIA14, SRIA13, SRIA12, SRIA11, SRIA10, SRIA9, SRIA8, SRIA7, SRIA6,
    SRIA5, SRIA4, SRIA3, SRIA2, SRIA1, SRIA0,
    input wire
    SRIB17, SRIB16, SRIB15, SRIB14, SRIB13, SRIB12, SRIB11, SRIB10, SRIB9, SRIB8, SRIB7, SRIB6,
    SRIB5, SRIB4, SRIB3, SRIB2, SRIB1, SRIB0,
    input wire
    SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK3, CLK2, CLK1, CLK0, CE3, CE2, CE1, CE0, RST3, RST2,
    RST1, RST0,
    output wire
    SROA17, SROA16, SROA15, SROA14, SROA13, SROA12, SROA11, SROA10, SROA9, SROA8, SROA7, SROA6,
    SROA5, SROA4, SROA3, SROA2, SROA1, SROA0,
    output wire
    SROB17, SROB16, SROB15, SROB14, SROB13, SROB12, SROB11, SROB10, SROB9, SROB8, SROB7, SROB6,
    SROB5, SROB4, SROB3, SROB2, SROB1, SROB0,
    output wire
    ROA17, ROA16, ROA15, ROA14, ROA13, ROA12, ROA11, ROA10, ROA9, ROA8, ROA7, ROA6, ROA5, ROA4,
    ROA3, ROA2, ROA1, ROA0,
    output wire
    ROB17, ROB16, ROB15, ROB14, ROB13, ROB12, ROB11, ROB10, ROB9, ROB8, ROB7, ROB6, ROB5, ROB4,
    ROB3, ROB2, ROB1, ROB0,
    output wire
    ROC17, ROC16, ROC15, ROC14, ROC13, ROC12, ROC11, ROC10, ROC9, ROC8, ROC7, ROC6, ROC5, ROC4,
    ROC3, ROC2, ROC1, ROC0,
    output wire
    P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
    P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0,
    output wire SIGNEDP
);

    // Everything whose effect is not described below must be switched off.
    function automatic integer known_clock(input [47:0] value);
        known_clock = value == "NONE" || value == "CLK0" || value == "CLK1" || value == "CLK2"
            || value == "CLK3";
    endfunction
    initial begin
        if (!known_clock(REG_INPUTA_CLK) || !known_clock(REG_INPUTB_CLK)
            || !known_clock(REG_PIPELINE_CLK) || !known_clock(REG_OUTPUT_CLK))
            $fatal(1, "MULT18X18D: unknown register clock");
        if (REG_INPUTC_CLK != "NONE" || HIGHSPEED_CLK != "NONE" || CAS_MATCH_REG != "FALSE"
            || MULT_BYPASS != "DISABLED" || RESETMODE != "SYNC")
            $fatal(1, "MULT18X18D: a mode that is not modelled");
    end
    always @(posedge CLK0)
        if (SOURCEA || SOURCEB) $fatal(1, "MULT18X18D: shift chain inputs are not modelled");

    wire [17:0] a = {
        A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0
    };
    wire [17:0] b = {
        B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0
    };

    // An operand and its sign travel together through the input register.
    wire [18:0] a1, b1;
    mult18x18d_register #(19, REG_INPUTA_CLK, REG_INPUTA_CE, REG_INPUTA_RST) input_a (
        .clk({CLK3, CLK2, CLK1, CLK0}), .ce({CE3, CE2, CE1, CE0}),
        .rst({RST3, RST2, RST1, RST0}), .d({SIGNEDA & A17, a}), .q(a1));
    mult18x18d_register #(19, REG_INPUTB_CLK, REG_INPUTB_CE, REG_INPUTB_RST) input_b (
        .clk({CLK3, CLK2, CLK1, CLK0}), .ce({CE3, CE2, CE1, CE0}),
        .rst({RST3, RST2, RST1, RST0}), .d({SIGNEDB & B17, b}), .q(b1));

    wire signed [37:0] product = $signed(a1) * $signed(b1);
    wire [35:0] p2, p3;
    mult18x18d_register #(36, REG_PIPELINE_CLK, REG_PIPELINE_CE, REG_PIPELINE_RST) pipeline (
        .clk({CLK3, CLK2, CLK1, CLK0}), .ce({CE3, CE2, CE1, CE0}),
        .rst({RST3, RST2, RST1, RST0}), .d(product[35:0]), .q(p2));
    mult18x18d_register #(36, REG_OUTPUT_CLK, REG_OUTPUT_CE, REG_OUTPUT_RST) result (
        .clk({CLK3, CLK2, CLK1, CLK0}), .ce({CE3, CE2, CE1, CE0}),
        .rst({RST3, RST2, RST1, RST0}), .d(p2), .q(p3));

    assign {
        P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
        P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
    } = p3;
endmodule

// A register of the multiplier, or a wire where its clock is "NONE".
module mult18x18d_register #(
    parameter WIDTH = 18,
    parameter CLK = "NONE",
    parameter CE = "CE0",
    parameter RST = "RST0"
) (
    input wire [3:0] clk, ce, rst,
    input wire [WIDTH-1:0] d,
    output wire [WIDTH-1:0] q
);
    // The last character of the name is the number of the signal.
    localparam [7:0] CLK_DIGIT = CLK, CE_DIGIT = CE, RST_DIGIT = RST;
    generate
        if (CLK == "NONE") begin : g_wire
            assign q = d;
        end else begin : g_register
            reg [WIDTH-1:0] state = 0;
            wire edge_of = clk[CLK_DIGIT - "0"];
            always @(posedge edge_of)
                if (rst[RST_DIGIT - "0"]) state <= 0;
                else if (ce[CE_DIGIT - "0"]) state <= d;
            assign q = state;
        end
    endgenerate
endmodule
