// The descriptor as JSON, and its comparison with the manifest. Manifest and binary drift apart in
// every plugin system that lets them; here the runner refuses the difference, so that what the
// owner approved is what runs.
#include <array>
#include <string>
#include <string_view>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>
#include <daybook/ext/draft/skill.h>

#include "host/format/json.hpp"
#include "host/runner/module.hpp"

namespace daybook::runner {
namespace {

constexpr std::uint32_t kKnownToolFlags = DAYBOOK_TOOL_IDEMPOTENT | DAYBOOK_TOOL_REENTRANT;

Error malformed(const std::string& what) {
    return Error(Errc::invalid, "descriptor: " + what);
}

Result<> check_size(std::string_view what, std::size_t got, std::size_t wanted) {
    if (got < wanted) {
        return malformed(std::string(what) + " has struct_size " + std::to_string(got) +
                         "; ABI 1.0 has " + std::to_string(wanted) +
                         "; rebuild the plugin with this SDK");
    }
    return {};
}

/// Adds text as a string, when there is any.
void set_text(Json& object, std::string_view key, const char* text) {
    if (text != nullptr) {
        object.set(key, text);
    }
}

/// Adds text that is JSON itself.
Result<> set_json(Json& object, std::string_view key, const char* text) {
    if (text == nullptr) {
        return {};
    }
    auto value = Json::parse(text);
    if (!value) {
        return value.error().during("descriptor: " + object["name"].as_string() + "." +
                                    std::string(key));
    }
    object.set(key, *std::move(value));
    return {};
}

void set_words(Json& object, std::string_view key, const char* text) {
    if (text == nullptr) {
        return;
    }
    Json words = Json::array();
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (!word.empty()) {
            words.push(word);
        }
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    object.set(key, std::move(words));
}

std::string hexadecimal(std::uint32_t value) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789abcdef"[value & 0xFU]);
        value >>= 4U;
    } while (value != 0);
    return "0x" + text;
}

Result<Json> tool_json(const daybook_tool* tool) {
    if (tool == nullptr) {
        return malformed("a tool is NULL");
    }
    if (auto size = check_size("a tool", tool->struct_size, sizeof(daybook_tool)); !size) {
        return size.error();
    }
    if (tool->name == nullptr || tool->input_schema == nullptr || tool->call == nullptr) {
        return malformed("a tool lacks its name, input_schema or call");
    }
    if ((tool->flags & ~kKnownToolFlags) != 0) {
        return Error(Errc::refused,
                     std::string("descriptor: tool ") + tool->name + ": flag " +
                         hexadecimal(tool->flags & ~kKnownToolFlags) +
                         " needs a newer host ABI than 1.0; upgrade daybook, or "
                         "build the plugin without it");
    }
    Json json = Json::object();
    json.set("name", tool->name);
    set_text(json, "description", tool->description);
    const std::array<std::pair<const char*, const char*>, 3> texts{
        {{"input_schema", tool->input_schema},
         {"output_schema", tool->output_schema},
         {"writes", tool->writes}}};
    for (const auto& [key, text] : texts) {
        if (auto set = set_json(json, key, text); !set) {
            return set.error();
        }
    }
    set_words(json, "groups", tool->groups);
    json.set("timeout_ms", static_cast<std::int64_t>(tool->default_timeout_ms));
    Json flags = Json::array();
    if ((tool->flags & DAYBOOK_TOOL_IDEMPOTENT) != 0) {
        flags.push("idempotent");
    }
    if ((tool->flags & DAYBOOK_TOOL_REENTRANT) != 0) {
        flags.push("reentrant");
    }
    json.set("flags", std::move(flags));
    return json;
}

Result<Json> model_json(const daybook_model* model) {
    if (model == nullptr) {
        return malformed("a model is NULL");
    }
    if (auto size = check_size("a model", model->struct_size, sizeof(daybook_model)); !size) {
        return size.error();
    }
    if (model->name == nullptr || model->turn == nullptr || model->ready == nullptr) {
        return malformed("a model lacks its name, turn or ready");
    }
    return Json::object().set("name", model->name);
}

Result<Json> skill_json(const daybook_skill* skill) {
    if (skill == nullptr) {
        return malformed("a skill is NULL");
    }
    if (auto size = check_size("a skill", skill->struct_size, sizeof(daybook_skill)); !size) {
        return size.error();
    }
    if (skill->name == nullptr) {
        return malformed("a skill lacks its name");
    }
    Json json = Json::object();
    json.set("name", skill->name);
    set_text(json, "description", skill->description);
    set_text(json, "instructions", skill->instructions);
    if (auto set = set_json(json, "jobs", skill->jobs); !set) {
        return set.error();
    }
    set_words(json, "trigger_kinds", skill->trigger_kinds);
    return json;
}

template <class Element>
Result<Json> list_json(const Element* const* elements,
                       std::size_t count,
                       Result<Json> (*one)(const Element*)) {
    if (count > 0 && elements == nullptr) {
        return malformed("a list has a count but no elements");
    }
    Json list = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
        auto json = one(elements[i]);
        if (!json) {
            return json.error();
        }
        list.push(*std::move(json));
    }
    return list;
}

Error differs(const std::string& where, const Json& descriptor, const Json& note) {
    const auto shown = [](const Json& value) {
        std::string text = value.is_null() ? "nothing" : value.dump();
        return text.size() > 80 ? text.substr(0, 80) + "…" : text;
    };
    return Error(Errc::refused,
                 "the descriptor differs from the manifest in " + where + ": it says " +
                     shown(descriptor) + ", the manifest says " + shown(note) +
                     ". Rebuild the plugin so that both come from one source");
}

/// A manifest written by hand may leave out what is the default.
bool is_default(const std::string& key, const Json& value) {
    return (key == "timeout_ms" && value == Json(0)) || (key == "flags" && value == Json::array());
}

Result<> compare_objects(const std::string& where, const Json& descriptor, const Json& note) {
    for (const auto& [key, value] : descriptor.members()) {
        const bool left_out = !note.has(key) && is_default(key, value);
        if (!left_out && value != note[key]) {
            return differs(where + "." + key, value, note[key]);
        }
    }
    for (const auto& [key, value] : note.members()) {
        if (!descriptor.has(key)) {
            return differs(where + "." + key, Json(), value);
        }
    }
    return {};
}

Result<> compare_lists(const std::string& name, const Json& descriptor, const Json& note) {
    const auto& ours = descriptor.items();
    const auto& theirs = note.items();
    if (ours.size() != theirs.size()) {
        return differs("the number of " + name, ours.size(), theirs.size());
    }
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (auto same = compare_objects(name + "[" + std::to_string(i) + "]", ours[i], theirs[i]);
            !same) {
            return same;
        }
    }
    return {};
}

Result<Json> descriptor_json(const daybook_plugin& plugin, const Json& note) {
    if (plugin.name == nullptr || plugin.version == nullptr) {
        return malformed("the plugin lacks its name or version");
    }
    auto tools = list_json(plugin.tools, plugin.tool_count, &tool_json);
    if (!tools) {
        return tools.error();
    }
    auto models = list_json(plugin.models, plugin.model_count, &model_json);
    if (!models) {
        return models.error();
    }
    auto skills = list_json(plugin.skills, plugin.skill_count, &skill_json);
    if (!skills) {
        return skills.error();
    }
    Json json = Json::object();
    json.set("manifest", 1);
    json.set("name", plugin.name);
    json.set("version", plugin.version);
    json.set("abi",
             Json::array({static_cast<std::int64_t>(plugin.abi_major),
                          static_cast<std::int64_t>(plugin.abi_minor)}));
    json.set("min_host_minor", static_cast<std::int64_t>(plugin.min_host_minor));
    for (const char* key : {"profile", "wants", "calls", "offers"}) {  // said by the manifest alone
        if (note.has(key)) {
            json.set(key, note[key]);
        }
    }
    json.set("tools", *std::move(tools))
        .set("models", *std::move(models))
        .set("skills", *std::move(skills));
    if (note.has("config_schema")) {
        json.set("config_schema", note["config_schema"]);
    }
    return json;
}

/// What the manifest offers must be there, and nothing beside it.
Result<> check_offers(const daybook_plugin& plugin, const Manifest& manifest) {
    const auto* maintenance = plugin.get_extension == nullptr
                                  ? nullptr
                                  : static_cast<const daybook_maintenance*>(
                                        plugin.get_extension(DAYBOOK_EXT_MAINTENANCE));
    const bool maintains = DAYBOOK_HAS(daybook_maintenance, maintenance, maintain);
    const bool tells_health = DAYBOOK_HAS(daybook_maintenance, maintenance, health);
    if (maintains != manifest.maintains) {
        return differs("offers, maintain", maintains, manifest.maintains);
    }
    if (tells_health != manifest.tells_health) {
        return differs("offers, health", tells_health, manifest.tells_health);
    }
    return {};
}

}  // namespace

Result<std::string> check_descriptor(const daybook_plugin& descriptor, const Manifest& manifest) {
    if (auto size = check_size("the plugin", descriptor.struct_size, sizeof(daybook_plugin));
        !size) {
        return size.error();
    }
    const Json& note = manifest.json;
    auto json = descriptor_json(descriptor, note);
    if (!json) {
        return json.error();
    }
    for (const char* key : {"name", "version", "abi"}) {
        if ((*json)[key] != note[key]) {
            return differs(key, (*json)[key], note[key]);
        }
    }
    if (descriptor.min_host_minor != manifest.min_host_minor) {
        return differs("min_host_minor", (*json)["min_host_minor"], note["min_host_minor"]);
    }
    for (const char* key : {"tools", "models", "skills"}) {
        if (auto same = compare_lists(key, (*json)[key], note[key]); !same) {
            return same.error();
        }
    }
    if (auto same = check_offers(descriptor, manifest); !same) {
        return same.error();
    }
    return json->dump();
}

}  // namespace daybook::runner
