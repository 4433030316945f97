// Times of pinocchio::rnea and computeRNEADerivatives, one state after another on one core: the
// figures to compare with.
// usage: pinocchio_times TREE  ->  ns per call of each, the medians of 21 runs of 1000 states
// TREE: a line per joint: parent (0: base), axis xyz, slides (0, 1), placement R (9, by rows) and
// p (3), mass, centre of mass (3), inertia about it (xx xy yy xz yz zz).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

using namespace pinocchio;

static JointModel joint(const Eigen::Vector3d &axis, bool slides) {
  if (slides) return JointModelPrismaticUnaligned(axis);
  if (axis == Eigen::Vector3d::UnitX()) return JointModelRX();
  if (axis == Eigen::Vector3d::UnitY()) return JointModelRY();
  if (axis == Eigen::Vector3d::UnitZ()) return JointModelRZ();
  return JointModelRevoluteUnaligned(axis);
}

template <typename Call>
static double median(int states, Call call) {
  std::vector<double> times;
  for (int run = 0; run < 21; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < states; ++k) call(k);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count() / states);
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
}

int main(int argc, char **argv) {
  std::ifstream tree(argc == 2 ? argv[1] : "");
  Model model;
  int parent, slides, n = 0;
  Eigen::Vector3d axis;
  while (tree >> parent >> axis[0] >> axis[1] >> axis[2] >> slides) {
    Eigen::Matrix3d R;
    Eigen::Vector3d p, c;
    double mass, I[6];
    for (int k = 0; k < 9; ++k) tree >> R(k / 3, k % 3);
    tree >> p[0] >> p[1] >> p[2] >> mass >> c[0] >> c[1] >> c[2];
    for (double &x : I) tree >> x;
    Eigen::Matrix3d J;
    J << I[0], I[1], I[3], I[1], I[2], I[4], I[3], I[4], I[5];
    const auto added = model.addJoint(parent, joint(axis, slides), SE3(R, p), std::to_string(n++));
    model.appendBodyToJoint(added, Inertia(mass, c, J), SE3::Identity());
  }
  if (n == 0) return 2;
  Data data(model);
  const int states = 1000;
  std::vector<Eigen::VectorXd> q, v, a;
  for (int k = 0; k < states; ++k) {
    q.push_back(Eigen::VectorXd::Random(model.nq));
    v.push_back(Eigen::VectorXd::Random(model.nv));
    a.push_back(Eigen::VectorXd::Random(model.nv));
  }
  double sink = 0;
  const double id = median(states, [&](int k) { sink += rnea(model, data, q[k], v[k], a[k])[0]; });
  const double did = median(states, [&](int k) {
    computeRNEADerivatives(model, data, q[k], v[k], a[k]);
    sink += data.dtau_dq(0, 0);
  });
  std::printf("%.1f %.1f\n", id, did);
  return sink == 1.0;  // so that the calls are not optimised away
}
