#include "host/surface/runner_probe.hpp"

#include <algorithm>
#include <utility>

#include "host/plugin/call.hpp"
#include "host/plugin/desk_inbox.hpp"
#include "host/surface/host.hpp"

namespace daybook {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{5000};

Result<RunnerSettings> settings_for(const Host& host, const Desk& desk, const PluginEntry& plugin) {
    auto config = host.registry().config_of(plugin, desk.config());
    if (!config) {
        return config.error();
    }
    RunnerSettings settings;
    settings.program = host.needs().places.runner;
    settings.desk_dir = host.needs().state.path() / "workspace" / desk.name();
    settings.desk = desk.name();
    settings.zone = desk.zone().name();
    settings.reads = desk.config().reads;
    settings.config_json = config->dump();
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
    auto settings = settings_for(host, desk, plugin);
    if (!settings) {
        return settings.error();
    }
    DeskInbox inbox;
    RunnerProcess runner(host.needs().loop, inbox, plugin, std::move(*settings), {});
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
    auto settings = settings_for(host, desk, plugin);
    if (!settings) {
        return settings.error();
    }
    DeskInbox inbox;
    RunnerProcess runner(host.needs().loop, inbox, plugin, std::move(*settings), {});
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
