// The table of docs/leash.md: what each kind of turn may do.
#include <algorithm>
#include <array>
#include <utility>

#include "host/gate/leash.hpp"

namespace daybook {
namespace {

constexpr unsigned kEveryOperation = kAppend | kReplace | kEdit;
constexpr int kNotesOfMessage = 3;
constexpr int kNotesOfWorker = 3;  // "one to three lessons"

constexpr std::array<std::pair<std::string_view, unsigned>, 9> kGroupNames = {{
    {"desk-files/1", kDeskFiles},
    {"history/1", kHistory},
    {"scratch/1", kScratch},
    {"tools/1", kTools},
    {"http/1", kHttp},
    {"process/1", kProcess},
    {"journal/1", kJournal},
    {"triggers/1", kTriggers},
    {"clock/1", kClock},
}};
constexpr std::string_view kIdPrefix = "daybook.";

}  // namespace

std::optional<unsigned> group_of(std::string_view extension_id) noexcept {
    if (!extension_id.starts_with(kIdPrefix)) {
        return std::nullopt;
    }
    extension_id.remove_prefix(kIdPrefix.size());
    for (const auto& [name, bit] : kGroupNames) {
        if (name == extension_id) {
            return bit;
        }
    }
    return std::nullopt;
}

std::string names_of_groups(unsigned groups) {
    std::string names;
    for (const auto& [name, bit] : kGroupNames) {
        if ((groups & bit) != 0) {
            names += (names.empty() ? "" : ", ") + std::string(name);
        }
    }
    return names.empty() ? "none" : names;
}

std::string_view name_of(TurnKind kind) noexcept {
    switch (kind) {
        case TurnKind::message:
            return "message";
        case TurnKind::job:
            return "job";
        case TurnKind::alert:
            return "alert";
        case TurnKind::fill:
            return "fill";
        case TurnKind::owner_call:
            return "owner_call";
        case TurnKind::note_worker:
            return "note_worker";
        case TurnKind::flush:
            return "flush";
        case TurnKind::summary:
            return "summary";
        case TurnKind::fold:
            return "fold";
        case TurnKind::curator:
            break;
    }
    return "curator";
}

bool is_quiet(TurnKind kind) noexcept {
    switch (kind) {
        case TurnKind::message:
        case TurnKind::job:
        case TurnKind::alert:
        case TurnKind::fill:
        case TurnKind::owner_call:
            return false;
        case TurnKind::note_worker:
        case TurnKind::flush:
        case TurnKind::summary:
        case TurnKind::fold:
        case TurnKind::curator:
            break;
    }
    return true;
}

TurnAllowance TurnAllowance::of(TurnKind kind, DeskDate day) {
    TurnAllowance allowance;
    allowance.kind_ = kind;
    allowance.day_ = day;
    allowance.groups_ = is_quiet(kind) ? kAllGroups & ~kExternalGroups : kAllGroups;
    const Pattern notes{"notes/" + day.str() + ".md", false, kAppend};
    const Pattern memory_file{"Memory.md", false, kEveryOperation};
    const Pattern memory{"memory/", true, kEveryOperation};
    const Pattern skills{"skills/", true, kEveryOperation};
    switch (kind) {
        case TurnKind::message:
        case TurnKind::owner_call:
            allowance.patterns_ = {notes, memory_file, memory, skills};
            allowance.notes_left = kNotesOfMessage;
            allowance.skips_meters = true;
            break;
        case TurnKind::job:
        case TurnKind::fill:
            allowance.patterns_ = {notes, memory, skills};
            break;
        case TurnKind::alert:
            allowance.patterns_ = {notes};
            break;
        case TurnKind::note_worker:
            allowance.patterns_ = {notes};
            allowance.only_tools_ = {"add_note"};
            allowance.notes_left = kNotesOfWorker;
            break;
        case TurnKind::flush:
            allowance.patterns_ = {notes, {"Memory.md", false, kEdit}};
            allowance.only_tools_ = {"add_note", "edit_file"};
            break;
        case TurnKind::summary:
            allowance.no_tools_ = true;
            break;
        case TurnKind::fold:
            allowance.only_tools_ = {"propose_*"};
            break;
        case TurnKind::curator:
            allowance.patterns_ = {memory, skills};
            allowance.only_tools_ = {"archive_*"};
            break;
    }
    return allowance;
}

unsigned TurnAllowance::operations_on(const DeskPath& path) const {
    if (!path.is_own()) {
        return 0;
    }
    for (const Pattern& pattern : patterns_) {
        if (pattern.is_folder ? path.str().starts_with(pattern.prefix)
                              : path.str() == pattern.prefix) {
            return pattern.operations;
        }
    }
    return 0;
}

bool TurnAllowance::allows_tool(std::string_view tool) const {
    if (no_tools_) {
        return false;
    }
    const auto matches = [&](const std::string& allowed) {
        return allowed.ends_with('*')
                   ? tool.starts_with(std::string_view(allowed).substr(0, allowed.size() - 1))
                   : tool == allowed;
    };
    return only_tools_.empty() || std::any_of(only_tools_.begin(), only_tools_.end(), matches);
}

std::string TurnAllowance::describe() const {
    std::string text;
    for (const Pattern& pattern : patterns_) {
        text += (text.empty() ? "" : ", ") + pattern.prefix + (pattern.is_folder ? "**" : "");
        if (pattern.operations != kEveryOperation) {
            text += " (" + names_of_operations(pattern.operations) + ")";
        }
    }
    return text.empty() ? "no file" : text;
}

std::string TurnAllowance::describe_tools() const {
    if (no_tools_) {
        return "no tools";
    }
    std::string text;
    for (const std::string& tool : only_tools_) {
        text += (text.empty() ? "" : ", ") + tool;
    }
    return text.empty() ? "every tool" : text + " only";
}

}  // namespace daybook
