// The plugins in force at one moment: name -> entry. A desk takes one before its work and keeps it
// until that work ends, so that a swap in the middle of a turn changes nothing for the turn.
//
// Entries live as long as the Registry that they come from. Thread: a value, the owner's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/format/manifest.hpp"

namespace daybook {

struct PluginEntry;

/// A tool of a desk and where it comes from.
struct ToolOffer {
    const PluginEntry* plugin = nullptr;
    const ToolManifest* tool = nullptr;
};

class PluginSet {
  public:
    using Entries = std::map<std::string, const PluginEntry*>;

    PluginSet() = default;
    PluginSet(Entries entries, std::uint64_t version)
        : entries_(std::move(entries)), version_(version) {}

    /// Grows with each change of what is in force.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] const Entries& entries() const noexcept { return entries_; }
    /// nullptr: the configuration names no such plugin.
    [[nodiscard]] const PluginEntry* find(std::string_view name) const;
    /// Tools that the desk's plugins offer, by name; the first plugin in the desk's order wins a
    /// name.
    [[nodiscard]] std::map<std::string, ToolOffer> tools_of(const DeskConfig& desk) const;
    /// The entry that offers the model's plugin. Errors: not_found, refused (with the plugin's
    /// reason), unsupported.
    [[nodiscard]] Result<const PluginEntry*> model_plugin(const ModelConfig& model) const;

  private:
    Entries entries_;
    std::uint64_t version_ = 0;
};

}  // namespace daybook
