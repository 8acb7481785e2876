#include "host/turn/turn_inputs.hpp"

#include "host/format/sha256.hpp"

namespace daybook {
namespace {

/// A file's text; nullopt when it does not exist. Another failure is named in `left_out`.
std::optional<std::string> read_own(DeskParts& parts,
                                    const DeskPath& path,
                                    std::string_view part,
                                    std::vector<std::string>& left_out) {
    ShownFiles unused;  // only what reaches the model whole counts as shown
    auto text = parts.gate.read(unused, path);
    if (text) {
        return std::move(*text);
    }
    if (text.error().code() != Errc::not_found) {
        left_out.push_back(std::string(part) + ": not shown: " + text.error().message());
    }
    return std::nullopt;
}

void remember_shown(ShownFiles& shown,
                    const DeskPath& path,
                    const std::optional<std::string>& text) {
    shown.remember(path, text ? sha256_hex(*text) : "");
}

std::vector<const SkillManifest*> skills_of(const DeskParts& parts) {
    std::vector<const SkillManifest*> skills;
    for (const std::string& name : parts.config.plugins) {
        const PluginEntry* plugin = parts.services.registry.find(name);
        if (plugin == nullptr || !plugin->refused.empty()) {
            continue;
        }
        for (const SkillManifest& skill : plugin->manifest.skills) {
            skills.push_back(&skill);
        }
    }
    return skills;
}

std::string summary_of(const SessionStore& sessions) {
    const auto& lines = sessions.conversation();
    return !lines.empty() && lines.front().kind == "opening" ? lines.front().text : "";
}

}  // namespace

FixedPart gather_fixed_part(DeskParts& parts, TurnScope& scope) {
    std::vector<std::string> unread;
    FixedSources sources;
    sources.instructions = parts.config.instructions.empty()
                               ? default_instructions(parts.config.name, parts.zone.name())
                               : parts.config.instructions;
    sources.skills = skills_of(parts);
    sources.summary = summary_of(parts.sessions);
    const auto memory = DeskPath::parse("Memory.md");
    const auto notes = DeskPath::parse("notes/" + scope.day.str() + ".md");
    if (!memory || !notes) {
        return build_fixed_part(sources);  // both names are constant and good
    }
    sources.memory = read_own(parts, *memory, "memory", unread);
    const bool memory_read = unread.empty();
    sources.notes = read_own(parts, *notes, "notes", unread);
    const bool notes_read = unread.size() == (memory_read ? 0U : 1U);
    FixedPart fixed = build_fixed_part(sources);
    if (fixed.memory_is_whole && memory_read) {
        remember_shown(scope.shown, *memory, sources.memory);
    }
    if (fixed.notes_are_whole && notes_read) {
        remember_shown(scope.shown, *notes, sources.notes);
    }
    fixed.left_out.insert(fixed.left_out.end(), unread.begin(), unread.end());
    return fixed;
}

Json gather_tools(const DeskParts& parts, const TurnScope& scope) {
    std::vector<ToolOffer> offers;
    for (const auto& [name, offer] : parts.tools) {
        if (scope.allowance.allows_tool(name)) {
            offers.push_back(offer);
        }
    }
    return describe_tools(offers);
}

}  // namespace daybook
