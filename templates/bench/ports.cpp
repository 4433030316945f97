// ns of a cycle; of a product (fused with a sum), of a sum, and of either where they take turns, in
// registers of this processor's width, none of which waits. Zeros where that is not known.
#include <algorithm>
#include <cstdio>
#include "times.hpp"

#if defined(__x86_64__) && defined(__FMA__)
#ifdef __AVX512F__
#define NAME(k) "%%zmm" #k
#else
#define NAME(k) "%%ymm" #k
#endif
// Of 16 registers, which AVX2 has, two are operands.
#define PRODUCT(k) "vfmadd231pd " NAME(14) "," NAME(15) "," NAME(k) "\n"
#define SUM(k) "vaddpd " NAME(14) "," NAME(k) "," NAME(k) "\n"
#define FIRST(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
#define LAST(of) of(8) of(9) of(10) of(11) of(12) of(13)
#define BOTH(k, l) PRODUCT(k) SUM(l)
#define PAIRS BOTH(0, 8) BOTH(1, 9) BOTH(2, 10) BOTH(3, 11) BOTH(4, 12) BOTH(5, 13) BOTH(6, 8) BOTH(7, 9)
#define CLOBBERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
      "xmm12", "xmm13", "xmm14", "xmm15"
#define TIME(text, count)                                        \
  least([] {                                                     \
    for (int k = 0; k < 1000; ++k) __asm__ volatile(text ::: CLOBBERS); \
  }) / (1000.0 * (count))

template <typename Call>
double least(Call call) {
  double found = 1e9;
  for (int k = 0; k < 20; ++k)
    found = std::min(found, nanoseconds(10, [&](int) { call(); }, CLOCK_THREAD_CPUTIME_ID, 5));
  return found;
}

int main() {
  // imul takes three cycles on x86-64 processors of the last ten years
  long x = 3;
  const double cycle = least([&] {
    for (int k = 0; k < 1000; ++k)
      __asm__ volatile("imul %0, %0\nimul %0, %0\nimul %0, %0\nimul %0, %0" : "+r"(x));
  });
  __asm__ volatile("vzeroall" ::: CLOBBERS);
  const double product = TIME(FIRST(PRODUCT) LAST(PRODUCT), 14);
  const double sum = TIME(FIRST(SUM) LAST(SUM), 14);
  const double both = TIME(PAIRS, 16);
  std::printf("%.6f %.6f %.6f %.6f", cycle / 12000, product, sum, both);
}
#else
int main() { std::printf("0 0 0 0"); }
#endif
