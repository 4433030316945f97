// Gradient ascent on signals of a dataflow graph; the same steps, bit for bit, as ascent.py.
//
// Each signal climbs alone, from WAYS states at once, over the nodes that it depends on. Compiled
// without contraction of a * b + c, and with a sine of its own, so that every machine finds the
// same states.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int WAYS = 8;
constexpr double GAIN = 0.002;  // by which a climb gets higher in ``patience`` steps, or ends
enum Op { INPUT, CONST, ADD, SUB, NEG, MUL, MULC, SIN, COS, RECIP, MANTISSA, EXPONENT, SCALE, SELECT };
enum Kind { TURN, CLIPPED, LINEAR, UNIT };  // of an input: see ascent.py

struct Box {
    int32_t inputs;
    const int32_t *kind, *vector;  // which unit vector an entry belongs to, or -1
    const double *low, *high;
};

struct alignas(64) Row {
    double at[WAYS];
};

// One node that a target depends on; ``a``, ``b``, ``c``: places in the list of those, of INPUT the
// coordinate.
struct Step {
    int32_t op, a, b, c;
    double value;
};

#define EACH for (int w = 0; w < WAYS; w++)

// sine and cosine of so many turns
inline void turn(double x, double *sine, double *cosine) {
    const double big = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number
    double r = x - ((x + big) - big);
    double quarters = (4.0 * r + big) - big;
    double y = (r - 0.25 * quarters) * 6.283185307179586, z = y * y;
    double s = y * (1.0 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880
        + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0)))))));
    double c = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320
        + z * (-1.0 / 3628800 + z * (1.0 / 479001600.0 + z * (-1.0 / 87178291200.0)))))));
    double odd = quarters * quarters == 1.0 ? 1.0 : 0.0;
    double s1 = odd * c + (1.0 - odd) * s, c1 = odd * s + (1.0 - odd) * c;
    double flip_s = quarters == -1.0 || quarters == 2.0 || quarters == -2.0 ? -1.0 : 1.0;
    double flip_c = quarters == 1.0 || quarters == 2.0 || quarters == -2.0 ? -1.0 : 1.0;
    *sine = flip_s * s1;
    *cosine = flip_c * c1;
}

inline uint64_t bits_of(double x) { uint64_t bits; std::memcpy(&bits, &x, 8); return bits; }
inline double from_bits(uint64_t bits) { double x; std::memcpy(&x, &bits, 8); return x; }

// 2^k, and a = fraction · 2^exponent with the fraction in [½, 1), of normal numbers
inline double power(double k) { return from_bits((uint64_t)((int64_t)k + 1023) << 52); }
inline double exponent(double a) { return (double)((int64_t)(bits_of(a) >> 52 & 0x7FF) - 1022); }
inline double fraction(double a) {
    return from_bits((bits_of(a) & 0x800FFFFFFFFFFFFFull) | 0x3FE0000000000000ull);
}

void forward(const std::vector<Step> &cone, const Row *x, Row *v) {
    Row *next = v;
    for (const Step &s : cone) {
        const Row &a = v[s.a], &b = v[s.b];
        Row &out = *next++;
        double other;
        switch (s.op) {
            case INPUT: out = x[s.a]; break;
            case CONST: EACH out.at[w] = s.value; break;
            case ADD: EACH out.at[w] = a.at[w] + b.at[w]; break;
            case SUB: EACH out.at[w] = a.at[w] - b.at[w]; break;
            case NEG: EACH out.at[w] = -a.at[w]; break;
            case MUL: EACH out.at[w] = a.at[w] * b.at[w]; break;
            case MULC: EACH out.at[w] = s.value * a.at[w]; break;
            case SIN: EACH turn(a.at[w] * (1.0 / s.value), &out.at[w], &other); break;
            case COS: EACH turn(a.at[w] * (1.0 / s.value), &other, &out.at[w]); break;
            case RECIP: EACH out.at[w] = 1.0 / a.at[w]; break;
            case MANTISSA: EACH out.at[w] = 1.0 / fraction(a.at[w]); break;
            case EXPONENT: EACH out.at[w] = exponent(a.at[w]); break;
            case SCALE: EACH out.at[w] = a.at[w] * power(-b.at[w]); break;
            case SELECT: EACH out.at[w] = a.at[w] < 0 ? b.at[w] : v[s.c].at[w]; break;
        }
    }
}

void backward(const std::vector<Step> &cone, const Row *v, Row *slope, Row *by) {
    for (size_t t = cone.size(); t-- > 0;) {
        const Step &step = cone[t];
        const Row d = slope[t], va = v[step.a], vb = v[step.b];  // copies: nothing below writes them
        Row &a = slope[step.a], &b = slope[step.b];
        const double value = step.value, rate = 6.283185307179586 / value;
        double s, c;
        switch (step.op) {
            case INPUT: EACH by[step.a].at[w] += d.at[w]; break;
            case ADD: EACH a.at[w] += d.at[w]; EACH b.at[w] += d.at[w]; break;
            case SUB: EACH a.at[w] += d.at[w]; EACH b.at[w] -= d.at[w]; break;
            case NEG: EACH a.at[w] -= d.at[w]; break;
            case MUL: EACH a.at[w] += d.at[w] * vb.at[w]; EACH b.at[w] += d.at[w] * va.at[w]; break;
            case MULC: EACH a.at[w] += d.at[w] * value; break;
            case SIN: EACH { turn(va.at[w] * (1.0 / value), &s, &c); a.at[w] += d.at[w] * (c * rate); } break;
            case COS: EACH { turn(va.at[w] * (1.0 / value), &s, &c); a.at[w] -= d.at[w] * (s * rate); } break;
            case RECIP: EACH a.at[w] -= d.at[w] * (v[t].at[w] * v[t].at[w]); break;
            case MANTISSA: EACH a.at[w] -= d.at[w] * (v[t].at[w] / va.at[w]); break;
            case SCALE: EACH a.at[w] += d.at[w] * power(-vb.at[w]); break;
            case SELECT: EACH {
                b.at[w] += va.at[w] < 0 ? d.at[w] : 0.0;
                slope[step.c].at[w] += va.at[w] < 0 ? 0.0 : d.at[w];
            } break;
        }
    }
}

// a number in [0, 1) for each counter: splitmix64
inline double chance(uint64_t key, uint64_t counter) {
    uint64_t z = key + (counter + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}

inline double between(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// every unit vector brought back to length one
void normalise(const Box &box, Row *x, int w) {
    for (int j = 0; j < box.inputs;) {
        if (box.kind[j] != UNIT) { j++; continue; }
        int end = j;
        double square = 0.0;
        while (end < box.inputs && box.vector[end] == box.vector[j]) {
            square += x[end].at[w] * x[end].at[w];
            end++;
        }
        double length = std::sqrt(square);
        if (!(length > 1e-9)) { x[j].at[w] = 1.0; length = 1.0; }
        for (; j < end; j++) x[j].at[w] /= length;
    }
}

}  // namespace

extern "C" void ascend(
    int32_t nodes, const int32_t *op, const int32_t *a, const int32_t *b, const int32_t *c,
    const double *value, int32_t inputs, const int32_t *kind, const int32_t *vector,
    const double *low, const double *high, int32_t count, const int32_t *targets,
    const int32_t *downward, const double *starts, int32_t steps, int32_t patience, uint64_t seed, double *best,
    double *states) {
    const Box box{inputs, kind, vector, low, high};
    std::vector<Row> v(nodes), slope(nodes), x(inputs), y(inputs), to(inputs), by(inputs), along(inputs);
    std::vector<char> needed(nodes);
    std::vector<Step> cone;
    std::vector<int> place(nodes), straight, curved;  // coordinates: LINEAR, and others
    for (int j = 0; j < inputs; j++) (kind[j] == LINEAR ? straight : curved).push_back(j);
    for (int t = 0; t < count; t++) {
        const int target = targets[t];
        std::fill(needed.begin(), needed.end(), 0);
        needed[target] = 1;
        for (int i = target; i >= 0; i--) {
            if (!needed[i] || op[i] == INPUT || op[i] == CONST) continue;
            needed[a[i]] = 1;
            if (op[i] == ADD || op[i] == SUB || op[i] == MUL || op[i] >= SCALE) needed[b[i]] = 1;
            if (op[i] == SELECT) needed[c[i]] = 1;
        }
        cone.clear();
        for (int i = 0; i <= target; i++)
            if (needed[i]) {
                place[i] = (int)cone.size();
                const bool input = op[i] == INPUT;
                cone.push_back({op[i], input ? a[i] : place[a[i]], place[b[i]], place[c[i]], value[i]});
            }
        const int last = place[target];

        const uint64_t key = seed + (uint64_t)(2 * (int64_t)target + downward[t]) * 0xD1B54A32D192ED03ull;
        double found[WAYS], step[WAYS];
        EACH {
            found[w] = -INFINITY;
            step[w] = 0.3;
            for (int j = 0; j < inputs; j++) {
                double u = chance(key, (uint64_t)w * inputs + j);
                if (kind[j] == LINEAR && w < WAYS / 2) u = u < 0.5 ? 0.0 : 1.0;
                y[j].at[w] = low[j] + (high[j] - low[j]) * u;
                if (w == 0 || w == WAYS / 2) y[j].at[w] = starts[(size_t)t * inputs + j];
                x[j].at[w] = to[j].at[w] = along[j].at[w] = 0.0;
            }
            normalise(box, y.data(), w);
        }
        double before = -INFINITY;
        for (int it = 0; it < steps; it++) {
            if (it > 0 && it % patience == 0) {
                double now = -INFINITY;
                EACH if (found[w] > now) now = found[w];
                if (now - before <= GAIN * std::fabs(now)) break;
                before = now;
            }
            forward(cone, y.data(), v.data());
            std::memset(slope.data(), 0, sizeof(Row) * cone.size());
            std::memset(by.data(), 0, sizeof(Row) * inputs);
            const Row &reached = v[last];
            EACH slope[last].at[w] = downward[t] || reached.at[w] < 0 ? -1.0 : 1.0;
            backward(cone, v.data(), slope.data(), by.data());
            bool better[WAYS], again[WAYS], corner[WAYS];
            double was[WAYS], turned[WAYS], square[WAYS], steepest[WAYS];
            EACH {
                const double height = downward[t] ? -reached.at[w] : std::fabs(reached.at[w]);
                better[w] = height > found[w];
                found[w] = better[w] ? height : found[w];
                step[w] *= better[w] ? 1.6 : 0.45;
                again[w] = step[w] < 1e-5;
                if (again[w]) step[w] = 0.3 * chance(key ^ 0xA5A5A5A5A5A5A5A5ull, (uint64_t)it * WAYS + w);
                corner[w] = (it + w) % 3 != 0;
                was[w] = square[w] = steepest[w] = 1e-300;
                turned[w] = 0.0;
            }
            for (int j : curved) EACH {
                was[w] += to[j].at[w] * to[j].at[w];
                turned[w] += by[j].at[w] * (by[j].at[w] - to[j].at[w]);
            }
            for (int j : curved) EACH {
                const double kept = between(turned[w] / was[w], 0.0, 1.0);
                x[j].at[w] = better[w] ? y[j].at[w] : x[j].at[w];
                to[j].at[w] = better[w] ? by[j].at[w] : to[j].at[w];
                along[j].at[w] = better[w] ? by[j].at[w] + kept * along[j].at[w] : along[j].at[w];
                along[j].at[w] = again[w] ? to[j].at[w] : along[j].at[w];
                square[w] += along[j].at[w] * along[j].at[w];
            }
            for (int j : straight) EACH {
                x[j].at[w] = better[w] ? y[j].at[w] : x[j].at[w];
                to[j].at[w] = better[w] ? by[j].at[w] : to[j].at[w];
                const double size = std::fabs(to[j].at[w]);
                steepest[w] = size > steepest[w] ? size : steepest[w];
            }
            for (int j : straight) EACH {
                const double d = to[j].at[w], u = x[j].at[w];
                const double slow = between(
                    u + step[w] * 1.5 * (high[j] - low[j]) * d / steepest[w], low[j], high[j]);
                y[j].at[w] = d == 0.0 ? u : corner[w] ? (d > 0 ? high[j] : low[j]) : slow;
            }
            EACH square[w] = std::sqrt(square[w]);
            for (int j : curved) EACH {
                double u = x[j].at[w] + step[w] * along[j].at[w] / square[w];
                if (kind[j] == TURN) {
                    u = u > high[j] ? u - (high[j] - low[j]) : u;
                    u = u < low[j] ? u + (high[j] - low[j]) : u;
                }
                y[j].at[w] = kind[j] == UNIT ? u : between(u, low[j], high[j]);
            }
            EACH normalise(box, y.data(), w);
        }
        int highest = 0;
        EACH if (found[w] > found[highest]) highest = w;
        best[t] = found[highest];
        for (int j = 0; j < inputs; j++) states[(size_t)t * inputs + j] = x[j].at[highest];
    }
}
