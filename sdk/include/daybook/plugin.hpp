// The C++ layer of the SDK: a whole tool in a few lines.
//
//     static std::string greet(daybook::Call call, std::string_view args) {
//         const daybook::json::ObjectReader in(args);
//         call.append("notes/" + call.day() + ".md", "- met " + in.text("name") + "\n", "greeted");
//         return daybook::json::ObjectWriter().add("greeting", "Hello, " + in.text("name")).str();
//     }
//     constexpr auto kGreet = daybook::tool<greet>("greet", "Greets somebody",
//     R"({"type":"object"})",
//                                                  {.writes =
//                                                  R"({"fixed":"notes/{day}.md","ops":["append"]})"});
//     DAYBOOK_PLUGIN("greeter", "1.0.0", daybook::wants("daybook.desk-files/1", "daybook.clock/1"),
//     &kGreet)
//
// Functions become noexcept C entries: a PluginError ends the call with its status, every other
// exception with INTERNAL. The same descriptors make the manifest, at compile time. Names and
// shapes that the host would refuse do not compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <daybook/call.hpp>
#include <daybook/maintenance.hpp>
#include <daybook/manifest.hpp>
#include <daybook/model.hpp>

namespace daybook {

/// What a tool is besides its name; members as in struct daybook_tool.
struct ToolOptions {
    const char* writes = nullptr;
    const char* groups = nullptr;
    std::uint32_t timeout_ms = 0;
    std::uint32_t flags = 0;
    const char* output_schema = nullptr;
    std::uint32_t max_concurrency = 0;
};

/// What a skill is besides its name and description; members as in struct daybook_skill.
struct SkillOptions {
    const char* instructions = nullptr;
    const char* jobs = nullptr;
    const char* trigger_kinds = nullptr;
};

namespace detail {

// The three shapes of a tool's function.
inline std::string invoke(std::string (*fn)(Call, std::string_view),
                          const Instance& instance,
                          daybook_call* call,
                          std::string_view args) {
    return fn(Call(instance, call), args);
}
template <class T>
std::string invoke(std::string (*fn)(T&, Call, std::string_view),
                   const Instance& instance,
                   daybook_call* call,
                   std::string_view args) {
    return fn(object_of<T>(instance), Call(instance, call), args);
}
template <class T>
std::string invoke(std::string (T::*fn)(Call, std::string_view),
                   const Instance& instance,
                   daybook_call* call,
                   std::string_view args) {
    return (object_of<T>(instance).*fn)(Call(instance, call), args);
}

template <auto Fn>
daybook_status tool_entry(daybook_instance* handle, daybook_call* call, daybook_str args) noexcept {
    const Instance& instance = from_handle(handle);
    return finish_call(
        *instance.host, call, [&] { return invoke(Fn, instance, call, to_view(args)); });
}

/// Runs `body(turn)` and closes the stream however it went.
template <class Body>
daybook_status run_turn(const Instance& instance,
                        daybook_call* call,
                        daybook_str request,
                        const daybook_stream* stream,
                        const Body& body) noexcept {
    return finish_call(*instance.host, call, [&]() -> std::string {
        ModelTurn turn(Call(instance, call), to_view(request), *stream);
        try {
            body(turn);
            if (!turn.is_closed()) {
                throw PluginError(DAYBOOK_NO_ANSWER, "the backend ended without an answer", true);
            }
        } catch (const PluginError& error) {
            if (!turn.is_closed()) {
                turn.error(error_class_of(error.status()), error.what());
            }
            throw;
        } catch (const std::exception& error) {
            if (!turn.is_closed()) {
                turn.error("model_fault", error.what());
            }
            throw;
        }
        turn.rethrow_failure();
        return "{}";
    });
}

template <class T>
struct ModelEntry {
    static std::int64_t context_window(daybook_instance* handle, const char* model) noexcept {
        if constexpr (requires(T & t) { t.context_window(std::string_view()); }) {
            try {
                return object_of<T>(from_handle(handle))
                    .context_window(model == nullptr ? "" : model);
            } catch (...) {  // unknown is an allowed answer
            }
        }
        return 0;
    }
    static daybook_status count_tokens(daybook_instance* handle,
                                       daybook_call* call,
                                       daybook_str request,
                                       daybook_usage* out) noexcept {
        if constexpr (requires(T & t, Call c) { t.count_tokens(c, std::string_view()); }) {
            try {
                const Instance& instance = from_handle(handle);
                *out = to_usage(
                    object_of<T>(instance).count_tokens(Call(instance, call), to_view(request)));
                return DAYBOOK_OK;
            } catch (const PluginError& error) {
                return error.status();
            } catch (...) {
                return DAYBOOK_INTERNAL;
            }
        }
        return DAYBOOK_UNSUPPORTED;
    }
    static daybook_status turn(daybook_instance* handle,
                               daybook_call* call,
                               daybook_str request,
                               const daybook_stream* stream) noexcept {
        const Instance& instance = from_handle(handle);
        return run_turn(instance, call, request, stream, [&](ModelTurn& turn) {
            object_of<T>(instance).turn(turn);
        });
    }
    static daybook_status compact(daybook_instance* handle,
                                  daybook_call* call,
                                  daybook_str instruction,
                                  const daybook_stream* stream) noexcept {
        const Instance& instance = from_handle(handle);
        return run_turn(instance, call, instruction, stream, [&](ModelTurn& turn) {
            if constexpr (requires(T & t) { t.compact(turn); }) {
                object_of<T>(instance).compact(turn);
            }
        });
    }
    static daybook_status ready(daybook_instance* handle, daybook_call* call) noexcept {
        const Instance& instance = from_handle(handle);
        return finish_call(*instance.host, call, [&]() -> std::string {
            if constexpr (requires(T & t, Call c) { t.ready(c); }) {
                object_of<T>(instance).ready(Call(instance, call));
            }
            return R"({"ready":true})";
        });
    }
    static void cancel(daybook_instance* handle, daybook_call*) noexcept {
        if constexpr (requires(T & t) { t.cancel(); }) {
            const Instance& instance = from_handle(handle);
            static_assert(noexcept(std::declval<T&>().cancel()), "cancel() must be noexcept");
            static_cast<T*>(instance.object)->cancel();
        }
    }
};

template <class T>
void destroy_object(void* object) noexcept {
    delete static_cast<T*>(object);
}

template <class T>
T* make_object(std::string_view config) {
    if constexpr (std::is_constructible_v<T, std::string_view>) {
        return new T(config);
    } else {
        return new T();
    }
}

template <class T>
daybook_status open_instance(const daybook_host* host,
                             daybook_str config,
                             daybook_instance** out,
                             char* error,
                             std::size_t capacity) noexcept {
    const auto fail = [&](daybook_status status, std::string_view why) {
        if (capacity > 0) {
            const std::size_t length = std::min(why.size(), capacity - 1);
            std::copy_n(why.data(), length, error);
            error[length] = '\0';
        }
        return status;
    };
    Instance* instance = nullptr;
    daybook_status status = DAYBOOK_OK;
    try {
        instance = new Instance;
        instance->host = host;
        const auto ask = [&](const char* id) { return host->get_extension(host->ctx, id); };
        instance->files = static_cast<const daybook_desk_files*>(ask(DAYBOOK_EXT_DESK_FILES));
        instance->clock = static_cast<const daybook_clock*>(ask(DAYBOOK_EXT_CLOCK));
        instance->tools = static_cast<const daybook_tools*>(ask(DAYBOOK_EXT_TOOLS));
        instance->journal = static_cast<const daybook_journal*>(ask(DAYBOOK_EXT_JOURNAL));
        if constexpr (!std::is_void_v<T>) {
            instance->type = type_of<T>();
            instance->destroy = &destroy_object<T>;
            instance->object = make_object<T>(to_view(config));
        }
        *out = reinterpret_cast<daybook_instance*>(instance);
        return DAYBOOK_OK;
    } catch (const PluginError& failure) {
        status = fail(failure.status() == DAYBOOK_OK ? DAYBOOK_INTERNAL : failure.status(),
                      failure.what());
    } catch (const std::exception& failure) {
        status = fail(DAYBOOK_INTERNAL, failure.what());
    } catch (...) {
        status = fail(DAYBOOK_INTERNAL, "the plugin threw something that is no std::exception");
    }
    delete instance;
    return status;
}

inline void close_instance(daybook_instance* handle) noexcept {
    Instance* instance = &from_handle(handle);
    if (instance->object != nullptr) {
        instance->destroy(instance->object);
    }
    delete instance;
}

constexpr bool is_name(std::string_view text, bool dash) noexcept {
    const auto good = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (dash && c == '-');
    };
    return !text.empty() && text.size() <= 64 && text[0] >= 'a' && text[0] <= 'z' &&
           std::all_of(text.begin(), text.end(), good);
}

/// A compile error that shows the sentence.
constexpr void require(bool condition, const char* sentence) {
    if (!condition) {
        throw sentence;
    }
}

template <class Part, class Wanted>
inline constexpr bool kIs = std::is_same_v<Part, Wanted>;
template <class Part>
inline constexpr std::size_t kCallsIn = 0;
template <std::size_t N>
inline constexpr std::size_t kCallsIn<Calls<N>> = N;
template <class Part>
inline constexpr std::size_t kWantsIn = 0;
template <std::size_t N>
inline constexpr std::size_t kWantsIn<Wants<N>> = N;

/// Collects the parts of a plugin in the order of writing.
template <class SpecT>
struct Collector {
    SpecT spec;
    std::size_t tools = 0, models = 0, skills = 0, wants = 0, calls = 0;

    constexpr void add(const daybook_tool* tool) { spec.tools[tools++] = tool; }
    constexpr void add(const daybook_model* model) { spec.models[models++] = model; }
    constexpr void add(const daybook_skill* skill) { spec.skills[skills++] = skill; }
    constexpr void add(ConfigSchema schema) { spec.config_schema = schema.json; }
    constexpr void add(MinHostMinor host) { spec.min_host_minor = host.minor; }
    template <std::size_t N>
    constexpr void add(const Wants<N>& groups) {
        for (const char* id : groups.ids) {
            spec.wants[wants++] = id;
        }
    }
    template <std::size_t N>
    constexpr void add(const Calls<N>& names) {
        for (const char* name : names.tools) {
            spec.calls[calls++] = name;
        }
    }
    template <class T>
    constexpr void add(InstanceOf<T>) {
        spec.open = &open_instance<T>;
        spec.maintains = kMaintains<T>;
        spec.tells_health = kTellsHealth<T>;
        if (spec.maintains || spec.tells_health) {
            spec.get_extension = &maintenance_of<T>;
        }
    }
};

template <class... Parts>
consteval auto define(const char* name, const char* version, Parts... parts) {
    constexpr std::size_t kTools =
        (std::size_t{0} + ... + (kIs<Parts, const daybook_tool*> ? 1U : 0U));
    constexpr std::size_t kModels =
        (std::size_t{0} + ... + (kIs<Parts, const daybook_model*> ? 1U : 0U));
    constexpr std::size_t kSkills =
        (std::size_t{0} + ... + (kIs<Parts, const daybook_skill*> ? 1U : 0U));
    constexpr std::size_t kWants = (std::size_t{0} + ... + kWantsIn<Parts>);
    constexpr std::size_t kCalls = (std::size_t{0} + ... + kCallsIn<Parts>);
    require(is_name(name, true), "a plugin's name is [a-z][a-z0-9_-]{0,63}");
    Collector<Spec<kTools, kModels, kSkills, kWants, kCalls>> collector;
    collector.spec.name = name;
    collector.spec.version = version;
    collector.spec.open = &open_instance<void>;
    collector.spec.close = &close_instance;
    (collector.add(parts), ...);
    return collector.spec;
}

template <class S>
consteval daybook_plugin make_descriptor(const S& spec) {
    return {sizeof(daybook_plugin),
            DAYBOOK_ABI_MAJOR,
            DAYBOOK_ABI_MINOR,
            spec.min_host_minor,
            spec.name,
            spec.version,
            nullptr,
            spec.tools.data(),
            S::kTools,
            spec.models.data(),
            S::kModels,
            spec.skills.data(),
            S::kSkills,
            spec.open,
            nullptr,
            spec.close,
            spec.get_extension};
}

}  // namespace detail

/// A tool's descriptor. `Fn` is std::string(Call, std::string_view args_json), the same with a T&
/// in front, or a member function of T; T is then the plugin's instance type. It returns the result
/// as JSON text.
template <auto Fn>
consteval daybook_tool tool(const char* name,
                            const char* description,
                            const char* input_schema,
                            ToolOptions options = {}) {
    detail::require(detail::is_name(name, false), "a tool's name is [a-z][a-z0-9_]{0,63}");
    detail::require(input_schema[0] == '{', "a tool's input_schema is a JSON object");
    detail::require(options.writes == nullptr || options.writes[0] == '{',
                    "a tool's `writes` is a JSON object");
    return {sizeof(daybook_tool),
            options.flags,
            name,
            description,
            input_schema,
            options.output_schema,
            options.writes,
            options.groups,
            options.timeout_ms,
            options.max_concurrency,
            &detail::tool_entry<Fn>};
}

/// A model backend's descriptor; T as described in model.hpp.
template <class T>
consteval daybook_model model(const char* name) {
    using Entry = detail::ModelEntry<T>;
    detail::require(detail::is_name(name, true), "a model's name is [a-z][a-z0-9_-]{0,63}");
    constexpr bool kCounts = requires(T & t, Call c) {
        t.count_tokens(c, std::string_view());
    };
    constexpr bool kCompacts = requires(T & t, ModelTurn & turn) {
        t.compact(turn);
    };
    constexpr bool kCancels = requires(T & t) {
        t.cancel();
    };
    return {sizeof(daybook_model),
            0,
            name,
            &Entry::context_window,
            kCounts ? &Entry::count_tokens : nullptr,
            &Entry::turn,
            &Entry::ready,
            kCompacts ? &Entry::compact : nullptr,
            kCancels ? &Entry::cancel : nullptr};
}

/// A skill's descriptor.
consteval daybook_skill skill(const char* name,
                              const char* description,
                              SkillOptions options = {}) {
    detail::require(detail::is_name(name, true), "a skill's name is [a-z][a-z0-9_-]{0,63}");
    return {sizeof(daybook_skill),
            0,
            name,
            description,
            options.instructions,
            options.jobs,
            options.trigger_kinds};
}

}  // namespace daybook

/// The plugin: its name, its version, then in any order wants(...), config_schema(...),
/// min_host_minor(...), instance<T>(), and the addresses of its tools, models and skills. Once, at
/// file scope.
#define DAYBOOK_PLUGIN(plugin_name, plugin_version, ...)                                       \
    namespace daybook_definition {                                                             \
    static constexpr auto kSpec =                                                              \
        ::daybook::detail::define(plugin_name, plugin_version __VA_OPT__(, ) __VA_ARGS__);     \
    static constexpr ::daybook_plugin kDescriptor = ::daybook::detail::make_descriptor(kSpec); \
    [[gnu::section(DAYBOOK_NOTE_SECTION),                                                      \
      gnu::used,                                                                               \
      gnu::aligned(4)]] static constexpr auto kManifestNote =                                  \
        ::daybook::detail::make_note<::daybook::detail::manifest_bytes(kSpec)>(kSpec);         \
    }                                                                                          \
    extern "C" DAYBOOK_EXPORT const ::daybook_plugin* daybook_plugin_v1(std::uint32_t,         \
                                                                        std::uint32_t) {       \
        return &daybook_definition::kDescriptor;                                               \
    }
