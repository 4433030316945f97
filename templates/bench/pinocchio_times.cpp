// Time of one of Pinocchio's functions, one state after another on one core: the figure to compare
// with.
// usage: pinocchio_times TREE  ->  ns per call
// ID, DID or DFD is defined: rnea, its derivatives or those of aba; one for each program, since
// compiling all takes gigabytes. TREE: as pinocchio_tree.hpp has it.
#include <cstdio>
#include <vector>

#ifdef ID
#include <pinocchio/algorithm/rnea.hpp>
#elif defined DID
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#else
#include <pinocchio/algorithm/aba-derivatives.hpp>
#endif

#include "pinocchio_tree.hpp"
#include "times.hpp"

int main(int argc, char **argv) {
  const pinocchio::Model model = model_of(argc == 2 ? argv[1] : "");
  if (model.njoints < 2) return 2;
  pinocchio::Data data(model);
  const int states = 1000;
  std::vector<Eigen::VectorXd> q, v, last;
  for (int k = 0; k < states; ++k) {
    q.push_back(Eigen::VectorXd::Random(model.nq));
    v.push_back(Eigen::VectorXd::Random(model.nv));
    last.push_back(Eigen::VectorXd::Random(model.nv));
  }
  double sink = 0;
  const double time = nanoseconds(states, [&](int k) {
#ifdef ID
    sink += pinocchio::rnea(model, data, q[k], v[k], last[k])[0];
#elif defined DID
    pinocchio::computeRNEADerivatives(model, data, q[k], v[k], last[k]);
    sink += data.dtau_dq(0, 0);
#else
    pinocchio::computeABADerivatives(model, data, q[k], v[k], last[k]);
    sink += data.ddq_dq(0, 0);
#endif
  });
  std::printf("%.1f\n", time);
  return sink == 1.0;  // so that the calls are not optimised away
}
