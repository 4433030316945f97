// How large, and how small, each node of a dataflow graph gets over many states; see extents.py.
//
// States go through in blocks, whose rows stay in the cache: a row is given to another node after
// its last use. Compiled without contraction of a * b + c, so that values are those of NumPy.

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int STATES = 64;  // of a block
constexpr int LANES = 16;
enum Op { INPUT, CONST, ADD, SUB, NEG, MUL, MULC, SIN, COS, RECIP, MANTISSA, EXPONENT, SCALE, SELECT, SATURATE };

struct alignas(64) Row {
    double at[STATES];
};

#define EACH for (int w = 0; w < STATES; w++)

inline double size(double x) { return std::fabs(x); }
inline double below(double x) { return -x; }

// the largest of ``key``, and where it is first; NaN where there is one
template <double key(double)>
void keep(const Row &x, int64_t start, double *value, int64_t *where) {
    double most[LANES], none[LANES];
    for (int l = 0; l < LANES; l++) { most[l] = -INFINITY; none[l] = 0.0; }
    for (int w = 0; w < STATES; w += LANES)
        for (int l = 0; l < LANES; l++) {
            const double v = key(x.at[w + l]);
            most[l] = v > most[l] ? v : most[l];
            none[l] = v == v ? none[l] : v;
        }
    double found = -INFINITY, nan = 0.0;
    for (int l = 0; l < LANES; l++) {
        found = most[l] > found ? most[l] : found;
        nan = none[l] == none[l] ? nan : none[l];
    }
    if (nan != nan) found = nan;
    if (*value != *value || found <= *value) return;
    *value = found;
    for (int w = 0; w < STATES; w++) {
        const double v = key(x.at[w]);
        if (v != v || v == found) { *where = start + w; return; }
    }
}

}  // namespace

// Operands are nodes by their places; ``column`` says which of the ``columns`` an input is, or a
// sine. ``first`` and ``last`` bound the states. Of nodes that are ``lowest`` the smallest value is
// found, as the largest of -x.
extern "C" void extents(
    int32_t nodes, const int32_t *op, const int32_t *a, const int32_t *b, const int32_t *c,
    const double *value, const int32_t *column, const double *const *columns, const uint8_t *lowest, int64_t first, int64_t last,
    double *largest, int64_t *largest_at, double *smallest, int64_t *smallest_at) {
    const int32_t *const args[3] = {a, b, c};
    std::vector<int32_t> until(nodes), place(nodes), count(nodes), free;
    for (int i = 0; i < nodes; i++) {
        const bool leaf = column[i] >= 0 || op[i] == CONST;
        count[i] = leaf ? 0 : op[i] == SELECT ? 3 : op[i] <= SUB || op[i] == MUL || op[i] == SCALE ? 2 : 1;
        until[i] = i;
        for (int k = 0; k < count[i]; k++) until[args[k][i]] = i;
        largest[i] = smallest[i] = -INFINITY;
        largest_at[i] = smallest_at[i] = first;
    }
    int rows = 0;
    for (int i = 0; i < nodes; i++) {
        // a row of its own while its operands are read
        if (free.empty()) free.push_back(rows++);
        place[i] = free.back();
        free.pop_back();
        for (int k = 0; k < count[i]; k++) {
            const int operand = args[k][i];
            bool again = false;
            for (int j = 0; j < k; j++) again |= args[j][i] == operand;
            if (until[operand] == i && !again) free.push_back(place[operand]);
        }
        if (until[i] == i) free.push_back(place[i]);
    }
    std::vector<Row> row(rows);
    for (int64_t start = first; start < last; start += STATES) {
        for (int i = 0; i < nodes; i++) {
            Row &out = row[place[i]];
            if (column[i] >= 0) {
                const double *from = columns[column[i]];
                // the last block is filled up with its last state
                EACH out.at[w] = from[start + w < last ? start + w : last - 1];
            } else {
                const Row &x = row[count[i] > 0 ? place[a[i]] : place[i]];
                const Row &y = row[count[i] > 1 ? place[b[i]] : place[i]];
                switch (op[i]) {
                    case CONST: EACH out.at[w] = value[i]; break;
                    case ADD: EACH out.at[w] = x.at[w] + y.at[w]; break;
                    case SUB: EACH out.at[w] = x.at[w] - y.at[w]; break;
                    case NEG: EACH out.at[w] = -x.at[w]; break;
                    case MUL: EACH out.at[w] = x.at[w] * y.at[w]; break;
                    case MULC: EACH out.at[w] = value[i] * x.at[w]; break;
                    case RECIP: EACH out.at[w] = 1.0 / x.at[w]; break;
                    case MANTISSA: EACH { int k; out.at[w] = 1.0 / std::frexp(x.at[w], &k); } break;
                    case EXPONENT: EACH { int k; std::frexp(x.at[w], &k); out.at[w] = k; } break;
                    case SCALE: EACH out.at[w] = x.at[w] * std::exp2(-y.at[w]); break;
                    case SATURATE: EACH {
                        const double most = value[i];
                        out.at[w] = x.at[w] < -most ? -most : x.at[w] > most ? most : x.at[w];
                    } break;
                    case SELECT: {
                        const Row &z = row[place[c[i]]];
                        EACH out.at[w] = x.at[w] < 0 ? y.at[w] : z.at[w];
                    } break;
                }
            }
            keep<size>(out, start, &largest[i], &largest_at[i]);
            if (lowest[i]) keep<below>(out, start, &smallest[i], &smallest_at[i]);
        }
    }
    for (int i = 0; i < nodes; i++) smallest[i] = -smallest[i];
}
