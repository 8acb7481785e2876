#include "host/turn/fixed_share.hpp"

#include "host/turn/context_meter.hpp"
#include "host/turn/desk.hpp"
#include "host/turn/prompt.hpp"

namespace daybook {
namespace {

std::optional<std::string> text_of(const Desk& desk, const std::string& name) {
    const auto path = DeskPath::parse(name);
    auto text = path ? desk.read_own_file(*path) : Result<std::string>(path.error());
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

}  // namespace

std::int64_t fixed_tokens(const Desk& desk, const Registry& registry, DeskDate day) {
    FixedSources sources;
    const DeskConfig& config = desk.config();
    sources.instructions = config.instructions.empty()
                               ? default_instructions(config.name, desk.zone().name())
                               : config.instructions;
    for (const std::string& name : config.plugins) {
        const PluginEntry* plugin = registry.find(name);
        if (plugin == nullptr || !plugin->refused.empty()) {
            continue;
        }
        for (const SkillManifest& skill : plugin->manifest.skills) {
            sources.skills.push_back(&skill);
        }
    }
    sources.memory = text_of(desk, "Memory.md");
    sources.notes = text_of(desk, "notes/" + day.str() + ".md");
    std::vector<ToolOffer> offers;
    const auto tools = desk.tools();
    for (const auto& [name, offer] : tools) {
        offers.push_back(offer);
    }
    const std::size_t bytes =
        build_fixed_part(sources).parts.dump().size() + describe_tools(offers).dump().size();
    return ContextMeter().estimate("", bytes);
}

}  // namespace daybook
