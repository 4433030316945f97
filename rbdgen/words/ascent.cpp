// Gradient ascent on signals of a dataflow graph; the same steps, bit for bit, as ascent.py.
//
// WAYS states climb at once, each towards a signal of its own or several towards one, over the nodes
// that any of these depends on. Compiled without contraction of a * b + c, and with a sine of its
// own, so that every machine finds the same states.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int WAYS = 8;
constexpr double GAIN = 0.002;  // by which a climb gets higher in ``patience`` steps, or ends
enum Op { INPUT, CONST, ADD, SUB, NEG, MUL, MULC, SIN, COS, RECIP, MANTISSA, EXPONENT, SCALE, SELECT, SATURATE };
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
    int32_t a, b, c;
    double value;
};

// Steps of one operation in a row, up to ``end``: what to do next is then seldom a surprise.
struct Run {
    int32_t op, end;
};

struct Cone {
    std::vector<Step> steps;
    std::vector<Run> runs;
};

inline int operands(int32_t op) {
    return op == INPUT || op == CONST ? 0 : op == SELECT ? 3 : op <= SUB || op == MUL || op == SCALE ? 2 : 1;
}

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

inline double between(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

void forward(const Cone &cone, const Row *x, Row *v) {
    const Step *first = cone.steps.data(), *s = first;
    for (const Run &run : cone.runs) {
        const Step *end = first + run.end;
        Row *out = v + (s - first);
        double other;
#define ROWS for (; s < end; s++, out++)
        switch (run.op) {
            case INPUT: ROWS *out = x[s->a]; break;
            case CONST: ROWS EACH out->at[w] = s->value; break;
            case ADD: ROWS EACH out->at[w] = v[s->a].at[w] + v[s->b].at[w]; break;
            case SUB: ROWS EACH out->at[w] = v[s->a].at[w] - v[s->b].at[w]; break;
            case NEG: ROWS EACH out->at[w] = -v[s->a].at[w]; break;
            case MUL: ROWS EACH out->at[w] = v[s->a].at[w] * v[s->b].at[w]; break;
            case MULC: ROWS EACH out->at[w] = s->value * v[s->a].at[w]; break;
            case SIN: ROWS EACH turn(v[s->a].at[w] * (1.0 / s->value), &out->at[w], &other); break;
            case COS: ROWS EACH turn(v[s->a].at[w] * (1.0 / s->value), &other, &out->at[w]); break;
            case RECIP: ROWS EACH out->at[w] = 1.0 / v[s->a].at[w]; break;
            case MANTISSA: ROWS EACH out->at[w] = 1.0 / fraction(v[s->a].at[w]); break;
            case EXPONENT: ROWS EACH out->at[w] = exponent(v[s->a].at[w]); break;
            case SCALE: ROWS EACH out->at[w] = v[s->a].at[w] * power(-v[s->b].at[w]); break;
            case SELECT:
                ROWS EACH out->at[w] = v[s->a].at[w] < 0 ? v[s->b].at[w] : v[s->c].at[w];
                break;
            case SATURATE: ROWS EACH out->at[w] = between(v[s->a].at[w], -s->value, s->value); break;
        }
#undef ROWS
    }
}

void backward(const Cone &cone, const Row *v, Row *slope, Row *by) {
    int t = (int)cone.steps.size();
    for (size_t r = cone.runs.size(); r-- > 0;) {
        const int begin = r ? cone.runs[r - 1].end : 0;
        double s, c;
        // copies of slopes and values: what is written next may be the same row
#define ROWS for (; t-- > begin;)
#define STEP const Step &step = cone.steps[t]; const Row d = slope[t]; Row &a = slope[step.a]
#define OTHER Row &b = slope[step.b]
#define RATE const double value = step.value, rate = 6.283185307179586 / value
        switch (cone.runs[r].op) {
            case INPUT: ROWS { const Row d = slope[t]; EACH by[cone.steps[t].a].at[w] += d.at[w]; } break;
            case ADD: ROWS { STEP; OTHER; EACH a.at[w] += d.at[w]; EACH b.at[w] += d.at[w]; } break;
            case SUB: ROWS { STEP; OTHER; EACH a.at[w] += d.at[w]; EACH b.at[w] -= d.at[w]; } break;
            case NEG: ROWS { STEP; EACH a.at[w] -= d.at[w]; } break;
            case MUL: ROWS {
                STEP; OTHER;
                const Row va = v[step.a], vb = v[step.b];
                EACH a.at[w] += d.at[w] * vb.at[w];
                EACH b.at[w] += d.at[w] * va.at[w];
            } break;
            case MULC: ROWS { STEP; EACH a.at[w] += d.at[w] * step.value; } break;
            case SIN: ROWS {
                STEP; RATE;
                EACH { turn(v[step.a].at[w] * (1.0 / value), &s, &c); a.at[w] += d.at[w] * (c * rate); }
            } break;
            case COS: ROWS {
                STEP; RATE;
                EACH { turn(v[step.a].at[w] * (1.0 / value), &s, &c); a.at[w] -= d.at[w] * (s * rate); }
            } break;
            case RECIP: ROWS { STEP; EACH a.at[w] -= d.at[w] * (v[t].at[w] * v[t].at[w]); } break;
            case MANTISSA: ROWS { STEP; EACH a.at[w] -= d.at[w] * (v[t].at[w] / v[step.a].at[w]); } break;
            case SCALE: ROWS { STEP; EACH a.at[w] += d.at[w] * power(-v[step.b].at[w]); } break;
            case SATURATE: ROWS {
                STEP;
                EACH a.at[w] += std::fabs(v[step.a].at[w]) < step.value ? d.at[w] : 0.0;
            } break;
            case SELECT: ROWS {
                const Step &step = cone.steps[t];
                const Row d = slope[t];
                Row &b = slope[step.b];
                EACH {
                    b.at[w] += v[step.a].at[w] < 0 ? d.at[w] : 0.0;
                    slope[step.c].at[w] += v[step.a].at[w] < 0 ? 0.0 : d.at[w];
                }
            } break;
        }
        t = begin;
#undef ROWS
#undef STEP
#undef OTHER
#undef RATE
    }
}

// a number in [0, 1) for each counter: splitmix64
inline double chance(uint64_t key, uint64_t counter) {
    uint64_t z = key + (counter + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
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

// An order of all nodes, ``at`` which each stands, with those of one operation in rows: operands
// before users, and the users of each node as they were, so that slopes add up to the same bits.
extern "C" void arrange(
    int32_t nodes, const int32_t *op, const int32_t *a, const int32_t *b, const int32_t *c, int32_t *at) {
    const int32_t *const args[3] = {a, b, c};
    std::vector<std::vector<int32_t>> after(nodes), ready(SATURATE + 1);
    std::vector<int32_t> missing(nodes), user(nodes, -1);
    std::vector<size_t> next(SATURATE + 1);
    for (int i = 0; i < nodes; i++) {
        for (int k = 0; k < operands(op[i]); k++) {
            const int32_t operand = args[k][i], before = user[operand];
            if (before == i) continue;  // the same operand again
            for (int32_t first : {operand, before})
                if (first >= 0) { after[first].push_back(i); missing[i]++; }
            user[operand] = i;
        }
        if (!missing[i]) ready[op[i]].push_back(i);
    }
    int32_t now = INPUT;
    for (int32_t place = 0; place < nodes; place++) {
        if (next[now] == ready[now].size())
            for (int32_t other = 0; other <= SATURATE; other++)
                if (ready[other].size() - next[other] > ready[now].size() - next[now]) now = other;
        const int32_t i = ready[now][next[now]++];
        at[i] = place;
        for (int32_t user : after[i])
            if (!--missing[user]) ready[op[user]].push_back(user);
    }
}

// ``order``: from ``arrange``. ``ways``: states that climb towards each target, a divisor of WAYS.
extern "C" void ascend(
    int32_t nodes, const int32_t *order, const int32_t *op, const int32_t *a, const int32_t *b, const int32_t *c,
    const double *value, int32_t inputs, const int32_t *kind, const int32_t *vector,
    const double *low, const double *high, int32_t ways, int32_t count, const int32_t *targets,
    const int32_t *downward, const double *starts, int32_t steps, int32_t patience, uint64_t seed, double *best,
    double *states) {
    const Box box{inputs, kind, vector, low, high};
    std::vector<Row> v, slope, x(inputs), y(inputs), to(inputs), by(inputs), along(inputs);
    std::vector<int> place(nodes), at(nodes), members;
    std::vector<uint8_t> needed(nodes, 0);  // by place in the order
    std::vector<int> straight, curved;  // coordinates: LINEAR, and others
    for (int i = 0; i < nodes; i++) at[order[i]] = i;
    Cone cone;
    const int32_t *const args[3] = {a, b, c};
    for (int j = 0; j < inputs; j++) (kind[j] == LINEAR ? straight : curved).push_back(j);
    const int together = WAYS / ways;
    for (int t = 0; t < count; t += together) {
        // of each way: which target is its own, and which of that target's ways it is; past the
        // last target the last one again
        int of[WAYS], way[WAYS], from = 0;
        EACH {
            of[w] = std::min(t + w / ways, count - 1);
            way[w] = w % ways;
            const int k = order[targets[of[w]]];
            needed[k] = 1;
            from = k > from ? k : from;
        }
        members.clear();
        for (int k = from; k >= 0; k--)  // users before operands
            if (needed[k]) {
                needed[k] = 0;
                const int i = at[k];
                members.push_back(i);
                for (int n = 0; n < operands(op[i]); n++) needed[order[args[n][i]]] = 1;
            }
        std::reverse(members.begin(), members.end());
        cone.steps.clear();
        cone.runs.clear();
        for (int i : members) {
            place[i] = (int)cone.steps.size();
            const int n = operands(op[i]);
            const int32_t first = op[i] == INPUT ? a[i] : n > 0 ? place[a[i]] : 0;
            cone.steps.push_back({first, n > 1 ? place[b[i]] : 0, n > 2 ? place[c[i]] : 0, value[i]});
            if (cone.runs.empty() || cone.runs.back().op != op[i]) cone.runs.push_back({op[i], 0});
            cone.runs.back().end = (int)cone.steps.size();
        }
        const size_t size = cone.steps.size();
        if (v.size() < size) {
            v.resize(size);
            slope.resize(size);
        }

        int last[WAYS];
        uint64_t key[WAYS];
        bool down[WAYS], climbing[WAYS];
        double found[WAYS], step[WAYS], before[WAYS];
        EACH {
            const int target = targets[of[w]];
            last[w] = place[target];
            down[w] = downward[of[w]];
            key[w] = seed + (uint64_t)(2 * (int64_t)target + down[w]) * 0xD1B54A32D192ED03ull;
            climbing[w] = true;
            before[w] = -INFINITY;
            found[w] = -INFINITY;
            step[w] = 0.3;
            for (int j = 0; j < inputs; j++) {
                double u = chance(key[w], (uint64_t)way[w] * inputs + j);
                if (kind[j] == LINEAR && way[w] < ways / 2) u = u < 0.5 ? 0.0 : 1.0;
                y[j].at[w] = low[j] + (high[j] - low[j]) * u;
                if (way[w] == 0 || way[w] == ways / 2) y[j].at[w] = starts[(size_t)of[w] * inputs + j];
                x[j].at[w] = to[j].at[w] = along[j].at[w] = 0.0;
            }
            normalise(box, y.data(), w);
        }
        for (int it = 0; it < steps; it++) {
            if (it > 0 && it % patience == 0) {
                bool any = false;
                for (int first = 0; first < WAYS; first += ways) {
                    double now = -INFINITY;
                    for (int w = first; w < first + ways; w++) now = found[w] > now ? found[w] : now;
                    const bool ends = now - before[first] <= GAIN * std::fabs(now);
                    for (int w = first; w < first + ways; w++) {
                        climbing[w] = climbing[w] && !ends;
                        before[w] = now;
                    }
                    any |= climbing[first];
                }
                if (!any) break;
            }
            forward(cone, y.data(), v.data());
            std::memset(slope.data(), 0, sizeof(Row) * size);
            std::memset(by.data(), 0, sizeof(Row) * inputs);
            double reached[WAYS];
            EACH {
                reached[w] = v[last[w]].at[w];
                slope[last[w]].at[w] = down[w] || reached[w] < 0 ? -1.0 : 1.0;
            }
            backward(cone, v.data(), slope.data(), by.data());
            bool better[WAYS], again[WAYS], corner[WAYS];
            double was[WAYS], turned[WAYS], square[WAYS], steepest[WAYS];
            EACH {
                const double height = down[w] ? -reached[w] : std::fabs(reached[w]);
                better[w] = height > found[w] && climbing[w];
                found[w] = better[w] ? height : found[w];
                step[w] *= better[w] ? 1.6 : 0.45;
                again[w] = step[w] < 1e-5;
                if (again[w]) step[w] = 0.3 * chance(key[w] ^ 0xA5A5A5A5A5A5A5A5ull, (uint64_t)it * ways + way[w]);
                corner[w] = (it + way[w]) % 3 != 0;
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
        for (int first = 0; first < WAYS && t + first / ways < count; first += ways) {
            int highest = first;
            for (int w = first; w < first + ways; w++)
                if (found[w] > found[highest]) highest = w;
            best[t + first / ways] = found[highest];
            double *state = states + (size_t)(t + first / ways) * inputs;
            for (int j = 0; j < inputs; j++) state[j] = x[j].at[highest];
        }
    }
}
