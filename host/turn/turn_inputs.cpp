#include "host/turn/turn_inputs.hpp"

#include "host/format/sha256.hpp"
#include "host/turn/day_summary.hpp"

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
        const PluginEntry* plugin = parts.plugins.find(name);
        if (plugin == nullptr || !plugin->refused.empty()) {
            continue;
        }
        for (const SkillManifest& skill : plugin->manifest.skills) {
            skills.push_back(&skill);
        }
    }
    return skills;
}

std::string instructions_of(const DeskParts& parts) {
    return parts.config.instructions.empty()
               ? default_instructions(parts.config.name, parts.zone.name())
               : parts.config.instructions;
}

/// Memory.md and the day's notes into the sources; what reached them whole counts as shown.
FixedPart build_with_files(DeskParts& parts, TurnScope& scope, FixedSources sources) {
    const auto memory = DeskPath::parse("Memory.md");
    const auto notes = DeskPath::parse("notes/" + scope.day.str() + ".md");
    if (!memory || !notes) {
        return build_fixed_part(sources);  // both names are constant and good
    }
    std::vector<std::string> unread;
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

}  // namespace

FixedPart gather_fixed_part(DeskParts& parts, TurnScope& scope) {
    FixedSources sources;
    sources.instructions = instructions_of(parts);
    sources.skills = skills_of(parts);
    sources.summary = current_summary(parts.sessions);
    return build_with_files(parts, scope, std::move(sources));
}

FixedPart gather_summary_part(DeskParts& parts, DeskDate day, std::string_view task) {
    TurnScope nobody;  // a summary writes nothing: what it is shown is no base for a write
    nobody.day = day;
    FixedSources sources;
    sources.instructions = instructions_of(parts);
    FixedPart fixed = build_with_files(parts, nobody, std::move(sources));
    fixed.parts.push(Json::object().set("name", "task").set("text", task));
    return fixed;
}

RequestFrame make_frame(const DeskParts& parts,
                        const TurnScope& scope,
                        const ModelChoice& model,
                        std::int64_t window) {
    RequestFrame frame;
    frame.desk = parts.config.name;
    frame.turn = scope.turn;
    frame.session = scope.session;
    frame.kind = name_of(scope.kind);
    frame.now = parts.zone.local(parts.services.clock.now());
    frame.model = model.config->model;
    frame.day = scope.day;
    frame.config = request_config(*model.config);
    frame.window = window;
    return frame;
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
