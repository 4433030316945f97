// DSP48E2, the 27 x 18 multiplier of UltraScale+, for simulation of gate-level netlists.
//
// From the meaning of the cell's ports and parameters (UG579): P = A * B + Z + W + CARRYIN through one
// or two registers of each operand, one or none of C, the pipeline and the output register. Z is 0, C,
// PCIN or PCIN >> 17, with ALUMODE 1 its complement; W is 0 or RND. Everything else is not modelled: a
// netlist that uses it ends the simulation instead of giving a wrong number.

module DSP48E2 #(
    parameter integer AREG = 1, ACASCREG = 1, BREG = 1, BCASCREG = 1, CREG = 1, MREG = 1, PREG = 1,
    parameter integer DREG = 1, ADREG = 1, INMODEREG = 1, OPMODEREG = 1, ALUMODEREG = 1,
    parameter integer CARRYINREG = 1, CARRYINSELREG = 1,
    parameter AMULTSEL = "A", BMULTSEL = "B", A_INPUT = "DIRECT", B_INPUT = "DIRECT",
    parameter USE_MULT = "MULTIPLY", USE_SIMD = "ONE48",
    parameter [47:0] RND = 48'd0
) (
    input wire CLK,
    input wire signed [29:0] A,
    input wire signed [17:0] B,
    input wire signed [47:0] C, PCIN,
    input wire signed [26:0] D,
    input wire [29:0] ACIN,
    input wire [17:0] BCIN,
    input wire [4:0] INMODE,
    input wire [8:0] OPMODE,
    input wire [3:0] ALUMODE,
    input wire [2:0] CARRYINSEL,
    input wire CARRYIN, CARRYCASCIN, MULTSIGNIN,
    input wire CEA1, CEA2, CEB1, CEB2, CEC, CEM, CEP, CED, CEAD, CECTRL, CEALUMODE, CEINMODE,
    input wire CECARRYIN,
    input wire RSTA, RSTB, RSTC, RSTD, RSTM, RSTP, RSTCTRL, RSTINMODE, RSTALUMODE, RSTALLCARRYIN,
    output wire signed [47:0] P, PCOUT
);
    initial
        if ((AREG != 1 && AREG != 2) || BREG != AREG || (CREG != 0 && CREG != 1) || MREG != 1 || PREG != 1
            || INMODEREG != 0 || OPMODEREG != 0 || ALUMODEREG != 0 || CARRYINSELREG != 0
            || AMULTSEL != "A" || BMULTSEL != "B" || A_INPUT != "DIRECT" || B_INPUT != "DIRECT"
            || USE_MULT != "MULTIPLY" || USE_SIMD != "ONE48")
            $fatal(1, "DSP48E2: a mode that is not modelled");
    wire all_on = &{CEA1, CEA2, CEB1, CEB2, CEC, CEM, CEP};
    wire any_reset = |{RSTA, RSTB, RSTC, RSTM, RSTP};
    wire known = OPMODE == 9'h005 || OPMODE == 9'h015 || OPMODE == 9'h035 || OPMODE == 9'h055
        || OPMODE == 9'h135;
    always @(posedge CLK)
        if (!all_on || any_reset || !known || INMODE != 0 || ALUMODE > 1 || CARRYINSEL != 0)
            $fatal(1, "DSP48E2: inputs that are not modelled");

    reg signed [26:0] a1, a2;
    reg signed [17:0] b1, b2;
    reg signed [44:0] product;
    reg signed [47:0] c1, p;
    wire signed [47:0] c = CREG == 1 ? c1 : C;
    wire [47:0] w = OPMODE[8] ? RND : 48'd0;
    wire signed [26:0] a = AREG == 2 ? a2 : a1;
    wire signed [17:0] b = AREG == 2 ? b2 : b1;
    wire signed [47:0] z = OPMODE[6:4] == 3'd0 ? 48'sd0 : OPMODE[6:4] == 3'd3 ? c
        : OPMODE[6:4] == 3'd1 ? PCIN : PCIN >>> 17;
    always @(posedge CLK) begin
        a1 <= A[26:0];  // the multiplier reads no more of it
        b1 <= B;
        a2 <= a1;
        b2 <= b1;
        c1 <= C;
        product <= a * b;
        p <= product + (ALUMODE[0] ? ~z : z) + $signed(w) + $signed({47'd0, CARRYIN});
    end
    assign P = p;
    assign PCOUT = p;
endmodule
