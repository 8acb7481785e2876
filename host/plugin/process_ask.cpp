#include "host/plugin/process_ask.hpp"

#include <algorithm>
#include <array>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMostWords = 256;
constexpr std::size_t kMostWordBytes = 128UL * 1024 - 1;  // the kernel's own bound of one
constexpr std::size_t kMostBytes = 512UL * 1024;
constexpr std::array<std::string_view, 3> kOnCancel{"keep", "interrupt", "end"};

Error wrong(const std::string& what) {
    return Error(Errc::invalid, "process/1.start: " + what);
}

Result<> take(const std::string& text, std::size_t& bytes) {
    if (text.find('\0') != std::string::npos) {
        return wrong("args and env hold no zero byte");
    }
    bytes += text.size();
    if (text.size() > kMostWordBytes || bytes > kMostBytes) {
        return Error(Errc::full,
                     "process/1.start: args and env have at most " + std::to_string(kMostBytes) +
                         " bytes, and one at most " + std::to_string(kMostWordBytes) +
                         "; send the rest as lines");
    }
    return {};
}

Result<> read_words(const Json& json, ProcessStart& out, std::size_t& bytes) {
    if (!json.is_null() && !json.is_array()) {
        return wrong("args is a list of texts");
    }
    for (const Json& item : json.items()) {
        if (!item.is_string() || json.items().size() > kMostWords) {
            return wrong("args is a list of at most " + std::to_string(kMostWords) + " texts");
        }
        if (auto taken = take(item.as_string(), bytes); !taken) {
            return taken;
        }
        out.ask.arguments.push_back(item.as_string());
    }
    return {};
}

Result<> read_variables(const Json& json, ProcessStart& out, std::size_t& bytes) {
    if (!json.is_null() && !json.is_object()) {
        return wrong("env is an object of texts");
    }
    for (const auto& [name, value] : json.members()) {
        if (!value.is_string() || !is_program_variable(name) ||
            json.members().size() > kMostWords) {
            return wrong("env: " + printable(name, 80) + " may not be set, or is no text");
        }
        if (auto taken = take(name + "=" + value.as_string(), bytes); !taken) {
            return taken;
        }
        out.ask.environment.push_back(name + "=" + value.as_string());
    }
    return {};
}

}  // namespace

Result<ProcessStart> read_process_start(std::string_view options_json) {
    ProcessStart out;
    if (options_json.empty()) {
        return out;
    }
    JsonLimits limits;
    limits.max_bytes = 2 * kMostBytes;
    limits.max_string_bytes = kMostWordBytes + 1;
    const auto json = Json::parse(options_json, limits);
    if (!json || !json->is_object()) {
        return wrong(json ? "its options are no object" : json.error().message());
    }
    std::size_t bytes = 0;
    for (const auto& [name, value] : json->members()) {
        Result<> read;
        const bool is_flag = value.kind() == Json::Kind::boolean;
        if (name == "args") {
            read = read_words(value, out, bytes);
        } else if (name == "env") {
            read = read_variables(value, out, bytes);
        } else if (name == "fresh" && is_flag) {
            out.ask.fresh = value.as_bool();
        } else if (name == "own" && is_flag) {
            out.ask.own = value.as_bool();
        } else if (name == "on_cancel" && value.is_string() &&
                   std::find(kOnCancel.begin(), kOnCancel.end(), value.as_string()) !=
                       kOnCancel.end()) {
            out.on_cancel = value.as_string();
        } else {
            read =
                wrong("options are args, env, fresh, own and on_cancel (keep, interrupt, end); " +
                      printable(name, 40) + " is none, or has another kind of value");
        }
        if (!read) {
            return read.error();
        }
    }
    return out;
}

}  // namespace daybook
