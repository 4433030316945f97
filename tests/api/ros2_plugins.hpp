// What plugins export, in a table by the type that the description in XML has: pluginlib's part.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

template <class Base> std::map<std::string, std::function<std::shared_ptr<Base>()>> &plugins()
{
    static std::map<std::string, std::function<std::shared_ptr<Base>()>> all;
    return all;
}
#define PLUGINLIB_EXPORT_CLASS(Derived, Base) \
    [[maybe_unused]] static const auto exported = \
        plugins<Base>().emplace(#Derived, [] { return std::make_shared<Derived>(); });
