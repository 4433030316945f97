// An accelerator behind its serial line, bit by bit: what comes in through a file descriptor goes
// over the line to the design, and what the design sends comes back.

#include <unistd.h>

namespace {

// One side of the line: a bit of it in every cycle, eight data bits between a start and a stop bit.
class Sender {
public:
    bool idle() const { return left_ == 0; }
    void start(uint8_t byte)
    {
        bits_ = 0x200U | unsigned(byte) << 1;
        left_ = 10;
        phase_ = 0;
    }
    int level(uint64_t clock, uint64_t baud)
    {
        if (idle()) return 1;
        const int now = bits_ & 1;
        phase_ += baud;
        if (phase_ >= clock) {
            phase_ -= clock;
            bits_ >>= 1;
            --left_;
        }
        return now;
    }

private:
    unsigned bits_ = 1, left_ = 0;
    uint64_t phase_ = 0;
};

class Receiver {
public:
    bool idle() const { return left_ == 0; }
    // Whether a byte is whole, which is in `byte` then.
    bool sample(int line, uint64_t clock, uint64_t baud)
    {
        if (idle()) {
            if (!line) {
                left_ = 10;
                phase_ = clock / 2;
            }
            return false;
        }
        phase_ += baud;
        if (phase_ < clock) return false;
        phase_ -= clock;
        if (--left_ == 0) return line;
        if (left_ < 9)
            byte = uint8_t(byte >> 1 | line << 7);
        else if (line)
            left_ = 0; // too short for a start bit
        return false;
    }
    uint8_t byte = 0;

private:
    unsigned left_ = 0;
    uint64_t phase_ = 0;
};

// What turns a line over for some cycles, now and then: `often` times in 2^32 cycles.
class Noise {
public:
    explicit Noise(uint64_t seed) : state_(seed * 2 + 1) {}
    int through(int level, uint32_t often)
    {
        if (left_ > 0) {
            --left_;
            return !level;
        }
        if (often == 0) return level;
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        if (uint32_t(state_ >> 32) < often) left_ = 1 + unsigned(state_ >> 26 & 63);
        return level;
    }

private:
    uint64_t state_;
    unsigned left_ = 0;
};

constexpr uint64_t QUIET = 200000; // cycles without a byte, after which there is time to wait

} // namespace

// Runs until *order is STOP, or until the other side is gone; RESTART presses the reset button.
// `clock`, `core`: Hz of the link's clock and of the accelerator's; `*noise`: of both lines, see
// `Noise`. Returns the link's cycles.
extern "C" __attribute__((visibility("default"))) uint64_t
rbdgen_board_run(int file, uint64_t clock, uint64_t baud, uint64_t core, volatile int *order,
                 const volatile uint32_t *noise)
{
    Clocked design{clock, core};
    Vdut &dut = design.dut;
    Sender sender;
    Receiver receiver;
    Noise inward(1), outward(2);
    std::vector<uint8_t> in, out;
    size_t at = 0;
    dut.rx = 1;
    dut.rst = 1;
    while (design.runs(order)) {
        if (at == in.size() && design.looks()) {
            pollfd asked{file, POLLIN, 0};
            if (poll(&asked, 1, design.quiet > QUIET ? WAIT : 0) > 0 && asked.revents & POLLIN) {
                in.resize(4096);
                const ssize_t got = read(file, in.data(), in.size());
                if (got == 0) break;
                in.resize(got > 0 ? size_t(got) : 0);
                at = 0;
                design.quiet = 0;
            } else if (design.quiet > QUIET) {
                continue; // nothing moves inside
            }
        }
        if (sender.idle() && at < in.size()) sender.start(in[at++]);
        dut.rx = inward.through(sender.level(clock, baud), *noise);
        design.step();
        if (receiver.sample(outward.through(dut.tx, *noise), clock, baud)) out.push_back(receiver.byte);
        design.quiet = sender.idle() && receiver.idle() ? design.quiet + 1 : 0;
        if (!out.empty() && (out.size() > 256 || receiver.idle())) {
            if (write(file, out.data(), out.size()) < 0) break;
            out.clear();
        }
        ++design.cycle;
    }
    dut.final();
    return design.cycle;
}
