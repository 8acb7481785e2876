#include "host/plugin/runner_proof.hpp"

#include <utility>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/call.hpp"
#include "host/plugin/desk_inbox.hpp"

namespace daybook {
namespace {

/// No desk is behind a proof: nothing can be asked for.
class NoVerbs final : public VerbServer {
  public:
    Result<std::string> serve(Leash& /*leash*/,
                              std::string_view verb,
                              const std::vector<std::string>& /*arguments*/,
                              CallOutcome& /*outcome*/) override {
        return Error(Errc::refused,
                     std::string(verb) + ": not served while the plugin only proves itself");
    }
};

Result<> ask_health(RunnerProcess& runner,
                    DeskInbox& inbox,
                    const PluginEntry& plugin,
                    const RunnerSettings& settings) {
    Leash leash;
    leash.desk = settings.desk;
    leash.plugin = plugin.config.name;
    leash.tool = "health";
    leash.deadline = std::chrono::steady_clock::now() + kHealthTimeout;
    CallRequest request;
    request.kind = "health";
    request.name = "health";
    NoVerbs verbs;
    const CallOutcome outcome =
        run_call(runner, inbox, leash, request, verbs, {}, settings.cancel_grace);
    if (!outcome.result) {
        return outcome.result.error();
    }
    const auto answer = Json::parse(*outcome.result);
    const std::string state = answer ? (*answer)["state"].as_string() : std::string();
    if (state == "ok") {
        return {};
    }
    const std::string text = answer ? printable((*answer)["text"].as_string(), 300) : std::string();
    return Error(Errc::unavailable,
                 "plugin \"" + plugin.config.name + "\": asked for its health, it says " +
                     (state.empty() ? "no state" : printable(state, 40)) +
                     (text.empty() ? "" : ": " + text));
}

}  // namespace

Result<> prove_runner(IoLoop& loop,
                      const PluginEntry& plugin,
                      RunnerSettings settings,
                      RunnerEvents events) {
    settings.breaker = false;
    DeskInbox inbox;
    RunnerProcess runner(loop, inbox, plugin, settings, std::move(events));
    auto ready = runner.ensure_ready(std::chrono::steady_clock::now() + kProofTimeout);
    if (!ready || !plugin.manifest.tells_health) {
        return ready;
    }
    return ask_health(runner, inbox, plugin, settings);
}

}  // namespace daybook
