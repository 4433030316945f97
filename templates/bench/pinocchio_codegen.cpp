// Pinocchio's own code generation (CppADCodeGen): a robot's function as straight-line C.
// usage: pinocchio_codegen id|did|dfd TREE FOLDER  ->  C files in FOLDER, of `generated`:
// q, v, then a or tau in; out come tau (id), or the derivatives by q, by v, and M or its inverse.
// TREE: as pinocchio_tree.hpp has it. Nothing here is timed, and thus no need to optimise it.
#include <pinocchio/codegen/cppadcg-algo.hpp>

#include "pinocchio_tree.hpp"

template <typename Generator>
struct Saved : Generator {
  Saved(const pinocchio::Model &model, const std::string &folder)
      : Generator(model, "generated", "generated") {
    this->build_forward = true;
    this->build_jacobian = false;
    this->initLib();
    CppAD::cg::SaveFilesModelLibraryProcessor<double>(*this->libcgen_ptr).saveSourcesTo(folder);
  }
};

int main(int argc, char **argv) {
  const auto model = model_of<pinocchio::JointCollectionDefaultTpl>(argc == 4 ? argv[2] : "");
  if (model.njoints < 2) return 2;
  const std::string function = argv[1];
  if (function == "id")
    Saved<pinocchio::CodeGenRNEA<double>>(model, argv[3]);
  else if (function == "did")
    Saved<pinocchio::CodeGenRNEADerivatives<double>>(model, argv[3]);
  else if (function == "dfd")
    Saved<pinocchio::CodeGenABADerivatives<double>>(model, argv[3]);
  else
    return 2;
  return 0;
}
