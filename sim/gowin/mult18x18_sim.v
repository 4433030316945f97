// MULT18X18, the 18 x 18 multiplier of Gowin's GW2A, for simulation of gate-level netlists.
//
// From the meaning of the cell's parameters: DOUT = A * B through optional input, pipeline and
// output registers on one clock, with one clock enable and one synchronous reset. The shift chain,
// registered signs and asynchronous resets are not modelled: a netlist that uses them ends the
// simulation instead of giving a wrong number.

module MULT18X18 #(
    parameter AREG = 1'b0,
    parameter BREG = 1'b0,
    parameter OUT_REG = 1'b0,
    parameter PIPE_REG = 1'b0,
    parameter ASIGN_REG = 1'b0,
    parameter BSIGN_REG = 1'b0,
    parameter SOA_REG = 1'b0,
    parameter MULT_RESET_MODE = "SYNC"
) (
    input wire [17:0] A, B, SIA, SIB,
    input wire ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET,
    output wire [35:0] DOUT,
    output wire [17:0] SOA, SOB
);
    initial
        if (ASIGN_REG || BSIGN_REG || SOA_REG || MULT_RESET_MODE != "SYNC")
            $fatal(1, "MULT18X18: a mode that is not modelled");
    always @(posedge CLK)
        if (ASEL || BSEL) $fatal(1, "MULT18X18: shift chain inputs are not modelled");
    assign SOA = 18'bx, SOB = 18'bx;

    reg [17:0] a1 = 0, b1 = 0;
    reg [35:0] p2 = 0, p3 = 0;
    wire [17:0] a = AREG ? a1 : A, b = BREG ? b1 : B;
    wire signed [37:0] product = $signed({ASIGN & a[17], a}) * $signed({BSIGN & b[17], b});
    wire [35:0] p = PIPE_REG ? p2 : product[35:0];
    always @(posedge CLK)
        if (RESET) begin
            a1 <= 0;
            b1 <= 0;
            p2 <= 0;
            p3 <= 0;
        end else if (CE) begin
            a1 <= A;
            b1 <= B;
            p2 <= product[35:0];
            p3 <= p;
        end
    assign DOUT = OUT_REG ? p3 : p;
endmodule
