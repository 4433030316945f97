// The joint types that robots of pinocchio_tree.hpp have. Pinocchio dispatches over a collection of
// types: over its own 25 the gradients of aba take an hour to compile, over these half a minute, and
// are no slower for it.
#pragma once

#include <pinocchio/multibody.hpp>

template <typename S, int O>
struct FewJoints {
  using Scalar = S;
  static constexpr int Options = O;

  using JointModelRX = pinocchio::JointModelRevoluteTpl<S, O, 0>;
  using JointModelRY = pinocchio::JointModelRevoluteTpl<S, O, 1>;
  using JointModelRZ = pinocchio::JointModelRevoluteTpl<S, O, 2>;
  using JointModelRevoluteUnaligned = pinocchio::JointModelRevoluteUnalignedTpl<S, O>;
  using JointModelPrismaticUnaligned = pinocchio::JointModelPrismaticUnalignedTpl<S, O>;
  using JointModelFreeFlyer = pinocchio::JointModelFreeFlyerTpl<S, O>;
  using JointModelMimic = pinocchio::JointModelMimicTpl<S, O, ::FewJoints>;  // the library asks for it
  using JointModelVariant =
      boost::variant<JointModelRX, JointModelRY, JointModelRZ, JointModelRevoluteUnaligned,
                     JointModelPrismaticUnaligned, JointModelFreeFlyer,
                     boost::recursive_wrapper<JointModelMimic>>;

  using JointDataRX = pinocchio::JointDataRevoluteTpl<S, O, 0>;
  using JointDataRY = pinocchio::JointDataRevoluteTpl<S, O, 1>;
  using JointDataRZ = pinocchio::JointDataRevoluteTpl<S, O, 2>;
  using JointDataRevoluteUnaligned = pinocchio::JointDataRevoluteUnalignedTpl<S, O>;
  using JointDataPrismaticUnaligned = pinocchio::JointDataPrismaticUnalignedTpl<S, O>;
  using JointDataFreeFlyer = pinocchio::JointDataFreeFlyerTpl<S, O>;
  using JointDataMimic = pinocchio::JointDataMimicTpl<S, O, ::FewJoints>;
  using JointDataVariant =
      boost::variant<JointDataRX, JointDataRY, JointDataRZ, JointDataRevoluteUnaligned,
                     JointDataPrismaticUnaligned, JointDataFreeFlyer,
                     boost::recursive_wrapper<JointDataMimic>>;
};
