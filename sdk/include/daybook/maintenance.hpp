// How a call of the C interface enters the author's C++ and ends, and the two calls that the host
// makes outside of turns: detail of plugin.hpp.
//
// This release makes `health` when a new file is to be put in force, and `maintain` not yet.
//
// A plugin whose instance type has them offers them:
//     bool maintain(daybook::Call call);          true = there is more to do
//     std::string health(daybook::Call call);     "" = all is well, else one sentence
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <daybook/call.hpp>
#include <daybook/ext/maintenance.h>

namespace daybook {
namespace detail {

inline Instance& from_handle(daybook_instance* handle) noexcept {
    return *reinterpret_cast<Instance*>(handle);
}

/// Runs `body`, which returns the result as JSON text, and ends the call with its outcome.
template <class Body>
daybook_status finish_call(const daybook_host& host,
                           daybook_call* call,
                           const Body& body) noexcept {
    const auto fail = [&](daybook_status status,
                          bool retryable,
                          std::string_view message,
                          std::string_view more) {
        static_cast<void>(
            host.fail(call, status, retryable ? 1 : 0, to_str(message), to_str(more)));
        return status;
    };
    try {
        const std::string result = body();
        return host.result(call, to_str(result));
    } catch (const PluginError& error) {
        const daybook_status status =
            error.status() == DAYBOOK_OK ? DAYBOOK_INTERNAL : error.status();
        return fail(status, error.retryable(), error.what(), error.detail());
    } catch (const std::bad_alloc&) {
        return fail(DAYBOOK_FULL, false, "the plugin ran out of memory", {});
    } catch (const std::exception& error) {
        return fail(DAYBOOK_INTERNAL, false, error.what(), {});
    } catch (...) {
        return fail(
            DAYBOOK_INTERNAL, false, "the plugin threw something that is no std::exception", {});
    }
}

/// The author's object, when it is of the type that the function wants.
template <class T>
T& object_of(const Instance& instance) {
    if (instance.type != type_of<T>() || instance.object == nullptr) {
        throw PluginError(DAYBOOK_INTERNAL,
                          "the function's class is not the one named in daybook::instance<T>()");
    }
    return *static_cast<T*>(instance.object);
}

template <class T>
inline constexpr bool kMaintains = requires(T& t, Call c) {
    t.maintain(c);
};
template <class T>
inline constexpr bool kTellsHealth = requires(T& t, Call c) {
    t.health(c);
};

template <class T>
daybook_status maintain_entry(daybook_instance* handle, daybook_call* call) noexcept {
    const Instance& instance = from_handle(handle);
    return finish_call(*instance.host, call, [&]() -> std::string {
        bool more = false;
        if constexpr (kMaintains<T>) {
            more = object_of<T>(instance).maintain(Call(instance, call));
        }
        return json::ObjectWriter().add("more", more).str();
    });
}

template <class T>
daybook_status health_entry(daybook_instance* handle, daybook_call* call) noexcept {
    const Instance& instance = from_handle(handle);
    return finish_call(*instance.host, call, [&]() -> std::string {
        std::string text;
        if constexpr (kTellsHealth<T>) {
            text = object_of<T>(instance).health(Call(instance, call));
        }
        json::ObjectWriter out;
        out.add("state", text.empty() ? "ok" : "degraded");
        return text.empty() ? out.str() : out.add("text", text).str();
    });
}

template <class T>
inline constexpr daybook_maintenance kMaintenance = {sizeof(daybook_maintenance),
                                                     0,
                                                     kMaintains<T> ? &maintain_entry<T> : nullptr,
                                                     kTellsHealth<T> ? &health_entry<T> : nullptr};

template <class T>
const void* maintenance_of(const char* id) noexcept {
    return id != nullptr && std::string_view(id) == DAYBOOK_EXT_MAINTENANCE ? &kMaintenance<T>
                                                                            : nullptr;
}

}  // namespace detail
}  // namespace daybook
