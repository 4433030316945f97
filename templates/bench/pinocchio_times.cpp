// Time of one of Pinocchio's functions, one state after another on one core: the figure to compare
// with.
// usage: pinocchio_times TREE  ->  ns per call
//        pinocchio_times TREE NUMBER …  ->  what it gives for q, v and a (dfd: tau) of these numbers
// ID, DID, DDID or DFD is defined: rnea, its derivatives, its second ones or the derivatives of aba;
// one for each program, since compiling all takes gigabytes. TREE: as pinocchio_tree.hpp has it.
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef ID
#include <pinocchio/algorithm/rnea.hpp>
#elif defined DID
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#elif defined DDID
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>
#else
#include <pinocchio/algorithm/aba-derivatives.hpp>
#endif

#include "pinocchio_joints.hpp"
#include "pinocchio_tree.hpp"
#include "times.hpp"

static void print(const Eigen::MatrixXd &rows) {
  for (int i = 0; i < rows.rows(); ++i)
    for (int j = 0; j < rows.cols(); ++j) std::printf("%.17g\n", rows(i, j));
}

#ifdef DDID
using Tensor = pinocchio::DataTpl<double, 0, FewJoints>::Tensor3x;

static void print(const Tensor &entries) {
  for (int i = 0; i < entries.dimension(0); ++i)
    for (int j = 0; j < entries.dimension(1); ++j)
      for (int k = 0; k < entries.dimension(2); ++k) std::printf("%.17g\n", entries(i, j, k));
}
#endif

int main(int argc, char **argv) {
  const auto model = model_of<FewJoints>(argc > 1 ? argv[1] : "");
  if (model.njoints < 2) return 2;
  pinocchio::DataTpl<double, 0, FewJoints> data(model);
  const int states = 1000;
  std::vector<Eigen::VectorXd> q, v, last;
  for (int k = 0; k < states; ++k) {
    q.push_back(Eigen::VectorXd::Random(model.nq));
    if (model.nq != model.nv) q[k].segment<4>(3).normalize();  // of the floating base
    v.push_back(Eigen::VectorXd::Random(model.nv));
    last.push_back(Eigen::VectorXd::Random(model.nv));
  }
  double sink = 0;
#ifdef DDID
  // zeros once: it leaves what is zero by structure as it is
  Tensor by_q(model.nv, model.nv, model.nv), by_v = by_q, mixed = by_q, mass = by_q;
  for (auto *tensor : {&by_q, &by_v, &mixed, &mass}) tensor->setZero();
#endif
  const auto call = [&](int k) {
#ifdef ID
    sink += pinocchio::rnea(model, data, q[k], v[k], last[k])[0];
#elif defined DID
    pinocchio::computeRNEADerivatives(model, data, q[k], v[k], last[k]);
    sink += data.dtau_dq(0, 0);
#elif defined DDID
    pinocchio::ComputeRNEASecondOrderDerivatives(model, data, q[k], v[k], last[k], by_q, by_v,
                                                 mixed, mass);
    sink += by_q(0, 0, 0);
#else
    pinocchio::computeABADerivatives(model, data, q[k], v[k], last[k]);
    sink += data.ddq_dq(0, 0);
#endif
  };
  if (argc > 2) {
    if (argc != 2 + model.nq + 2 * model.nv) return 2;
    char **word = argv + 2;
    for (auto *vector : {&q[0], &v[0], &last[0]})
      for (double &x : *vector) x = std::atof(*word++);
    call(0);
#ifdef ID
    print(data.tau);
#elif defined DID
    print(data.dtau_dq), print(data.dtau_dv), print(data.M);
#elif defined DDID
    print(by_q), print(by_v), print(mixed), print(mass);
#else
    print(data.ddq_dq), print(data.ddq_dv), print(data.Minv);
#endif
    return 0;
  }
  std::printf("%.1f\n", nanoseconds(states, call));
  return sink == 1.0;  // so that the calls are not optimised away
}
