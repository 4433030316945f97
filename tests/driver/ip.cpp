// The packaged IP a clock at a time: links as an AXI DMA has them, and reads of registers.
#include <cstdint>
#include <memory>

#include "verilated.h"
#include "Vdut.h"

namespace {
std::unique_ptr<VerilatedContext> context;
std::unique_ptr<Vdut> dut;

void rise()
{
    dut->aclk = 1;
    dut->eval();
    dut->aclk = 0;
    dut->eval();
}
} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void ip_start()
{
    dut.reset(); // before its context
    context = std::make_unique<VerilatedContext>();
    dut = std::make_unique<Vdut>(context.get());
    dut->s_axil_bready = dut->s_axil_rready = 1;
    dut->eval();
    for (int k = 0; k < 4; ++k) rise(); // aresetn is low
    dut->aresetn = 1;
    dut->eval();
}

// Bit 0: the word offered was taken; bit 1: one was given, and is in *out; bit 2: its packet ends.
EXPORT unsigned ip_clock(unsigned offers, uint32_t word, unsigned last, unsigned takes, uint32_t *out)
{
    dut->s_axis_tvalid = offers;
    dut->s_axis_tdata = word;
    dut->s_axis_tlast = last;
    dut->m_axis_tready = takes;
    dut->eval();
    const unsigned taken = offers && dut->s_axis_tready, given = takes && dut->m_axis_tvalid;
    const unsigned ends = given && dut->m_axis_tlast;
    *out = dut->m_axis_tdata;
    rise();
    return taken | given << 1 | ends << 2;
}

EXPORT uint32_t ip_read(uint32_t address)
{
    uint32_t ignored;
    dut->s_axil_araddr = address;
    dut->s_axil_arvalid = 1;
    dut->eval();
    while (!dut->s_axil_arready) ip_clock(0, 0, 0, 0, &ignored);
    ip_clock(0, 0, 0, 0, &ignored);
    dut->s_axil_arvalid = 0;
    dut->eval();
    while (!dut->s_axil_rvalid) ip_clock(0, 0, 0, 0, &ignored);
    const uint32_t found = dut->s_axil_rdata;
    ip_clock(0, 0, 0, 0, &ignored);
    return found;
}

EXPORT void ip_write(uint32_t address, uint32_t word)
{
    uint32_t ignored;
    dut->s_axil_awaddr = address;
    dut->s_axil_wdata = word;
    dut->s_axil_wstrb = 15;
    dut->s_axil_awvalid = dut->s_axil_wvalid = 1;
    dut->eval();
    while (dut->s_axil_awvalid || dut->s_axil_wvalid) {
        const unsigned address_taken = dut->s_axil_awready, word_taken = dut->s_axil_wready;
        ip_clock(0, 0, 0, 0, &ignored);
        if (address_taken) dut->s_axil_awvalid = 0;
        if (word_taken) dut->s_axil_wvalid = 0;
        dut->eval();
    }
    while (!dut->s_axil_bvalid) ip_clock(0, 0, 0, 0, &ignored);
    ip_clock(0, 0, 0, 0, &ignored);
}
