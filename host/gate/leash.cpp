#include "host/gate/leash.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "host/gate/content_rules.hpp"

namespace daybook {
namespace {

// A call's budgets when nothing narrower is said.
constexpr std::int64_t kBytesOfCall = static_cast<std::int64_t>(kMaxOtherFile);
constexpr int kWritesOfCall = 8;
constexpr int kNestedCallsOfCall = 16;
constexpr int kTriggersOfCall = 8;

constexpr std::array<std::pair<unsigned, std::string_view>, 3> kOperationNames = {
    {{kAppend, "append"}, {kReplace, "replace"}, {kEdit, "edit"}}};

std::string turn_text(TurnKind kind) {
    if (kind == TurnKind::owner_call) {
        return "an owner's call";
    }
    std::string name(name_of(kind));
    std::replace(name.begin(), name.end(), '_', ' ');
    return (kind == TurnKind::alert ? "an " : "a ") + name + " turn";
}

/// The rule's path with {day} filled in, or the argument's value.
Result<DeskPath> path_of_call(const ToolManifest& tool,
                              const WritesRule& rule,
                              const Json& arguments,
                              DeskDate day) {
    std::string text = rule.fixed;
    if (rule.fixed.empty()) {
        const Json& value = arguments[rule.argument];
        if (!value.is_string()) {
            return Error(
                Errc::invalid,
                tool.name + ": \"" + rule.argument + "\" must be the path of a file, as text");
        }
        text = value.as_string();
    } else {
        constexpr std::string_view kDay = "{day}";
        if (const std::size_t at = text.find(kDay); at != std::string::npos) {
            text.replace(at, kDay.size(), day.str());
        }
    }
    auto path = DeskPath::parse(text);
    return path ? path : path.error().during(tool.name);
}

unsigned groups_of_tool(const ToolManifest& tool, unsigned plugin_groups) {
    if (tool.groups.empty()) {
        return plugin_groups;
    }
    unsigned groups = 0;
    for (const std::string& id : tool.groups) {
        groups |= group_of(id).value_or(0);
    }
    return groups & plugin_groups;
}

/// What the leash allows, for a sentence: "notes/2026-10-19.md only".
std::string allowed_text(const Leash& leash) {
    return leash.file ? leash.file->path.str() + " only" : "no file";
}

Error refused(const DeskPath& path, const std::string& rule) {
    return Error(Errc::refused, "write " + path.str() + ": leash allows " + rule);
}

Result<> check_deadline(const Leash& leash, const std::string& doing, SteadyTime now) {
    for (const Leash* at = &leash; at != nullptr; at = at->parent) {
        if (now >= at->deadline) {
            return Error(Errc::deadline, doing + ": the call's time is over");
        }
    }
    return {};
}

Result<> check_file(const Leash& leash, const DeskPath& path, FileOperation operation) {
    if (!leash.file || leash.file->path != path) {
        return refused(path, allowed_text(leash));
    }
    if ((leash.file->operations & operation) == 0) {
        return refused(path,
                       names_of_operations(leash.file->operations) + " only, not " +
                           names_of_operations(operation));
    }
    if ((leash.groups & kDeskFiles) == 0) {
        return refused(path,
                       "no changes of files: the group desk-files/1 is not among " +
                           names_of_groups(leash.groups));
    }
    return {};
}

}  // namespace

std::string names_of_operations(unsigned operations) {
    std::string names;
    for (const auto& [bit, name] : kOperationNames) {
        if ((operations & bit) != 0) {
            names += (names.empty() ? "" : ", ") + std::string(name);
        }
    }
    return names.empty() ? "nothing" : names;
}

Json Leash::to_json(SteadyTime now) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
    Json operations = Json::array();
    for (const auto& [bit, name] : kOperationNames) {
        if (file && (file->operations & bit) != 0) {
            operations.push(name);
        }
    }
    Json json = Json::object();
    json.set("file", file ? Json(file->path.str()) : Json());
    json.set("ops", std::move(operations));
    json.set("groups", names_of_groups(groups));
    json.set("bytes", bytes_left);
    json.set("writes", writes_left);
    json.set("calls", calls_left);
    json.set("triggers", triggers_left);
    json.set("deadline_ms", std::max<std::int64_t>(0, left.count()));
    return json;
}

std::string_view effect_of_tool(const ToolManifest& tool, unsigned plugin_groups) {
    if ((groups_of_tool(tool, plugin_groups) & kExternalGroups) != 0) {
        return "external";
    }
    return tool.writes ? "desk_write" : "read";
}

Result<Leash> derive_leash(const TurnAllowance& allowance,
                           const ToolManifest& tool,
                           unsigned plugin_groups,
                           const Json& arguments,
                           SteadyTime deadline) {
    if (!allowance.allows_tool(tool.name)) {
        return Error(Errc::refused,
                     tool.name + ": " + turn_text(allowance.kind()) + " allows " +
                         allowance.describe_tools());
    }
    Leash leash;
    leash.tool = tool.name;
    leash.groups = groups_of_tool(tool, plugin_groups) & allowance.groups();
    leash.calls_left = kNestedCallsOfCall;
    leash.triggers_left = (leash.groups & kTriggers) != 0 ? kTriggersOfCall : 0;
    leash.deadline = deadline;
    if (!tool.writes) {
        return leash;
    }
    auto path = path_of_call(tool, *tool.writes, arguments, allowance.day());
    if (!path) {
        return path.error();
    }
    const unsigned allowed = allowance.operations_on(*path);
    const unsigned operations = allowed & tool.writes->operations;
    if (operations == 0) {
        const std::string rule = allowed == 0
                                     ? allowance.describe()
                                     : path->str() + " (" + names_of_operations(allowed) + ")";
        return Error(Errc::refused,
                     "write " + path->str() + ": " + turn_text(allowance.kind()) + " allows " +
                         rule + " only");
    }
    leash.file = FileGrant{std::move(*path), operations};
    leash.bytes_left = kBytesOfCall;
    leash.writes_left = kWritesOfCall;
    return leash;
}

Result<Leash> attenuate(Leash& parent, Leash wanted) {
    const std::string doing = "call " + wanted.tool;
    if (parent.depth >= kMaxCallDepth) {
        return Error(
            Errc::refused,
            doing + ": calls are nested " + std::to_string(kMaxCallDepth) + " deep already");
    }
    for (const Leash* at = &parent; at != nullptr; at = at->parent) {
        if (at->calls_left <= 0) {
            return Error(Errc::refused,
                         doing + ": the leash of " + at->tool + " allows no more calls");
        }
    }
    if (!wanted.desk.empty() && wanted.desk != parent.desk) {
        return Error(Errc::refused, doing + ": leash allows desk " + parent.desk + " only");
    }
    if (wanted.file) {
        if (!parent.file || parent.file->path != wanted.file->path) {
            return refused(wanted.file->path, allowed_text(parent)).during(doing);
        }
        const unsigned operations = wanted.file->operations & parent.file->operations;
        if (operations == 0) {
            return refused(wanted.file->path,
                           names_of_operations(parent.file->operations) + " only")
                .during(doing);
        }
        wanted.file->operations = operations;
    }
    wanted.desk = parent.desk;
    wanted.turn = parent.turn;
    wanted.groups &= parent.groups;
    wanted.bytes_left = std::min(wanted.bytes_left, parent.bytes_left);
    wanted.writes_left = std::min(wanted.writes_left, parent.writes_left);
    wanted.triggers_left = std::min(wanted.triggers_left, parent.triggers_left);
    wanted.deadline = std::min(wanted.deadline, parent.deadline);
    wanted.depth = parent.depth + 1;
    wanted.parent = &parent;
    for (Leash* at = &parent; at != nullptr; at = at->parent) {
        --at->calls_left;
        wanted.calls_left = std::min(wanted.calls_left, at->calls_left);
    }
    return wanted;
}

Result<> check_write(const Leash& leash,
                     const DeskPath& path,
                     FileOperation operation,
                     std::size_t bytes,
                     SteadyTime now) {
    for (const Leash* at = &leash; at != nullptr; at = at->parent) {
        if (auto file = check_file(*at, path, operation); !file) {
            return file;
        }
        if (at->writes_left <= 0) {
            return refused(path, "no more writes in this call");
        }
        if (at->bytes_left < 0 || bytes > static_cast<std::uint64_t>(at->bytes_left)) {
            return refused(path,
                           std::to_string(std::max<std::int64_t>(0, at->bytes_left)) +
                               " more bytes, not " + std::to_string(bytes));
        }
    }
    return check_deadline(leash, "write " + path.str(), now);
}

void charge_write(Leash& leash, std::size_t bytes) {
    for (Leash* at = &leash; at != nullptr; at = at->parent) {
        at->bytes_left -= static_cast<std::int64_t>(bytes);
        --at->writes_left;
    }
}

Result<> charge_trigger(Leash& leash) {
    for (const Leash* at = &leash; at != nullptr; at = at->parent) {
        if (at->triggers_left <= 0) {
            return Error(Errc::refused,
                         "hand over a trigger: the leash of " + at->tool + " allows no more, " +
                             std::to_string(kTriggersOfCall) + " a call");
        }
    }
    for (Leash* at = &leash; at != nullptr; at = at->parent) {
        --at->triggers_left;
    }
    return {};
}

Result<> check_group(const Leash& leash, Group group, SteadyTime now) {
    for (const Leash* at = &leash; at != nullptr; at = at->parent) {
        if ((at->groups & group) == 0) {
            return Error(Errc::refused,
                         "use " + names_of_groups(group) + ": leash allows " +
                             names_of_groups(at->groups) + (at->groups == 0 ? "" : " only"));
        }
    }
    return check_deadline(leash, "use " + names_of_groups(group), now);
}

}  // namespace daybook
