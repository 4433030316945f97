// An accelerator behind gigabit Ethernet, byte by byte: what comes to a local socket goes to the
// design in packets of Ethernet, IP and UDP, and what the design sends in packets comes back.
// Between the two stands a host that asks for the design's address (ARP), and checks what it sends.

#include <cstring>
#include <deque>

#include <sys/socket.h>
#include <netinet/in.h>

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t MAC[6] = {0x02, 0, 0, 0x68, 0x6f, 0x73};
constexpr unsigned HEADER = 42, LEAST = 60, GAP = 12, PORT = 40000;
constexpr uint64_t QUIET = 20000; // cycles without a byte, after which there is time to wait

uint32_t crc_of(const uint8_t *bytes, size_t count)
{
    uint32_t crc = ~0U;
    for (size_t k = 0; k < count; ++k) {
        crc ^= bytes[k];
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0U);
    }
    return ~crc;
}

void put(Bytes &to, const void *from, size_t count)
{
    const auto *bytes = static_cast<const uint8_t *>(from);
    to.insert(to.end(), bytes, bytes + count);
}

void put(Bytes &to, std::initializer_list<unsigned> bytes)
{
    for (unsigned byte : bytes) to.push_back(uint8_t(byte));
}

unsigned sum_of(const uint8_t *words, size_t count)
{
    unsigned sum = 0;
    for (size_t k = 0; k < count; k += 2) sum += unsigned(words[k]) << 8 | words[k + 1];
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

// What a host's network does around datagrams.
class Host {
public:
    Host(uint32_t ip, unsigned port) : port_(port)
    {
        for (int k = 0; k < 4; ++k) theirs_[k] = uint8_t(ip >> (24 - 8 * k));
        std::memcpy(ours_, theirs_, 4);
        ours_[3] ^= 1;
    }
    bool known() const { return known_; }
    void forget() { known_ = false; }
    Bytes request() const
    {
        Bytes packet(6, 0xff);
        put(packet, MAC, 6);
        put(packet, {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1});
        put(packet, MAC, 6);
        put(packet, ours_, 4);
        packet.insert(packet.end(), 6, 0);
        put(packet, theirs_, 4);
        return packet;
    }
    Bytes packet(const uint8_t *bytes, size_t count) const
    {
        const unsigned total = unsigned(count) + 28, length = unsigned(count) + 8;
        Bytes packet(mac_, mac_ + 6);
        put(packet, MAC, 6);
        put(packet, {0x08, 0, 0x45, 0, total >> 8, total & 255, 0, 1, 0x40, 0, 64, 17, 0, 0});
        put(packet, ours_, 4);
        put(packet, theirs_, 4);
        const unsigned sum = ~sum_of(packet.data() + 14, 20);
        packet[24] = uint8_t(sum >> 8);
        packet[25] = uint8_t(sum);
        put(packet, {PORT >> 8, PORT & 255, port_ >> 8, port_ & 255, length >> 8, length & 255, 0, 0});
        put(packet, bytes, count);
        return packet;
    }
    // What is in a datagram to us; the answer to a request is kept; what is wrong is counted.
    Bytes inside(const Bytes &raw)
    {
        size_t at = 0;
        while (at < raw.size() && raw[at] == 0x55) ++at;
        const size_t size = raw.size() - at;
        if (at != 7 || raw[at] != 0xd5 || size < 1 + LEAST + 4) return wrong_packet();
        const uint8_t *packet = raw.data() + at + 1;
        const size_t count = size - 1 - 4;
        uint32_t crc;
        std::memcpy(&crc, packet + count, 4);
        if (crc != crc_of(packet, count) || std::memcmp(packet, MAC, 6)) return wrong_packet();
        if (packet[13] == 6) {
            if (packet[21] != 2 || std::memcmp(packet + 28, theirs_, 4)) return wrong_packet();
            std::memcpy(mac_, packet + 22, 6);
            known_ = true;
            return {};
        }
        const size_t total = size_t(packet[16]) << 8 | packet[17];
        const size_t length = size_t(packet[38]) << 8 | packet[39];
        const unsigned to = unsigned(packet[36]) << 8 | packet[37];
        const bool right = sum_of(packet + 14, 20) == 0xffff && total + 14 <= count
            && length + 20 == total && !std::memcmp(packet + 26, theirs_, 4)
            && !std::memcmp(packet + 30, ours_, 4) && to == PORT && packet[23] == 17;
        if (!right) return wrong_packet();
        return Bytes(packet + HEADER, packet + HEADER + length - 8);
    }
    uint64_t wrong = 0;

private:
    Bytes wrong_packet()
    {
        ++wrong;
        return {};
    }
    unsigned port_;
    uint8_t theirs_[4], ours_[4], mac_[6] = {};
    bool known_ = false;
};

} // namespace

// Runs until *order is STOP; RESTART presses the reset button. `clock`, `core`: Hz of the link's
// clock and of the accelerator's; `ip` and `udp`: the design's. Returns the link's cycles;
// `*wrong`: packets of the design's that were not what they should be.
extern "C" __attribute__((visibility("default"))) uint64_t
rbdgen_board_run_udp(int socket, uint64_t clock, uint64_t core, uint32_t ip, unsigned udp,
                     volatile int *order, uint64_t *wrong)
{
    Clocked design{clock, core};
    Vdut &dut = design.dut;
    Host host(ip, udp);
    std::deque<int> in; // -1: no byte
    Bytes out;
    sockaddr_storage from{};
    socklen_t from_size = 0;
    uint64_t asked = 0; // the cycle from which the address is asked for again
    const auto transmit = [&](Bytes packet) {
        if (packet.size() < LEAST) packet.resize(LEAST);
        const uint32_t crc = crc_of(packet.data(), packet.size());
        in.insert(in.end(), 7, 0x55);
        in.push_back(0xd5);
        in.insert(in.end(), packet.begin(), packet.end());
        for (int k = 0; k < 4; ++k) in.push_back(crc >> 8 * k & 255);
        in.insert(in.end(), GAP, -1);
    };
    while (design.runs(order)) {
        if (in.empty() && design.looks()) {
            pollfd ready{socket, POLLIN, 0};
            if (!host.known()) {
                if (design.cycle > asked) {
                    transmit(host.request());
                    asked = design.cycle + 2000;
                }
            } else if (poll(&ready, 1, design.quiet > QUIET ? WAIT : 0) > 0 && ready.revents & POLLIN) {
                uint8_t bytes[2048];
                from_size = sizeof from;
                const auto got = recvfrom(socket, bytes, sizeof bytes, 0,
                                          reinterpret_cast<sockaddr *>(&from), &from_size);
                if (got > 0) transmit(host.packet(bytes, size_t(got)));
                design.quiet = 0;
            } else if (design.quiet > QUIET) {
                continue; // nothing moves inside
            }
        }
        const int now = in.empty() ? -1 : in.front();
        if (!in.empty()) in.pop_front();
        dut.rx_valid = now >= 0;
        dut.rx_byte = uint8_t(now);
        design.step();
        if (dut.tx_valid) {
            out.push_back(dut.tx_byte);
        } else if (!out.empty()) {
            const Bytes inside = host.inside(out);
            if (!inside.empty() && from_size)
                sendto(socket, inside.data(), inside.size(), 0,
                       reinterpret_cast<sockaddr *>(&from), from_size);
            out.clear();
        }
        design.quiet = now < 0 && out.empty() ? design.quiet + 1 : 0;
        ++design.cycle;
    }
    dut.final();
    *wrong = host.wrong;
    return design.cycle;
}
