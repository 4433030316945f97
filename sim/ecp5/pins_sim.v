// What stands between the pins of an ECP5 and its logic, for simulation of a board's top.
//
// From the meaning of the cells: two bits a clock in and out, a delay by its steps, and a PLL whose
// clock is the feedback's. What a design gives them that is unknown here ends the simulation.

`timescale 1ns / 1ps

// The first half of a clock and the second, both from the next rising edge on.
module IDDRX1F #(
    parameter GSR = "ENABLED"
) (
    input wire D, SCLK, RST,
    output reg Q0, Q1
);
    reg first, second;
    always @(negedge SCLK) second <= D;
    always @(posedge SCLK) begin
        first <= D;
        {Q1, Q0} <= RST ? 2'b00 : {second, first};
    end
endmodule

// D0 while the clock is high, then D1.
module ODDRX1F #(
    parameter GSR = "ENABLED"
) (
    input wire D0, D1, SCLK, RST,
    output reg Q
);
    reg second;
    always @(posedge SCLK) begin
        second <= RST ? 1'b0 : D1;
        Q <= RST ? 1'b0 : D0;
    end
    always @(negedge SCLK) Q <= second;
endmodule

// A pin that floats while T is high.
module TRELLIS_IO #(
    parameter DIR = "OUTPUT"
) (
    inout wire B,
    input wire I, T,
    output wire O
);
    initial
        if (DIR != "OUTPUT") begin
            $display("TRELLIS_IO: DIR %s", DIR);
            $finish;
        end
    assign B = T ? 1'bz : I;
    assign O = B;
endmodule

// Steps of 25 ps.
module DELAYG #(
    parameter DEL_MODE = "USER_DEFINED",
    parameter DEL_VALUE = 0
) (
    input wire A,
    output reg Z
);
    localparam real DELAY = DEL_VALUE * 0.025;
    initial
        if (DEL_MODE != "USER_DEFINED" || DEL_VALUE < 0 || DEL_VALUE > 127) begin
            $display("DELAYG: DEL_MODE %s, DEL_VALUE %0d", DEL_MODE, DEL_VALUE);
            $finish;
        end
    always @(A) Z <= #(DELAY) A;
endmodule

// CLKOP = CLKI * CLKFB_DIV / CLKI_DIV, as CLKI is measured; locked after some clocks of it.
module EHXPLLL #(
    parameter PLLRST_ENA = "DISABLED",
    parameter INTFB_WAKE = "DISABLED",
    parameter STDBY_ENABLE = "DISABLED",
    parameter DPHASE_SOURCE = "DISABLED",
    parameter OUTDIVIDER_MUXA = "DIVA",
    parameter OUTDIVIDER_MUXB = "DIVB",
    parameter OUTDIVIDER_MUXC = "DIVC",
    parameter OUTDIVIDER_MUXD = "DIVD",
    parameter CLKI_DIV = 1,
    parameter CLKFB_DIV = 1,
    parameter CLKOP_DIV = 8,
    parameter CLKOP_CPHASE = 0,
    parameter CLKOP_FPHASE = 0,
    parameter CLKOP_ENABLE = "ENABLED",
    parameter FEEDBK_PATH = "CLKOP"
) (
    input wire RST, STDBY, CLKI, CLKFB,
    input wire PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
    output reg CLKOP, LOCK,
    output wire CLKINTFB
);
    localparam SEEN = 16; // clocks
    realtime last, period, half;
    real vco;
    integer seen;

    assign CLKINTFB = 1'b0;

    initial begin
        {CLKOP, LOCK} = 2'b00;
        seen = 0;
        last = 0;
        half = 1;
        if (FEEDBK_PATH != "CLKOP" || CLKOP_ENABLE != "ENABLED" || PLLRST_ENA != "DISABLED") begin
            $display("EHXPLLL: no such PLL is modelled");
            $finish;
        end
    end

    always @(posedge CLKI)
        if (seen < SEEN) begin
            period = $realtime - last;
            last = $realtime;
            seen = seen + 1;
            if (seen == SEEN) begin
                half = period * CLKI_DIV / CLKFB_DIV / 2;
                vco = 500.0 / half * CLKOP_DIV; // MHz
                if (vco < 400 || vco > 800) begin
                    $display("EHXPLLL: its oscillator would run at %0.1f MHz", vco);
                    $finish;
                end
                LOCK = 1'b1;
            end
        end

    always begin
        wait (LOCK);
        #(half) CLKOP = !CLKOP;
    end
endmodule
