// How long a call takes.
#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

// Nanoseconds of a clock.
inline double now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// ns for each of `calls` calls: the median of several runs. CPU time of this thread unless `clock`
// says otherwise, so that what else the machine does counts less.
template <typename Call>
double nanoseconds(int calls, Call call, clockid_t clock = CLOCK_THREAD_CPUTIME_ID,
                   int runs = 51) {
  std::vector<double> times;
  for (int k = 0; k < calls; ++k) call(k);  // warm
  for (int run = 0; run < runs; ++run) {
    const double start = now(clock);
    for (int k = 0; k < calls; ++k) call(k);
    times.push_back((now(clock) - start) / calls);
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2];
}

// The same of a call however long it takes: a run is so many calls that its clock is precise, and
// there are fewer runs, 5 at least, where one takes long.
template <typename Call>
double steadily(Call call, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  const double precise = 2e5, altogether = 2e8;  // ns
  call();
  const double start = now(clock);
  call();
  const double about = std::max(now(clock) - start, 1.0);
  const int calls = std::max(1, static_cast<int>(precise / about));
  const int runs = static_cast<int>(std::clamp(altogether / (about * calls), 5.0, 51.0));
  return nanoseconds(calls, [&](int) { call(); }, clock, runs);
}
