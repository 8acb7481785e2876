#include "host/plugin/plugin_set.hpp"

#include "host/plugin/registry.hpp"

namespace daybook {

const PluginEntry* PluginSet::find(std::string_view name) const {
    const auto found = entries_.find(std::string(name));
    return found == entries_.end() ? nullptr : found->second;
}

std::map<std::string, ToolOffer> PluginSet::tools_of(const DeskConfig& desk) const {
    std::map<std::string, ToolOffer> tools;
    for (const std::string& name : desk.plugins) {
        const PluginEntry* plugin = find(name);
        if (plugin == nullptr || !plugin->refused.empty()) {
            continue;
        }
        for (const ToolManifest& tool : plugin->manifest.tools) {
            tools.emplace(tool.name, ToolOffer{plugin, &tool});
        }
    }
    return tools;
}

Result<const PluginEntry*> PluginSet::model_plugin(const ModelConfig& model) const {
    const PluginEntry* plugin = find(model.plugin);
    if (plugin == nullptr) {
        return Error(Errc::not_found,
                     "model \"" + model.name + "\": no plugin \"" + model.plugin + "\"");
    }
    if (!plugin->refused.empty()) {
        return Error(Errc::refused, "model \"" + model.name + "\": " + plugin->refused);
    }
    if (plugin->manifest.models.empty()) {
        return Error(Errc::unsupported,
                     "model \"" + model.name + "\": " + "plugin \"" + plugin->config.name + "\" (" +
                         plugin->file.string() +
                         "): it offers no model; name a model backend in [model." + model.name +
                         "]");
    }
    return plugin;
}

}  // namespace daybook
