// An accelerator behind SPI, bit by bit: each byte that comes in through a file descriptor goes
// over the wires to the design, and the one that comes back in the same eight bits goes out.

#include <unistd.h>

namespace {

constexpr uint64_t QUIET = 20000; // clocks without a transfer, after which there is time to wait
constexpr int AWAY = 8;           // clocks between an edge of the chip select and one of the clock

} // namespace

// Runs until *order is STOP, or until the other side is gone; RESTART presses the reset button.
// `period`: clocks of the line's, of one of SPI's. What comes at once is one transfer. Returns the
// line's clocks.
extern "C" __attribute__((visibility("default"))) uint64_t
rbdgen_board_run_spi(int file, int period, volatile int *order)
{
    Clocked design{1, 1};
    Vdut &dut = design.dut;
    std::vector<uint8_t> bytes(4096);
    const auto clocks = [&](int count) {
        for (; count > 0 && design.runs(order); --count, ++design.cycle) design.step();
    };
    dut.cs_n = 1;
    dut.rst = 1;
    for (; design.runs(order); ++design.cycle, ++design.quiet) {
        design.step();
        if (!design.looks()) continue;
        pollfd asked{file, POLLIN, 0};
        if (poll(&asked, 1, design.quiet > QUIET ? WAIT : 0) <= 0 || !(asked.revents & POLLIN)) {
            if (design.quiet > QUIET) --design.cycle, --design.quiet; // but one clock
            continue;
        }
        const ssize_t got = read(file, bytes.data(), bytes.size());
        if (got <= 0) break;
        dut.cs_n = 0;
        clocks(AWAY);
        for (ssize_t k = 0; k < got; ++k) {
            unsigned back = 0;
            for (int bit = 7; bit >= 0; --bit) {
                dut.copi = bytes[size_t(k)] >> bit & 1;
                clocks(period - period / 2);
                back = back << 1 | dut.cipo;
                dut.sck = 1;
                clocks(period / 2);
                dut.sck = 0;
            }
            bytes[size_t(k)] = uint8_t(back);
        }
        clocks(AWAY);
        dut.cs_n = 1;
        if (write(file, bytes.data(), size_t(got)) < 0) break;
        design.quiet = 0;
    }
    dut.final();
    return design.cycle;
}
