// Our action model beside crocoddyl's own, of a robot whose base floats, with residuals of frames.
// Prints how far apart they are in seeded states: the cost, v̇, and all derivatives.
#include "swinger_dfd_minv_crocoddyl.hpp"
#include "swinger_fd.h"
#include "swinger_held_crocoddyl.hpp"

#include <crocoddyl/core/costs/residual.hpp>
#include <crocoddyl/multibody/actuations/floating-base.hpp>
#include <crocoddyl/multibody/contacts/contact-3d.hpp>
#include <crocoddyl/multibody/residuals/frame-placement.hpp>
#include <crocoddyl/multibody/residuals/frame-velocity.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <cstdio>
#include <cstdlib>

using namespace crocoddyl;

static std::shared_ptr<StateMultibody> state_of(const char *urdf)
{
    auto model = std::make_shared<pinocchio::Model>();
    pinocchio::urdf::buildModel(urdf, pinocchio::JointModelFreeFlyer(), *model);
    return std::make_shared<StateMultibody>(model);
}

static double apart(const Eigen::MatrixXd &a, const Eigen::MatrixXd &b)
{
    return (a - b).cwiseAbs().maxCoeff() / a.cwiseAbs().maxCoeff();
}

int main(int, char **argv)
{
    const auto state = state_of(argv[1]);
    const auto driven = std::make_shared<ActuationModelFloatingBase>(state);
    const std::size_t nu = driven->get_nu();
    const auto link = state->get_pinocchio()->getFrameId("lower");
    const auto costs = std::make_shared<CostModelSum>(state, nu);
    const auto add = [&](const char *name, std::shared_ptr<ResidualModelAbstract> residual, double weight) {
        costs->addCost(name, std::make_shared<CostModelResidual>(state, residual), weight);
    };
    const auto place = pinocchio::SE3::Identity();
    add("place", std::make_shared<ResidualModelFramePlacement>(state, link, place, nu), 1.0);
    const auto still = pinocchio::Motion::Zero();
    add("speed", std::make_shared<ResidualModelFrameVelocity>(state, link, still, pinocchio::LOCAL, nu), 0.1);

    DifferentialActionModelFreeFwdDynamics own(state, driven, costs);
    swinger_dfd_minv_ForwardDynamics whole(state, driven, costs);
    swinger_dfd_minv_ForwardDynamics alone(state, driven, costs, nullptr, swinger_fd);
    const auto contacts = std::make_shared<ContactModelMultiple>(state, nu);
    const Eigen::Vector3d at(0.1, 0.2, -0.3);
    contacts->addContact("tip", std::make_shared<ContactModel3D>(state, link, at, pinocchio::LOCAL_WORLD_ALIGNED, nu,
                                    Eigen::Vector2d(3.0, 4.0)));
    DifferentialActionModelContactFwdDynamics touching(state, driven, contacts, costs, 1e-6, true);
    swinger_held_ContactDynamics held(state, driven, contacts, costs, 1e-6, true);
    std::srand(1);
    for (int k = 0; k < 20; ++k) {
        const Eigen::VectorXd by = Eigen::VectorXd::Random(static_cast<long>(state->get_ndx()));
        const Eigen::VectorXd u = Eigen::VectorXd::Random(static_cast<long>(nu));
        Eigen::VectorXd x = state->zero();
        state->integrate(state->zero(), by, x);
        const auto compare = [&](DifferentialActionModelAbstract &its, DifferentialActionModelAbstract &model) {
            const auto theirs = its.createData(), ours = model.createData();
            if (!model.checkData(ours) || model.checkData(theirs))
                std::exit(1);
            its.calc(theirs, x, u);
            its.calcDiff(theirs, x, u);
            model.calc(ours, x, u);
            model.calcDiff(ours, x, u);
            std::printf("%.3g %.3g %.3g %.3g %.3g %.3g\n", std::abs(ours->cost / theirs->cost - 1.0),
                apart(theirs->xout, ours->xout), apart(theirs->Fx, ours->Fx), apart(theirs->Fu, ours->Fu),
                apart(theirs->Lx, ours->Lx), apart(theirs->Lxx, ours->Lxx));
        };
        compare(own, whole);
        compare(own, alone);
        compare(touching, held);
    }
    try {
        const auto other = state_of(argv[2]);
        const auto full = std::make_shared<ActuationModelFloatingBase>(other);
        const auto none = std::make_shared<CostModelSum>(other, full->get_nu());
        swinger_dfd_minv_ForwardDynamics refused(other, full, none);
    } catch (const std::invalid_argument &error) {
        std::printf("%s\n", error.what());
        return 0;
    }
    return 1;
}
