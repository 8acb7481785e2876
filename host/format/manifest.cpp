#include "host/format/manifest.hpp"

#include <algorithm>
#include <set>

#include "host/format/member.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kManifestNumber = 1;
constexpr std::size_t kMaxManifestBytes = 1024UL * 1024;
constexpr std::size_t kMaxTools = 256;

/// [a-z][a-z0-9_]{0,63}, with "-" too where `dashes`.
bool is_name(std::string_view name, bool dashes) {
    const auto fits = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (dashes && c == '-');
    };
    return !name.empty() && name.size() <= 64 && name.front() >= 'a' && name.front() <= 'z' &&
           std::all_of(name.begin(), name.end(), fits);
}

/// "daybook.desk-files/1", "org.example.thing/2": a printable word, a slash, a revision.
bool is_group_id(std::string_view id) {
    const std::size_t slash = id.rfind('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == id.size() ||
        id.size() > 128) {
        return false;
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::string_view revision = id.substr(slash + 1);
    return std::all_of(revision.begin(), revision.end(), is_digit) &&
           std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

Error wrong(const std::string& where, std::string_view what) {
    return Error(Errc::invalid, where + ": " + std::string(what));
}

/// A list of group ids, in order.
Result<std::vector<std::string>> groups_of(const Json& list, const std::string& where) {
    std::vector<std::string> groups;
    if (!list.is_null() && !list.is_array()) {
        return wrong(where, "expected a list of group ids");
    }
    for (const Json& id : list.items()) {
        if (!is_group_id(id.as_string())) {
            return wrong(where,
                         "\"" + printable(id.is_string() ? id.as_string() : id.dump()) +
                             "\" is not a group id such as daybook.desk-files/1");
        }
        groups.push_back(id.as_string());
    }
    return groups;
}

/// The fixed path of a writes line: one of the desk's own files once {day} stands for a day.
bool is_writable_template(std::string text) {
    constexpr std::string_view kDay = "{day}";
    for (std::size_t at = text.find(kDay); at != std::string::npos; at = text.find(kDay)) {
        text.replace(at, kDay.size(), "2026-10-19");
    }
    if (text.find_first_of("{}") != std::string::npos) {
        return false;
    }
    const auto path = DeskPath::parse(text);
    return path && path->is_own();
}

Result<WritesRule> writes_of(const Json& json, const Json& schema, const std::string& where) {
    WritesRule rule;
    rule.fixed = json["fixed"].as_string();
    rule.argument = json["arg"].as_string();
    if (!json.is_object() || rule.fixed.empty() == rule.argument.empty()) {
        return wrong(where, "expected {\"fixed\":PATH,...} or {\"arg\":NAME,...}");
    }
    if (!rule.fixed.empty() && !is_writable_template(rule.fixed)) {
        return wrong(
            where,
            "\"" + printable(rule.fixed) +
                "\" is not one of the desk's own files (Memory.md, memory/, notes/, skills/; "
                "{day} is the only placeholder)");
    }
    if (!rule.argument.empty() &&
        schema["properties"][rule.argument]["type"].as_string() != "string") {
        return wrong(
            where,
            "\"" + printable(rule.argument) + "\" is not a text argument of the input schema");
    }
    if (!json.has("ops")) {
        return rule;
    }
    rule.operations = 0;
    for (const Json& name : json["ops"].items()) {
        const std::string& text = name.as_string();
        const unsigned bit = text == "append"    ? kAppend
                             : text == "replace" ? kReplace
                             : text == "edit"    ? kEdit
                                                 : 0U;
        if (bit == 0) {
            return wrong(
                where,
                "\"ops\" holds " + printable(name.dump()) + "; expected append, replace or edit");
        }
        rule.operations |= bit;
    }
    if (rule.operations == 0) {
        return wrong(where, "\"ops\": expected a list of append, replace and edit");
    }
    return rule;
}

/// What a tool's flags say. A flag that is not known is refused: it may be one that makes a call
/// safe.
Result<bool> is_idempotent(const Json& flags, const std::string& where) {
    bool idempotent = false;
    for (const Json& flag : flags.items()) {
        if (flag.as_string() == "idempotent") {
            idempotent = true;
        } else if (flag.as_string() != "reentrant") {
            return Error(Errc::unsupported,
                         where + ": flag " + printable(flag.dump()) +
                             " is not known to this host; upgrade daybook");
        }
    }
    if (!flags.is_null() && !flags.is_array()) {
        return wrong(where, "\"flags\": expected a list");
    }
    return idempotent;
}

Result<ToolManifest> tool_of(const Json& json, const std::vector<std::string>& wants) {
    const std::string where = "manifest, tool \"" + printable(json["name"].as_string(), 64) + "\"";
    MemberReader reader(json, where);
    ToolManifest tool;
    tool.name = reader.text("name");
    tool.description = reader.text("description");
    tool.timeout = std::chrono::milliseconds(reader.optional_integer("timeout_ms", 0, 0));
    if (!is_name(tool.name, false)) {
        reader.fail("name", "[a-z][a-z0-9_]{0,63}");
    }
    if (tool.timeout > std::chrono::hours(24)) {
        reader.fail("timeout_ms", "at most a day");
    }
    if (!json["input_schema"].is_object()) {
        reader.fail("input_schema", "an object");
    }
    if (auto read = reader.outcome(); !read) {
        return read.error();
    }
    tool.input_schema = json["input_schema"].dump();
    if (auto schema = JsonSchema::compile(tool.input_schema); !schema) {
        return schema.error().during(where);
    }
    auto idempotent = is_idempotent(json["flags"], where);
    if (!idempotent) {
        return idempotent.error();
    }
    tool.idempotent = *idempotent;
    auto groups = groups_of(json["groups"], where + ", groups");
    if (!groups) {
        return groups.error();
    }
    for (const std::string& id : *groups) {
        if (std::find(wants.begin(), wants.end(), id) == wants.end()) {
            return wrong(where, "uses group " + id + ", which the manifest's \"wants\" lacks");
        }
    }
    // A tool without a list of its own uses all that the plugin wants.
    tool.groups = json["groups"].is_null() ? wants : std::move(*groups);
    if (!json["writes"].is_null()) {
        auto writes = writes_of(json["writes"], json["input_schema"], where + ", writes");
        if (!writes) {
            return writes.error();
        }
        tool.writes = std::move(*writes);
    }
    return tool;
}

/// Which tools of others it may call, and which calls it offers the host outside of turns.
Result<> add_calls_and_offers(Manifest& manifest) {
    const Json& calls = manifest.json["calls"];
    if (!calls.is_null() && (!calls.is_array() || calls.items().size() > kMaxTools)) {
        return wrong("manifest, calls", "expected a list of at most 256 names of tools");
    }
    for (const Json& name : calls.items()) {
        if (!is_name(name.as_string(), false)) {
            return wrong("manifest, calls", "a tool's name is [a-z][a-z0-9_]{0,63}");
        }
        manifest.calls.push_back(name.as_string());
    }
    const Json& offers = manifest.json["offers"];
    if (!offers.is_null() && !offers.is_array()) {
        return wrong("manifest, offers", "expected a list of maintain and health");
    }
    for (const Json& offer : offers.items()) {
        if (offer.as_string() == "maintain") {
            manifest.maintains = true;
        } else if (offer.as_string() == "health") {
            manifest.tells_health = true;
        } else {
            return Error(Errc::unsupported,
                         "manifest, offers: " + printable(offer.dump(), 80) +
                             " is not known to this host; upgrade daybook");
        }
    }
    return {};
}

Result<> add_tools(Manifest& manifest) {
    const Json& list = manifest.json["tools"];
    if (list.items().size() > kMaxTools) {
        return wrong("manifest", "more than 256 tools");
    }
    std::set<std::string> names;
    for (const Json& json : list.items()) {
        auto tool = tool_of(json, manifest.wants);
        if (!tool) {
            return tool.error();
        }
        if (!names.insert(tool->name).second) {
            return wrong("manifest", "the tool \"" + tool->name + "\" stands twice");
        }
        manifest.tools.push_back(std::move(*tool));
    }
    return {};
}

Result<> add_models_and_skills(Manifest& manifest) {
    std::set<std::string> models;
    for (const Json& json : manifest.json["models"].items()) {
        const std::string& name = json["name"].as_string();
        if (!is_name(name, true) || !models.insert(name).second) {
            return wrong("manifest, models",
                         "expected objects with names of their own, [a-z][a-z0-9_-]{0,63}");
        }
        manifest.models.push_back(name);
    }
    std::set<std::string> skills;
    for (const Json& json : manifest.json["skills"].items()) {
        MemberReader reader(json, "manifest, skills");
        SkillManifest skill;
        skill.name = reader.text("name");
        skill.description = reader.text("description");
        skill.instructions = reader.optional_text("instructions");
        if (!is_name(skill.name, true) || !skills.insert(skill.name).second) {
            reader.fail("name", "a name of its own, [a-z][a-z0-9_-]{0,63}");
        }
        if (auto read = reader.outcome(); !read) {
            return read;
        }
        manifest.skills.push_back(std::move(skill));
    }
    return {};
}

Result<> add_head(Manifest& manifest) {
    MemberReader reader(manifest.json, "manifest");
    if (const std::int64_t number = reader.integer("manifest", 1); number > kManifestNumber) {
        return Error(Errc::unsupported,
                     "manifest: number " + std::to_string(number) + " is later than this host's " +
                         std::to_string(kManifestNumber) + "; upgrade daybook");
    }
    manifest.name = reader.text("name");
    if (!is_name(manifest.name, true)) {
        reader.fail("name", "[a-z][a-z0-9_-]{0,63}");
    }
    manifest.version = reader.text("version");
    if (manifest.version.empty() || manifest.version.size() > 64) {
        reader.fail("version", "a version such as 1.0.0");
    }
    const Json::Array& abi = reader.optional_items("abi");
    constexpr std::int64_t kMaxNumber = 0xFFFF;
    const auto number_at = [&](std::size_t i) {
        return i < abi.size() ? abi[i].as_integer(-1) : -1;
    };
    if (abi.size() != 2 || number_at(0) < 1 || number_at(1) < 0 || number_at(0) > kMaxNumber ||
        number_at(1) > kMaxNumber) {
        reader.fail("abi", "two numbers, major and minor");
    }
    const std::int64_t min_host_minor = reader.optional_integer("min_host_minor", 0, 0);
    if (min_host_minor > kMaxNumber) {
        reader.fail("min_host_minor", "a smaller number");
    }
    if (manifest.json.has("profile")) {
        manifest.profile = reader.text("profile");
    }
    if (manifest.profile != "pure" && manifest.profile != "scratch") {
        reader.fail("profile", "pure or scratch");
    }
    for (const std::string_view key : {"tools", "models", "skills", "wants"}) {
        reader.optional_items(key);
    }
    if (auto read = reader.outcome(); !read) {
        return read;
    }
    manifest.abi_major = static_cast<std::uint32_t>(number_at(0));
    manifest.abi_minor = static_cast<std::uint32_t>(number_at(1));
    manifest.min_host_minor = static_cast<std::uint32_t>(min_host_minor);
    return {};
}

}  // namespace

Result<Manifest> Manifest::parse(std::string_view text) {
    JsonLimits limits;
    limits.max_bytes = kMaxManifestBytes;
    auto json = Json::parse(text, limits);
    if (!json) {
        return Error(Errc::invalid, "manifest: " + json.error().message());
    }
    Manifest manifest;
    manifest.json = std::move(*json);
    if (auto head = add_head(manifest); !head) {
        return head.error();
    }
    auto wants = groups_of(manifest.json["wants"], "manifest, wants");
    if (!wants) {
        return wants.error();
    }
    manifest.wants = std::move(*wants);
    if (auto added = add_calls_and_offers(manifest); !added) {
        return added.error();
    }
    if (auto tools = add_tools(manifest); !tools) {
        return tools.error();
    }
    if (auto rest = add_models_and_skills(manifest); !rest) {
        return rest.error();
    }
    if (const Json& schema = manifest.json["config_schema"]; !schema.is_null()) {
        manifest.config_schema = schema.dump();
        if (auto compiled = JsonSchema::compile(manifest.config_schema); !compiled) {
            return compiled.error().during("manifest, config_schema");
        }
    }
    return manifest;
}

}  // namespace daybook
