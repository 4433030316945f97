// Time of a function that Pinocchio has generated, one state after another on one core.
// usage: generated_times  ->  ns per call;  generated_times NUMBER …  ->  what it gives for them
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "times.hpp"

extern "C" {
struct LangCAtomicFun {
  void *libModel;
  int (*forward)(void *, int, int, const void *, void *);
  int (*reverse)(void *, int, const void *, void *, const void *);
};
void generated_forward_zero(const double *const *in, double *const *out, LangCAtomicFun);
void generated_info(const char **, unsigned long *outputs, unsigned long *inputs, unsigned *,
                    unsigned *);
}

int main(int argc, char **argv) {
  const char *base;
  unsigned long inputs, outputs;
  unsigned unused[2];
  generated_info(&base, &outputs, &inputs, unused, unused + 1);
  const int states = 1000;
  std::vector<double> in(std::size_t(states) * inputs), out(outputs);
  const auto call = [&](int k) {
    const double *const from[] = {in.data() + std::size_t(k) * inputs};
    double *const to[] = {out.data()};
    generated_forward_zero(from, to, LangCAtomicFun{});
  };
  if (argc > 1) {
    if (argc != static_cast<int>(inputs) + 1) return 2;
    for (unsigned long k = 0; k < inputs; ++k) in[k] = std::atof(argv[k + 1]);
    call(0);
    for (const double x : out) std::printf("%.17g\n", x);
    return 0;
  }
  for (double &x : in) x = 2.0 * std::rand() / RAND_MAX - 1.0;
  double sink = 0;
  const double time = nanoseconds(states, [&](int k) {
    call(k);
    sink += out[0];
  });
  std::printf("%.1f\n", time);
  return sink == 1.0;  // so that the calls are not optimised away
}
