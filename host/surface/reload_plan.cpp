#include "host/surface/reload_plan.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "host/format/json.hpp"

namespace daybook {
namespace {

using Tables = std::map<std::string, std::string>;

std::string table_of(const Tables& tables, const std::string& name) {
    const auto found = tables.find(name);
    return found == tables.end() ? std::string() : found->second;
}

/// [host] without what no desk has to be opened again for.
std::string limits_of(const Tables& tables) {
    constexpr std::array<std::string_view, 4> kOwnWay = {
        "log_level", "stop_grace", "desk_idle", "replay_start"};
    const auto json = Json::parse(table_of(tables, "host"));
    Json left = Json::object();
    if (json) {
        for (const auto& [key, value] : json->members()) {
            if (std::find(kOwnWay.begin(), kOwnWay.end(), key) == kOwnWay.end()) {
                left.set(key, value);
            }
        }
    }
    return left.dump();
}

/// Tables of what the desk works with: its own, its models' and its plugins'.
std::set<std::string> used_by(const DeskConfig& desk, const Config& config) {
    std::set<std::string> used = {"desk." + desk.name};
    for (const std::string& plugin : desk.plugins) {
        used.insert("plugin." + plugin);
    }
    for (const std::string& model : desk.models) {
        used.insert("model." + model);
        const auto found = config.models.find(model);
        if (found != config.models.end()) {
            used.insert("plugin." + found->second.plugin);
        }
    }
    return used;
}

/// A table of a kind that concerns every desk (none is known today) differs.
bool others_differ(const Tables& before, const Tables& after) {
    const auto own = [](const std::string& name) {
        return name == "host" || name.starts_with("desk.") || name.starts_with("model.") ||
               name.starts_with("plugin.");
    };
    std::set<std::string> names;
    for (const Tables* tables : {&before, &after}) {
        for (const auto& [name, text] : *tables) {
            names.insert(name);
        }
    }
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return !own(name) && table_of(before, name) != table_of(after, name);
    });
}

}  // namespace

ReloadPlan plan_reload(const Tables& before,
                       const Config& old,
                       const Tables& after,
                       const Config& fresh) {
    ReloadPlan plan;
    for (const auto& [name, desk] : old.desks) {
        if (!fresh.desks.contains(name)) {
            plan.removed.push_back(name);
        }
    }
    const bool all = limits_of(before) != limits_of(after) || others_differ(before, after);
    for (const auto& [name, desk] : fresh.desks) {
        const auto was = old.desks.find(name);
        if (was == old.desks.end()) {
            plan.added.push_back(name);
            continue;
        }
        std::set<std::string> used = used_by(desk, fresh);
        used.merge(used_by(was->second, old));
        if (all || std::any_of(used.begin(), used.end(), [&](const std::string& table) {
                return table_of(before, table) != table_of(after, table);
            })) {
            plan.changed.push_back(name);
        }
    }
    if (old.host.replay_start != fresh.host.replay_start) {
        plan.at_next_start.emplace_back("host.replay_start");
    }
    return plan;
}

}  // namespace daybook
