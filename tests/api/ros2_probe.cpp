// Plugins of a generated package at work: numbers of states come in, those of results go out.
//
//   probe CLASS [NAME=VALUE] …     a parameter's VALUE: a string, or a list after ":" or, of numbers, "#"
//
// `description` is the robot's, `hardware` the joints that it has. While `update` runs, what it
// allocates and locks is counted.
#include <cerrno>
#include <dlfcn.h>
#include <iostream>
#include <mutex>
#include <pthread.h>
#include <sstream>

#include "ros2_declarations.hpp"
#include "ros2_plugins.hpp"

static long allocations, locks;
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
void __libc_free(void *);
void *malloc(std::size_t size) { return ++allocations, __libc_malloc(size); }
void *calloc(std::size_t n, std::size_t size) { return ++allocations, __libc_calloc(n, size); }
void *realloc(void *p, std::size_t size) { return ++allocations, __libc_realloc(p, size); }
void *memalign(std::size_t to, std::size_t size) { return ++allocations, __libc_memalign(to, size); }
void *aligned_alloc(std::size_t to, std::size_t size) { return memalign(to, size); }
int posix_memalign(void **p, std::size_t to, std::size_t size)
{
    return (*p = memalign(to, size)) ? 0 : ENOMEM;
}
void free(void *p) { ++allocations, __libc_free(p); }
#define COUNTED(name, type) \
    int name(type *own) \
    { \
        static const auto next = reinterpret_cast<int (*)(type *)>(dlsym(RTLD_NEXT, #name)); \
        return ++locks, next(own); \
    }
COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)
}

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;
using Solver = inverse_dynamics_solver::InverseDynamicsSolver;
using Point = trajectory_msgs::msg::JointTrajectoryPoint;

static Names split(const std::string &text)
{
    Names all;
    std::istringstream in(text);
    for (std::string own; std::getline(in, own, '\x1f');)
        all.push_back(own);
    return all;
}

static bool row(Numbers &all)
{
    std::string line;
    all.clear();
    if (!std::getline(std::cin, line))
        return false;
    std::istringstream in(line);
    for (std::string own; in >> own;)
        all.push_back(std::stod(own));
    return true;
}

template <class Range> static void print(const char *what, const Range &all)
{
    std::cout << what;
    for (const double own : all)
        std::cout << ' ' << own;
    std::cout << '\n';
}

struct Parameters : rclcpp::node_interfaces::NodeParametersInterface {
    rclcpp::Parameters all;
    bool has_parameter(const std::string &name) const override { return all.count(name) > 0; }
    bool get_parameter(const std::string &name, rclcpp::Parameter &to) const override
    {
        return has_parameter(name) && (to = all.at(name), true);
    }
};

static int solve(Solver &solver, const std::shared_ptr<Parameters> &parameters, const std::string &description)
{
    solver.initialize(parameters, "dynamics", description);
    for (Numbers all; row(all);) {
        const Eigen::Index n = Eigen::Index(all.size()) / 3;
        const Eigen::Map<const Eigen::MatrixXd> columns(all.data(), n, 3);
        const Eigen::VectorXd q = columns.col(0), qd = columns.col(1), qdd = columns.col(2);
        const auto [m, c, g] = solver.getDynamicParameters(q, qd);
        print("M", m.reshaped());
        print("C", c);
        print("g", g);
        print("f", solver.getFrictionVector(qd));
        print("tau", solver.getTorques(q, qd, qdd));
    }
    return 0;
}

static int control(controller_interface::ControllerInterface &own, const Parameters &parameters,
                   const std::string &description, const Names &hardware)
{
    const auto good = controller_interface::CallbackReturn::SUCCESS;
    if (own.init(parameters.all, description) != good || own.on_configure({}) != good)
        return 1;
    const std::size_t n = hardware.size();
    Numbers q(n), qd(n), tau(n);
    std::vector<hardware_interface::LoanedStateInterface> states;
    std::vector<hardware_interface::LoanedCommandInterface> commands;
    for (std::size_t i = 0; i < n; ++i) {
        states.emplace_back(hardware[i] + "/velocity", &qd[i]);
        states.emplace_back(hardware[i] + "/position", &q[i]);
        commands.emplace_back(hardware[i] + "/effort", &tau[i]);
    }
    for (const std::string &name : own.command_interface_configuration().names)
        std::cout << "command " << name << '\n';
    for (const std::string &name : own.state_interface_configuration().names)
        std::cout << "state " << name << '\n';
    own.assign_interfaces(std::move(commands), std::move(states));
    bool active = false;
    for (Numbers all; row(all);) {
        if (all.size() == 3 * n) { // a reference
            const auto at = [&](std::size_t k) { return all.begin() + std::ptrdiff_t(k * n); };
            auto &topic = *static_cast<rclcpp::Subscription<Point> *>(own.get_node()->topics.at("~/reference").get());
            topic.callback({Numbers(at(0), at(1)), Numbers(at(1), at(2)), Numbers(at(2), at(3)), {}});
            continue;
        }
        q.assign(all.begin(), all.begin() + std::ptrdiff_t(n));
        qd.assign(all.begin() + std::ptrdiff_t(n), all.end());
        if (!active && own.on_activate({}) != good)
            return 1;
        active = true;
        const long before = allocations, held = locks;
        const auto found = own.update({}, {});
        std::cout << "counted " << allocations - before << ' ' << locks - held << '\n';
        print(found == controller_interface::return_type::OK ? "tau" : "error", tau);
    }
    own.on_deactivate({});
    print("off", tau);
    own.on_cleanup({});
    return 0;
}

int main(int count, char **words)
{
    std::cout.precision(17);
    long before = allocations, held = locks;
    {
        std::mutex one;
        const std::lock_guard<std::mutex> lock(one);
        delete new volatile int;
    }
    std::cout << "control " << allocations - before << ' ' << locks - held << '\n';
    const auto parameters = std::make_shared<Parameters>();
    std::string description;
    Names hardware;
    for (int k = 2; k < count; ++k) {
        const std::string word = words[k], name = word.substr(0, word.find('=')), said = word.substr(name.size() + 1);
        if (name == "description") {
            description = said;
        } else if (name == "hardware") {
            hardware = split(said);
        } else if (said[0] == '#') {
            Numbers all;
            for (const std::string &own : split(said.substr(1)))
                all.push_back(std::stod(own));
            parameters->all[name] = rclcpp::Parameter(all);
        } else if (said[0] == ':') {
            parameters->all[name] = rclcpp::Parameter(split(said.substr(1)));
        } else {
            parameters->all[name] = rclcpp::Parameter(said);
        }
    }
    const std::string of = words[1];
    try {
        if (plugins<Solver>().count(of))
            return solve(*plugins<Solver>().at(of)(), parameters, description);
        return control(*plugins<controller_interface::ControllerInterface>().at(of)(), *parameters, description, hardware);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
