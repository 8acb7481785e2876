#include "host/surface/runner_probe.hpp"

#include <algorithm>

#include "host/plugin/call.hpp"
#include "host/plugin/desk_inbox.hpp"
#include "host/surface/host.hpp"
#include "host/turn/runners.hpp"

namespace daybook {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{5000};

RunnerSettings settings_for(const Host& host, const Desk& desk, const PluginEntry& plugin) {
    const auto& overlays = desk.config().plugin_config;
    const auto overlay = overlays.find(plugin.config.name);
    RunnerSettings settings;
    settings.program = host.needs().places.runner;
    settings.desk_dir = host.needs().state.path() / "workspace" / desk.name();
    settings.desk = desk.name();
    settings.zone = desk.zone().name();
    settings.reads = desk.config().reads;
    settings.config_json =
        merged_config(plugin.config.config, overlay == overlays.end() ? Json() : overlay->second)
            .dump();
    settings.isolation = host.config().host.isolation;
    settings.probe_file = host.needs().state.path() / "format";
    settings.breaker = false;
    return settings;
}

/// A probe's call has no leash to ask anything under.
class NoVerbs final : public VerbServer {
  public:
    Result<std::string> serve(Leash& /*leash*/,
                              std::string_view verb,
                              const std::vector<std::string>& /*arguments*/,
                              CallOutcome& /*outcome*/) override {
        return Error(Errc::refused, std::string(verb) + ": not served while the host only looks");
    }
};

}  // namespace

Result<ProbeOutcome> probe_walls(Host& host, const Desk& desk, const PluginEntry& plugin) {
    DeskInbox inbox;
    RunnerProcess runner(host.needs().loop, inbox, plugin, settings_for(host, desk, plugin), {});
    auto ready = runner.ensure_ready(std::chrono::steady_clock::now() + kProbeTimeout);
    if (!ready) {
        return ready.error();
    }
    const RunnerStatus status = runner.status();
    return ProbeOutcome{status.walls, status.start_milliseconds};
}

Result<> probe_model(Host& host,
                     const Desk& desk,
                     const PluginEntry& plugin,
                     const std::string& model) {
    const std::vector<std::string>& offered = plugin.manifest.models;
    if (offered.empty()) {
        return Error(Errc::unsupported, "plugin " + plugin.config.name + " offers no model");
    }
    const bool named = std::find(offered.begin(), offered.end(), model) != offered.end();
    DeskInbox inbox;
    RunnerProcess runner(host.needs().loop, inbox, plugin, settings_for(host, desk, plugin), {});
    Leash leash;
    leash.desk = desk.name();
    leash.plugin = plugin.config.name;
    leash.tool = named ? model : offered.front();
    leash.deadline = std::chrono::steady_clock::now() + kProbeTimeout;
    CallRequest request;
    request.kind = "model.ready";
    request.name = leash.tool;
    NoVerbs verbs;
    const CallOutcome outcome =
        run_call(runner, inbox, leash, request, verbs, {}, host.config().host.cancel_grace);
    if (!outcome.result) {
        return outcome.result.error();
    }
    const auto answer = Json::parse(*outcome.result);
    if (answer && answer->has("ready") && !(*answer)["ready"].as_bool(true)) {
        const std::string& reason = (*answer)["reason"].as_string();
        return Error(Errc::unavailable, reason.empty() ? "it says that it is not ready" : reason);
    }
    return {};
}

}  // namespace daybook
