// The manifest, written by the compiler from the same descriptors that the host will see: detail of
// plugin.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>
#include <daybook/ext/draft/skill.h>

namespace daybook {

// The parts that DAYBOOK_PLUGIN takes besides tools, models and skills.
template <std::size_t N>
struct Wants {
    std::array<const char*, N> ids{};
};
template <std::size_t N>
struct Calls {
    std::array<const char*, N> tools{};
};
struct ConfigSchema {
    const char* json;
};
struct MinHostMinor {
    std::uint32_t minor;
};
template <class T>
struct InstanceOf {};

/// The groups of the host that the plugin uses: wants("daybook.desk-files/1", "daybook.clock/1").
template <class... Ids>
consteval Wants<sizeof...(Ids)> wants(Ids... ids) {
    return {{ids...}};
}
/// The tools of other plugins that this one may call ("daybook.tools/1"); no other can be.
template <class... Names>
consteval Calls<sizeof...(Names)> calls(Names... names) {
    return {{names...}};
}
/// JSON Schema of the plugin's configuration; the host checks it before the plugin starts.
consteval ConfigSchema config_schema(const char* json) {
    return {json};
}
/// The oldest minor of the host's ABI that the plugin can work with.
consteval MinHostMinor min_host_minor(std::uint32_t minor) {
    return {minor};
}
/// The plugin's own type: one object for each opened plugin, made by T(std::string_view
/// config_json) or T().
template <class T>
consteval InstanceOf<T> instance() {
    return {};
}

namespace detail {

/// Counts, or writes when it has a place to write to.
struct JsonOutput {
    char* to = nullptr;
    std::size_t size = 0;

    constexpr void put(char c) {
        if (to != nullptr) {
            to[size] = c;
        }
        ++size;
    }
    constexpr void raw(std::string_view text) {
        for (const char c : text) {
            put(c);
        }
    }
    constexpr void quoted(std::string_view text) {
        put('"');
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                put('\\');
                put(c);
            } else if (c == '\n') {
                raw("\\n");
            } else if (static_cast<unsigned char>(c) < 0x20) {
                raw("\\u00");
                put("0123456789abcdef"[static_cast<unsigned char>(c) >> 4U]);
                put("0123456789abcdef"[static_cast<unsigned char>(c) & 0xFU]);
            } else {
                put(c);
            }
        }
        put('"');
    }
    constexpr void number(std::uint32_t value) {
        char digits[10]{};
        std::size_t count = 0;
        do {
            digits[count++] = static_cast<char>('0' + value % 10);
            value /= 10;
        } while (value != 0);
        while (count > 0) {
            put(digits[--count]);
        }
    }
    /// `,"name":`
    constexpr void key(std::string_view name) {
        put(',');
        quoted(name);
        put(':');
    }
    constexpr void text_member(std::string_view name, const char* text) {
        if (text != nullptr) {
            key(name);
            quoted(text);
        }
    }
    constexpr void raw_member(std::string_view name, const char* json) {
        if (json != nullptr) {
            key(name);
            raw(json);
        }
    }
    /// An array of the words in `text`, which are separated by spaces.
    constexpr void words_member(std::string_view name, const char* text) {
        if (text == nullptr) {
            return;
        }
        key(name);
        put('[');
        std::string_view rest(text);
        bool first = true;
        while (!rest.empty()) {
            const std::size_t end = rest.find(' ');
            const std::string_view word = rest.substr(0, end);
            if (!word.empty()) {
                if (!first) {
                    put(',');
                }
                quoted(word);
                first = false;
            }
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        }
        put(']');
    }
};

template <std::size_t T, std::size_t M, std::size_t S, std::size_t W, std::size_t C>
struct Spec {
    const char* name = nullptr;
    const char* version = nullptr;
    // One place more than there are elements, so that no array is empty.
    std::array<const daybook_tool*, T + 1> tools{};
    std::array<const daybook_model*, M + 1> models{};
    std::array<const daybook_skill*, S + 1> skills{};
    std::array<const char*, W + 1> wants{};
    std::array<const char*, C + 1> calls{};
    bool maintains = false, tells_health = false;
    const char* config_schema = nullptr;
    std::uint32_t min_host_minor = 0;
    daybook_status (*open)(
        const daybook_host*, daybook_str, daybook_instance**, char*, std::size_t) = nullptr;
    void (*close)(daybook_instance*) = nullptr;
    const void* (*get_extension)(const char*) = nullptr;

    static constexpr std::size_t kTools = T, kModels = M, kSkills = S, kWants = W, kCalls = C;
};

constexpr void write_tool(JsonOutput& out, const daybook_tool& tool) {
    out.raw("{\"name\":");
    out.quoted(tool.name);
    out.text_member("description", tool.description);
    out.raw_member("input_schema", tool.input_schema);
    out.raw_member("output_schema", tool.output_schema);
    out.raw_member("writes", tool.writes);
    out.words_member("groups", tool.groups);
    out.key("timeout_ms");
    out.number(tool.default_timeout_ms);
    out.key("flags");
    const bool idempotent = (tool.flags & DAYBOOK_TOOL_IDEMPOTENT) != 0;
    const bool reentrant = (tool.flags & DAYBOOK_TOOL_REENTRANT) != 0;
    out.raw(idempotent && reentrant ? "[\"idempotent\",\"reentrant\"]"
            : idempotent            ? "[\"idempotent\"]"
            : reentrant             ? "[\"reentrant\"]"
                                    : "[]");
    out.put('}');
}

constexpr void write_skill(JsonOutput& out, const daybook_skill& skill) {
    out.raw("{\"name\":");
    out.quoted(skill.name);
    out.text_member("description", skill.description);
    out.text_member("instructions", skill.instructions);
    out.raw_member("jobs", skill.jobs);
    out.words_member("trigger_kinds", skill.trigger_kinds);
    out.put('}');
}

constexpr void write_strings(JsonOutput& out, const char* const* texts, std::size_t count) {
    out.put('[');
    for (std::size_t i = 0; i < count; ++i) {
        out.raw(i == 0 ? "" : ",");
        out.quoted(texts[i]);
    }
    out.put(']');
}

/// Whoever wants a scratch folder gets the walls that have one.
template <class S>
constexpr std::string_view profile_of(const S& spec) {
    for (std::size_t i = 0; i < S::kWants; ++i) {
        if (std::string_view(spec.wants[i]) == DAYBOOK_EXT_SCRATCH) {
            return "scratch";
        }
    }
    return "pure";
}

template <class S>
constexpr void write_manifest(JsonOutput& out, const S& spec) {
    out.raw("{\"manifest\":1");
    out.text_member("name", spec.name);
    out.text_member("version", spec.version);
    out.raw(",\"abi\":[");
    out.number(DAYBOOK_ABI_MAJOR);
    out.put(',');
    out.number(DAYBOOK_ABI_MINOR);
    out.raw("],\"min_host_minor\":");
    out.number(spec.min_host_minor);
    out.raw(",\"profile\":");
    out.quoted(profile_of(spec));
    out.raw(",\"wants\":");
    write_strings(out, spec.wants.data(), S::kWants);
    if (S::kCalls > 0) {
        out.raw(",\"calls\":");
        write_strings(out, spec.calls.data(), S::kCalls);
    }
    if (spec.maintains || spec.tells_health) {
        out.raw(",\"offers\":[");
        out.raw(spec.maintains ? "\"maintain\"" : "");
        out.raw(spec.maintains && spec.tells_health ? "," : "");
        out.raw(spec.tells_health ? "\"health\"" : "");
        out.put(']');
    }
    out.raw(",\"tools\":[");
    for (std::size_t i = 0; i < S::kTools; ++i) {
        out.raw(i == 0 ? "" : ",");
        write_tool(out, *spec.tools[i]);
    }
    out.raw("],\"models\":[");
    for (std::size_t i = 0; i < S::kModels; ++i) {
        out.raw(i == 0 ? "{\"name\":" : ",{\"name\":");
        out.quoted(spec.models[i]->name);
        out.put('}');
    }
    out.raw("],\"skills\":[");
    for (std::size_t i = 0; i < S::kSkills; ++i) {
        out.raw(i == 0 ? "" : ",");
        write_skill(out, *spec.skills[i]);
    }
    out.put(']');
    out.raw_member("config_schema", spec.config_schema);
    out.put('}');
}

/// The ELF note, laid out as the linker and readelf expect it: text padded to four bytes.
template <std::size_t Bytes>
struct Note {
    std::uint32_t owner_bytes = sizeof(DAYBOOK_NOTE_OWNER);
    std::uint32_t text_bytes = Bytes;
    std::uint32_t type = DAYBOOK_NOTE_MANIFEST;
    char owner[8] = DAYBOOK_NOTE_OWNER;
    char text[(Bytes + 3) / 4 * 4] = {};
};

template <class S>
consteval std::size_t manifest_bytes(const S& spec) {
    JsonOutput out;
    write_manifest(out, spec);
    return out.size;
}

template <std::size_t Bytes, class S>
consteval Note<Bytes> make_note(const S& spec) {
    Note<Bytes> note;
    JsonOutput out{note.text, 0};
    write_manifest(out, spec);
    return note;
}

}  // namespace detail
}  // namespace daybook
