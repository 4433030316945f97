// What ROS 2 declares of that which generated packages include, no more; and what stands behind it
// here: parameters and interfaces in memory. HUMBLE: handles as they were there.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

// rclcpp
namespace rclcpp
{
class Parameter
{
public:
    using Value = std::variant<std::string, std::vector<std::string>, std::vector<double>>;
    Parameter() = default;
    explicit Parameter(Value value) : value_(std::move(value)) {}
    std::string as_string() const { return std::get<0>(value_); }
    std::vector<std::string> as_string_array() const { return std::get<1>(value_); }
    std::vector<double> as_double_array() const { return std::get<2>(value_); }
    template <class T> T get_value() const { return std::get<T>(value_); }

private:
    Value value_;
};
using Parameters = std::map<std::string, Parameter>;

namespace exceptions
{
class InvalidParameterValueException : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};
} // namespace exceptions

namespace node_interfaces
{
class NodeParametersInterface
{
public:
    using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
    virtual ~NodeParametersInterface() = default;
    virtual bool get_parameter(const std::string &name, Parameter &parameter) const = 0;
    virtual bool has_parameter(const std::string &name) const = 0;
};
} // namespace node_interfaces

class Time
{
};
class Duration
{
};
class SystemDefaultsQoS
{
};
class Logger
{
};
template <class Message> class Subscription
{
public:
    using SharedPtr = std::shared_ptr<Subscription>;
    std::function<void(const Message &)> callback;
};
} // namespace rclcpp
#define RCLCPP_ERROR(logger, ...) \
    (static_cast<void>(logger), std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))
#define RCLCPP_WARN RCLCPP_ERROR

namespace rclcpp_lifecycle
{
class State
{
};
namespace node_interfaces
{
class LifecycleNodeInterface
{
public:
    enum class CallbackReturn : std::uint8_t { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
    virtual ~LifecycleNodeInterface() = default;
    virtual CallbackReturn on_configure(const State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_activate(const State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_deactivate(const State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_cleanup(const State &) { return CallbackReturn::SUCCESS; }
};
} // namespace node_interfaces

class LifecycleNode
{
public:
    explicit LifecycleNode(rclcpp::Parameters given) : given_(std::move(given)) {}
    template <class T> void declare_parameter(const std::string &name, const T &usual)
    {
        const auto found = given_.find(name);
        declared_[name] = found == given_.end() ? rclcpp::Parameter(usual) : found->second;
    }
    bool has_parameter(const std::string &name) const { return declared_.count(name) > 0; }
    rclcpp::Parameter get_parameter(const std::string &name) const { return declared_.at(name); }
    rclcpp::Logger get_logger() const { return {}; }
    template <class Message, class Callback>
    std::shared_ptr<rclcpp::Subscription<Message>>
    create_subscription(const std::string &topic, const rclcpp::SystemDefaultsQoS &, Callback &&callback)
    {
        auto made = std::make_shared<rclcpp::Subscription<Message>>();
        made->callback = std::forward<Callback>(callback);
        topics[topic] = made;
        return made;
    }
    std::map<std::string, std::shared_ptr<void>> topics;

private:
    rclcpp::Parameters given_, declared_;
};
} // namespace rclcpp_lifecycle

namespace trajectory_msgs::msg
{
struct JointTrajectoryPoint {
    std::vector<double> positions, velocities, accelerations, effort;
};
} // namespace trajectory_msgs::msg

// urdf
namespace urdf
{
struct Joint {
};
class Model
{
public:
    bool initString(const std::string &text)
    {
        text_ = text;
        return text.find("<robot") != std::string::npos;
    }
    std::shared_ptr<const Joint> getJoint(const std::string &name) const
    {
        const bool there = text_.find("<joint name=\"" + name + '"') != std::string::npos;
        return there ? std::make_shared<const Joint>() : nullptr;
    }

private:
    std::string text_;
};
} // namespace urdf

// ros2_control
namespace hardware_interface
{
class LoanedStateInterface
{
public:
    LoanedStateInterface(std::string name, double *value) : name_(std::move(name)), value_(value) {}
    LoanedStateInterface(LoanedStateInterface &&) = default;
    const std::string &get_name() const { return name_; }
#ifdef HUMBLE
    double get_value() const { return *value_; }
#else
    template <class T = double> [[nodiscard]] std::optional<T> get_optional(unsigned = 10) const
    {
        return busy ? std::nullopt : std::optional<T>(*value_);
    }
    inline static bool busy = false; // as if another thread had the handle
#endif

private:
    std::string name_;
    double *value_;
};
class LoanedCommandInterface
{
public:
    LoanedCommandInterface(std::string name, double *value) : name_(std::move(name)), value_(value) {}
    LoanedCommandInterface(LoanedCommandInterface &&) = default;
    const std::string &get_name() const { return name_; }
#ifdef HUMBLE
    void set_value(double value) { *value_ = value; }
#else
    template <class T> [[nodiscard]] bool set_value(const T &value, unsigned = 10)
    {
        *value_ = value;
        return true;
    }
#endif

private:
    std::string name_;
    double *value_;
};
} // namespace hardware_interface

namespace controller_interface
{
using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };
enum class interface_configuration_type : std::uint8_t { ALL = 0, INDIVIDUAL = 1, NONE = 2 };
struct InterfaceConfiguration {
    interface_configuration_type type;
    std::vector<std::string> names = {};
};
class ControllerInterfaceBase : public rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface
{
public:
    virtual InterfaceConfiguration command_interface_configuration() const = 0;
    virtual InterfaceConfiguration state_interface_configuration() const = 0;
    virtual CallbackReturn on_init() = 0;
    virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
    std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() { return node_; }
    CallbackReturn init(rclcpp::Parameters given, const std::string &description)
    {
        node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>(std::move(given));
        description_ = description;
        return on_init();
    }
    void assign_interfaces(std::vector<hardware_interface::LoanedCommandInterface> &&commands,
                           std::vector<hardware_interface::LoanedStateInterface> &&states)
    {
        command_interfaces_ = std::move(commands);
        state_interfaces_ = std::move(states);
    }
#ifndef HUMBLE
    const std::string &get_robot_description() const { return description_; }
#endif
    template <class T> auto auto_declare(const std::string &name, const T &usual)
    {
        if (!node_->has_parameter(name))
            node_->declare_parameter<T>(name, usual);
        return node_->get_parameter(name).get_value<T>();
    }

protected:
    std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
    std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

private:
    std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_;
    std::string description_;
};
class ControllerInterface : public ControllerInterfaceBase
{
};
} // namespace controller_interface

// inverse_dynamics_solver
namespace inverse_dynamics_solver
{
using InvalidParameterValueException = rclcpp::exceptions::InvalidParameterValueException;
class UninitializedException : public std::runtime_error
{
public:
    UninitializedException() : std::runtime_error("Solver is not initialized") {}
};
class InverseDynamicsSolver
{
public:
    virtual ~InverseDynamicsSolver() {}
    virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr = nullptr,
                            const std::string & = "", const std::string & = "") = 0;
    virtual std::tuple<Eigen::MatrixXd, Eigen::VectorXd, Eigen::VectorXd>
    getDynamicParameters(const Eigen::VectorXd &q, const Eigen::VectorXd &qd) const
    {
        return {getInertiaMatrix(q), getCoriolisVector(q, qd), getGravityVector(q)};
    }
    virtual Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &) const = 0;
    virtual Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd &, const Eigen::VectorXd &) const = 0;
    virtual Eigen::VectorXd getGravityVector(const Eigen::VectorXd &) const = 0;
    virtual Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &) const = 0;
    virtual Eigen::VectorXd getTorques(const Eigen::VectorXd &q, const Eigen::VectorXd &qd,
                                       const Eigen::VectorXd &qdd) const
    {
        return getInertiaMatrix(q) * qdd + getCoriolisVector(q, qd) + getGravityVector(q);
    }

protected:
    InverseDynamicsSolver() {}
};
} // namespace inverse_dynamics_solver
