#include "host/plugin/plugin_wants.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace daybook {
namespace {

using List = std::vector<std::string>;

struct Part {
    const char* member;     ///< in the lock
    std::string_view verb;  ///< in a sentence
    List PluginWants::*list;
};

constexpr std::array<Part, 5> kParts{{{"wants", "wants ", &PluginWants::groups},
                                      {"calls", "calls ", &PluginWants::calls},
                                      {"origins", "reaches ", &PluginWants::origins},
                                      {"programs", "starts ", &PluginWants::programs},
                                      {"reads", "reads ", &PluginWants::reads}}};

List texts_of(const Json& json) {
    List list;
    for (const Json& item : json.items()) {
        if (item.is_string()) {
            list.push_back(item.as_string());
        }
    }
    return list;
}

std::string joined(const List& list) {
    std::string text;
    for (const std::string& item : list) {
        text += (text.empty() ? "" : ", ") + item;
    }
    return text;
}

}  // namespace

PluginWants wants_of(const Manifest& manifest) {
    PluginWants wants = wants_from(manifest.json);
    wants.profile = manifest.profile;
    wants.groups = manifest.wants;
    wants.calls = manifest.calls;
    return wants;
}

Json wants_json(const PluginWants& wants) {
    Json json = Json::object().set("profile", wants.profile);
    for (const Part& part : kParts) {
        Json list = Json::array();
        for (const std::string& item : wants.*part.list) {
            list.push(item);
        }
        json.set(part.member, std::move(list));
    }
    return json;
}

PluginWants wants_from(const Json& json) {
    PluginWants wants;
    if (json["profile"].is_string()) {
        wants.profile = json["profile"].as_string();
    }
    for (const Part& part : kParts) {
        wants.*part.list = texts_of(json[part.member]);
    }
    return wants;
}

std::string wants_text(const PluginWants& wants) {
    std::string text = "profile " + wants.profile;
    for (const Part& part : kParts) {
        if (const List& list = wants.*part.list; !list.empty()) {
            text += ", " + std::string(part.verb) + joined(list);
        }
    }
    return text + (wants.groups.empty() ? ", wants nothing of the host" : "");
}

std::string more_wants(const PluginWants& before, const PluginWants& after) {
    std::string text;
    const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
    if (after.profile != before.profile && after.profile != "pure") {
        add("profile " + after.profile + " (was " + before.profile + ")");
    }
    for (const Part& part : kParts) {
        const List& had = before.*part.list;
        for (const std::string& item : after.*part.list) {
            if (std::find(had.begin(), had.end(), item) == had.end()) {
                add(part.list == &PluginWants::groups ? item : std::string(part.verb) + item);
            }
        }
    }
    return text;
}

}  // namespace daybook
