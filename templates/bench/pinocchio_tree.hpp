// A robot as Pinocchio's model, from a line per joint: parent (0: base), axis xyz, kind (revolute,
// prismatic, floating), placement R (9, by rows) and p (3), mass, centre of mass (3), inertia about
// it (xx xy yy xz yz zz).
#pragma once

#include <fstream>
#include <string>

#include <pinocchio/multibody.hpp>

// The joint of a model that uses `Joints`, a collection of joint types.
template <typename Joints>
typename Joints::JointModelVariant joint_of(const Eigen::Vector3d &axis, const std::string &kind) {
  if (kind == "floating") return typename Joints::JointModelFreeFlyer();
  if (kind == "prismatic") return typename Joints::JointModelPrismaticUnaligned(axis);
  if (axis == Eigen::Vector3d::UnitX()) return typename Joints::JointModelRX();
  if (axis == Eigen::Vector3d::UnitY()) return typename Joints::JointModelRY();
  if (axis == Eigen::Vector3d::UnitZ()) return typename Joints::JointModelRZ();
  return typename Joints::JointModelRevoluteUnaligned(axis);
}

// The model of a file; one without joints where it cannot be read.
template <template <typename, int> class Joints>
pinocchio::ModelTpl<double, 0, Joints> model_of(const char *file) {
  using namespace pinocchio;
  std::ifstream tree(file);
  ModelTpl<double, 0, Joints> model;
  std::string kind;
  int parent, n = 0;
  Eigen::Vector3d axis;
  while (tree >> parent >> axis[0] >> axis[1] >> axis[2] >> kind) {
    Eigen::Matrix3d R;
    Eigen::Vector3d p, c;
    double mass, I[6];
    for (int k = 0; k < 9; ++k) tree >> R(k / 3, k % 3);
    tree >> p[0] >> p[1] >> p[2] >> mass >> c[0] >> c[1] >> c[2];
    for (double &x : I) tree >> x;
    Eigen::Matrix3d J;
    J << I[0], I[1], I[3], I[1], I[2], I[4], I[3], I[4], I[5];
    const auto joint = joint_of<Joints<double, 0>>(axis, kind);
    const auto added = model.addJoint(parent, JointModelTpl<double, 0, Joints>(joint), SE3(R, p),
                                      std::to_string(n++));
    model.appendBodyToJoint(added, Inertia(mass, c, J), SE3::Identity());
  }
  return model;
}
