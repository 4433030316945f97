// Drives one Verilated design cycle by cycle: a row of words for its input ports in each, and a row
// of what its output ports have before the clock's next edge.
//
// The lines between "design" markers are made by rbdgen.tools.cycles: a port takes whole words.

#include <cstdint>
#include <cstring>
#include <memory>

#include "verilated.h"
#include "Vdut.h"

namespace {

// Verilator keeps a port of up to 64 bits as an integer, a wider one as an array of words.
template <class Port> const uint32_t* put(Port& port, const uint32_t* from)
{
    std::memcpy(&port, from, sizeof port);
    return from + (sizeof port + 3) / 4;
}

template <class Port> uint32_t* get(const Port& port, uint32_t* to)
{
    *to = 0;
    std::memcpy(to, &port, sizeof port);
    return to + (sizeof port + 3) / 4;
}

// ---- design
@DESIGN@
// ---- design

struct Session {
    explicit Session(uint64_t seed) : dut(&context)
    {
        context.randReset(2);
        context.randSeed(static_cast<int>(seed % 0x7fffffff) + 1);
    }
    ~Session() { dut.final(); }

    void edge()
    {
        dut.clk = 1;
        dut.eval();
        dut.clk = 0;
    }

    VerilatedContext context;
    Vdut dut;
};

}  // namespace

#define EXPORT __attribute__((visibility("default")))

extern "C" {

// A design after reset, all inputs zero. rbdgen_cycles_close ends it.
EXPORT Session* rbdgen_cycles_open(uint64_t seed)
{
    auto session = std::make_unique<Session>(seed);
    const uint32_t zeros[IN_WORDS] = {};
    session->dut.clk = 0;
    set(session->dut, zeros);
    session->dut.rst = 1;
    for (int i = 0; i < 4; ++i) {
        session->dut.eval();
        session->edge();
    }
    session->dut.rst = 0;
    return session.release();
}

EXPORT void rbdgen_cycles_close(Session* session) { delete session; }

// ``in`` (cycles, IN_WORDS), ``out`` (cycles, OUT_WORDS).
EXPORT void rbdgen_cycles_run(Session* session, uint64_t cycles, const uint32_t* in, uint32_t* out)
{
    for (uint64_t k = 0; k < cycles; ++k, in += IN_WORDS, out += OUT_WORDS) {
        set(session->dut, in);
        session->dut.eval();
        look(session->dut, out);
        session->edge();
    }
}

}  // extern "C"
