// A design behind a line, and its two clocks: what the harnesses of all lines share.

#include <cstdint>
#include <vector>

#include <poll.h>

#include "verilated.h"
#include "Vdut.h"

namespace {

constexpr int WAIT = 20;       // ms
constexpr uint64_t RESET = 32; // cycles

enum Order { RUN, STOP, RESTART };

// `clock`, `core`: Hz of the link's clock and of the accelerator's.
struct Clocked {
    const uint64_t clock, core;
    VerilatedContext context;
    Vdut dut{&context};
    uint64_t cycle = 0; // of the link's clock
    uint64_t quiet = 0; // cycles without a byte
    uint64_t ahead = 0, held = RESET;

    // Whether there is another cycle: not after STOP; RESTART presses the reset button.
    bool runs(volatile int *order)
    {
        if (*order == RESTART) {
            held = RESET;
            quiet = 0;
            *order = RUN;
        }
        dut.rst = held > 0;
        held -= held > 0;
        return *order != STOP;
    }
    // Whether it is time to look for bytes from outside.
    bool looks() const { return (cycle & 63) == 0 && cycle > 2 * RESET; }
    void step()
    {
        rise(dut.clk_link);
        for (ahead += core; ahead >= clock; ahead -= clock) rise(dut.clk);
    }
    // Each clock falls when the other one rises, or just before it rises again itself.
    void rise(CData &own)
    {
        if (own) {
            own = 0;
            dut.eval();
        }
        dut.clk = dut.clk_link = 0;
        own = 1;
        dut.eval();
    }
};

} // namespace
