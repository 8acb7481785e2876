// What a plugin's manifest asks for, as the owner approves it: compared, shown and recorded with
// the file's hash (docs/formats.md, "plugins.lock"). Thread: [any].
#pragma once

#include <string>
#include <vector>

#include "host/format/json.hpp"
#include "host/format/manifest.hpp"

namespace daybook {

struct PluginWants {
    std::string profile = "pure";      ///< wall profile
    std::vector<std::string> groups;   ///< "daybook.http/1", …
    std::vector<std::string> calls;    ///< tools of other plugins
    std::vector<std::string> origins;  ///< that its manifest names; the configuration grants them
    std::vector<std::string> programs;
    std::vector<std::string> reads;
    friend bool operator==(const PluginWants&, const PluginWants&) = default;
};

[[nodiscard]] PluginWants wants_of(const Manifest& manifest);
/// {"profile","wants","calls","origins","programs","reads"}; what is not text is left out.
[[nodiscard]] Json wants_json(const PluginWants& wants);
[[nodiscard]] PluginWants wants_from(const Json& json);
/// "profile pure, wants daybook.clock/1, calls price"
[[nodiscard]] std::string wants_text(const PluginWants& wants);
/// What `after` asks for and `before` does not: "profile scratch (was pure), daybook.http/1"; ""
/// when nothing.
[[nodiscard]] std::string more_wants(const PluginWants& before, const PluginWants& after);

}  // namespace daybook
