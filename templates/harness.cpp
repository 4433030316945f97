// Drives one Verilated design with batches of tokens: packs fields into the wide payload, stalls
// both sides at random, checks the stream rules, and records the cycle of every transfer.
// rbdgen_open resets the design, each rbdgen_stream goes on where the last one ended.
//
// The lines between "design" markers are made by rbdgen.tools.verilate from the port manifest.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "verilated.h"
#include "Vdut.h"
#ifdef TRACE
#include "verilated_vcd_c.h"
#endif

namespace {

struct Field {
    uint32_t offset, width;
    bool is_signed;
};

// ---- design
@DESIGN@
// ---- design

using Word = uint32_t;


constexpr uint32_t words(uint32_t bits) { return (bits + 31) / 32; }

// Verilator keeps a port of up to 64 bits as an integer, a wider one as an array of words.
template <class Port> void put(Port& port, const Word* from, uint32_t n) {
    if constexpr (std::is_integral_v<Port>) {
        uint64_t value = from[0];
        if (n > 1) value |= uint64_t(from[1]) << 32;
        port = static_cast<Port>(value);
    } else {
        std::memcpy(port.data(), from, n * sizeof(Word));
    }
}

template <class Port> void get(const Port& port, Word* to, uint32_t n) {
    if constexpr (std::is_integral_v<Port>) {
        to[0] = static_cast<Word>(port);
        if (n > 1) to[1] = static_cast<Word>(uint64_t(port) >> 32);
    } else {
        std::memcpy(to, port.data(), n * sizeof(Word));
    }
}

void pack(const int64_t* values, Word* payload) {
    std::fill_n(payload, words(INPUT_BITS), 0);
    for (const Field& f : INPUT_FIELDS) {
        const uint64_t mask = f.width == 64 ? ~uint64_t(0) : (uint64_t(1) << f.width) - 1;
        unsigned __int128 bits = static_cast<unsigned __int128>(uint64_t(*values++) & mask)
                                 << (f.offset % 32);
        for (Word* w = payload + f.offset / 32; bits; bits >>= 32) *w++ |= static_cast<Word>(bits);
    }
}

void unpack(const Word* payload, int64_t* values) {
    constexpr uint32_t n = words(OUTPUT_BITS);
    for (const Field& f : OUTPUT_FIELDS) {
        unsigned __int128 bits = 0;
        for (uint32_t i = 0, w = f.offset / 32; i < 3 && w < n; ++i, ++w)
            bits |= static_cast<unsigned __int128>(payload[w]) << (32 * i);
        const uint64_t raised = static_cast<uint64_t>(bits >> (f.offset % 32)) << (64 - f.width);
        *values++ = f.is_signed ? static_cast<int64_t>(raised) >> (64 - f.width)
                                : static_cast<int64_t>(raised >> (64 - f.width));
    }
}

// xorshift64* (Vigna 2016); the seed is spread by one step of splitmix64 so that 0 will do.
class Random {
public:
    explicit Random(uint64_t seed) {
        seed += 0x9e3779b97f4a7c15;
        seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
        seed = (seed ^ (seed >> 27)) * 0x94d049bb133111eb;
        state = (seed ^ (seed >> 31)) | 1;
    }
    bool chance(uint64_t threshold) {  // threshold / 2^32
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return ((state * 0x2545f4914f6cdd1d) >> 32) < threshold;
    }

private:
    uint64_t state;
};

class Bench {
public:
    explicit Bench(uint64_t seed) : dut(&context) {
        context.randReset(2);
        context.randSeed(static_cast<int>(seed % 0x7fffffff) + 1);
    }

    void open_trace([[maybe_unused]] const char* path) {
#ifdef TRACE
        context.traceEverOn(true);
        dut.trace(&vcd, 99);
        vcd.open(path);
        tracing = true;
#endif
    }

    void settle() { dut.eval(); }

    void tick() {  // from settled inputs through one rising edge
        dump();
        set_clock(dut, 1);
        dut.eval();
        dump();
        set_clock(dut, 0);
    }

    ~Bench() {
#ifdef TRACE
        if (tracing) vcd.close();
#endif
        dut.final();
    }

    VerilatedContext context;
    Vdut dut;

private:
    void dump() {
#ifdef TRACE
        if (tracing) vcd.dump(time);
        time += 5;
#endif
    }
#ifdef TRACE
    VerilatedVcdC vcd;
    uint64_t time = 0;
    bool tracing = false;
#endif
};

#ifdef OBSERVED
// The nets of a netlist that are watched, as they settle in each cycle.
class Nets {
public:
    // ``changes`` (OBSERVED,): one more for each that is not as it was in the cycle before.
    void count(const Vdut& dut, uint32_t* changes) {
        get(dut.rbdgen_nets, now.data(), WORDS);
        for (uint32_t w = 0; changes && w < WORDS; ++w)
            for (Word bits = now[w] ^ before[w]; bits; bits &= bits - 1)
                ++changes[32 * w + __builtin_ctz(bits)];
        now.swap(before);
    }

private:
    static constexpr uint32_t WORDS = words(OBSERVED);
    std::vector<Word> now = std::vector<Word>(WORDS), before = std::vector<Word>(WORDS);
};
#endif

enum Status { DONE, HANG, WITHDRAWN, CHANGED, SURPLUS, STOPPED };

constexpr uint32_t IN_WORDS = words(INPUT_BITS), OUT_WORDS = words(OUTPUT_BITS);

}  // namespace

// A design since its reset. ``cycle`` counts from the first one in which a token may be taken.
struct Session {
    explicit Session(uint64_t seed) : bench(seed), random(seed) {}

    void tick() {
        bench.settle();
        bench.tick();
    }

    Bench bench;
    Random random;
#ifdef OBSERVED
    Nets nets;
#endif
    Word held[OUT_WORDS] = {};  // the result that waits for ready, while ``holding``
    bool holding = false;
    uint64_t cycle = 0;
};

extern "C" {

struct Request {
    uint64_t tokens;
    uint64_t awaited;       // results, as many as tokens where each has one
    const int64_t* inputs;  // (tokens, input fields)
    int64_t* outputs;       // (awaited, output fields)
    int64_t* accept_cycle;  // (tokens,)
    int64_t* result_cycle;  // (awaited,)
    uint64_t stall_in, stall_out;  // probability of a stall in a cycle, times 2^32
    uint64_t hang_limit;  // cycles without a transfer before giving up
    uint64_t under_way;   // tokens taken without a result, at most
    uint64_t drain;       // cycles watched for surplus results after the last one
    const int64_t* held;  // words for the registers for many tasks
    uint64_t holds;       // how many
    uint64_t waits;       // cycles after them, before any token
    bool (*progress)(uint64_t results);  // false stops the run; may be null
    uint32_t* toggles;    // (4, OBSERVED) changes of watched nets by span, or null
    uint64_t settle;      // cycles after the last result before nets are at rest
    uint64_t accepted, results, cycles;  // returned
    uint64_t spans[4];    // cycles before the first result, at full rate, of the last tasks, at rest
};

#define EXPORT __attribute__((visibility("default")))

// A design after reset; ``trace``: VCD path or null. rbdgen_close ends it.
EXPORT Session* rbdgen_open(uint64_t seed, const char* trace) {
    auto session = std::make_unique<Session>(seed);
    Vdut& dut = session->bench.dut;
    if (trace) session->bench.open_trace(trace);
    set_clock(dut, 0);
    dut.INPUT_VALID = 0;
    dut.OUTPUT_READY = 0;
    for (int i = 0; i < RESET_CYCLES; ++i) {
        set_reset(dut, 1);
        session->tick();
    }
    set_reset(dut, 0);
    return session.release();
}

EXPORT void rbdgen_close(Session* session) { delete session; }

EXPORT int rbdgen_stream(Session* session, Request* r) {
    constexpr uint64_t PROGRESS_INTERVAL = 1 << 16;
    Bench& bench = session->bench;
    Vdut& dut = bench.dut;
    Random& random = session->random;
    Word payload[IN_WORDS], result[OUT_WORDS];

    dut.INPUT_VALID = 0;
    dut.OUTPUT_READY = 0;
    for (uint64_t i = 0; i < r->holds; ++i) {
        write_register(dut, r->held[i], 1);
        session->tick();
    }
    write_register(dut, 0, 0);
    for (uint64_t i = 0; i < r->waits; ++i) session->tick();

    uint64_t accepted = 0, results = 0;
    uint64_t& cycle = session->cycle;
    uint64_t last_transfer = cycle;
    const uint64_t first = cycle;
    bool offered = false;
    int status = DONE;
    for (;; ++cycle) {
        const bool done = results == r->awaited && accepted == r->tokens;
        if (done && cycle - last_transfer > r->drain) break;
#ifdef OBSERVED
        const bool filled = results > 0;
#endif
        const bool room = accepted < r->tokens && accepted - results < r->under_way;
        if (!offered && room && !random.chance(r->stall_in)) {
            pack(r->inputs + accepted * INPUT_FIELDS.size(), payload);
            put(dut.INPUT_PAYLOAD, payload, IN_WORDS);
            offered = true;
        }
        const bool ready = !random.chance(r->stall_out);
        dut.INPUT_VALID = offered;
        dut.OUTPUT_READY = ready;
        bench.settle();

        const bool taken = offered && dut.INPUT_READY;
        if (dut.OUTPUT_VALID) {
            get(dut.OUTPUT_PAYLOAD, result, OUT_WORDS);
            if (session->holding && std::memcmp(result, session->held, sizeof result)) {
                status = CHANGED;
                break;
            }
            const uint64_t due = r->awaited == r->tokens ? accepted + taken : r->awaited;
            if (results >= due) { status = SURPLUS; break; }
            if (ready) {
                unpack(result, r->outputs + results * OUTPUT_FIELDS.size());
                r->result_cycle[results++] = cycle;
                last_transfer = cycle;
                if (r->progress && results % PROGRESS_INTERVAL == 0 && !r->progress(results)) {
                    status = STOPPED;
                    break;
                }
            }
            std::memcpy(session->held, result, sizeof result);
        } else if (session->holding) {
            status = WITHDRAWN;
            break;
        }
        session->holding = dut.OUTPUT_VALID && !ready;
        if (taken) {
            r->accept_cycle[accepted++] = cycle;
            offered = false;
            last_transfer = cycle;
        }
        if (!done && cycle - last_transfer > r->hang_limit) { status = HANG; break; }
#ifdef OBSERVED
        if (r->toggles) {
            const bool rests = done && cycle - last_transfer > r->settle;
            const int span = !filled ? 0 : accepted < r->tokens ? 1 : rests ? 3 : 2;
            uint32_t* changes = cycle > first ? r->toggles + span * size_t(OBSERVED) : nullptr;
            session->nets.count(dut, changes);
            ++r->spans[span];
        }
#endif
        bench.tick();
    }
    r->accepted = accepted;
    r->results = results;
    r->cycles = cycle - first;
    return status;
}

}  // extern "C"
