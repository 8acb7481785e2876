// What a new file of a plugin has to show before it is in force, by a request or by a configuration
// that is read again.
#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "host/plugin/plugin_file.hpp"
#include "host/plugin/runner_proof.hpp"
#include "host/plugin/scratch_folder.hpp"
#include "host/surface/host.hpp"
#include "host/surface/plugin_control.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

/// Desks that a file is proved on: those whose runner it takes the place of first.
constexpr std::size_t kMostProofs = 4;
constexpr const char* kProofFolder = "_proof";

std::vector<std::string> users_of(const std::string& plugin, const Config& config) {
    std::vector<std::string> users;
    for (const auto& [name, desk] : config.desks) {
        const bool lists =
            std::find(desk.plugins.begin(), desk.plugins.end(), plugin) != desk.plugins.end();
        const bool thinks =
            std::any_of(desk.models.begin(), desk.models.end(), [&](const std::string& model) {
                const auto found = config.models.find(model);
                return found != config.models.end() && found->second.plugin == plugin;
            });
        if (lists || thinks) {
            users.push_back(name);
        }
    }
    return users;
}

bool is_same_table(const PluginConfig& a, const PluginConfig& b) {
    return a.config == b.config && a.file == b.file && a.enabled == b.enabled &&
           a.programs == b.programs;
}

/// A folder of its own: what is in force may be at work in the desk's.
class ProofScratch {
  public:
    ProofScratch(const Host& host, const PluginEntry& plugin)
        : folder_(host.needs().state.path(),
                  plugin.config.name,
                  kProofFolder,
                  {host.config().host.scratch_max_bytes, 20000, 0}),
          wanted_(plugin.manifest.profile == "scratch") {}
    ~ProofScratch() {
        std::error_code ignored;
        if (wanted_) {
            fs::remove_all(folder_.path(), ignored);
        }
    }
    ProofScratch(const ProofScratch&) = delete;
    ProofScratch& operator=(const ProofScratch&) = delete;
    ProofScratch(ProofScratch&&) = delete;
    ProofScratch& operator=(ProofScratch&&) = delete;

    Result<> prepare(RunnerSettings& settings) {
        if (!wanted_) {
            return {};
        }
        auto made = folder_.prepare();
        if (!made) {
            return made.error();
        }
        settings.scratch_dir = folder_.path();
        settings.scratch_max_bytes = folder_.bounds().max_bytes;
        return {};
    }

  private:
    ScratchFolder folder_;
    bool wanted_;
};

}  // namespace

Result<> PluginControl::prove(const PluginEntry& fresh, const Config& config) const {
    const std::string& name = fresh.config.name;
    const std::vector<std::string> users = users_of(name, config);
    for (const std::string& user : users) {
        // Before any of its code runs.
        if (auto fits = host_.registry().config_of(fresh, config.desks.at(user)); !fits) {
            return fits.error();
        }
    }
    std::vector<std::string> chosen;
    for (const Desk* desk : host_.desks()) {
        const auto runners = desk->runners();
        const bool runs = std::any_of(runners.begin(), runners.end(), [&](const auto& runner) {
            return runner.plugin == name && runner.pid >= 0;
        });
        if (runs && config.desks.contains(desk->name()) && chosen.size() < kMostProofs) {
            chosen.push_back(desk->name());
        }
    }
    if (chosen.empty()) {
        const Desk* any = users.empty() ? host_.any_desk() : nullptr;
        chosen.push_back(!users.empty() ? users.front() : any != nullptr ? any->name() : "");
    }
    for (const std::string& desk : chosen) {
        if (auto proved = prove_on(fresh, config, desk); !proved) {
            return proved;
        }
    }
    return {};
}

Result<> PluginControl::prove_on(const PluginEntry& fresh,
                                 const Config& config,
                                 const std::string& desk_name) const {
    auto desk = host_.desk(desk_name);
    const auto found = config.desks.find(desk_name);
    if (!desk || found == config.desks.end()) {
        return Error(Errc::unavailable,
                     "plugin \"" + fresh.config.name + "\": there is no desk to prove it on" +
                         (desk ? std::string() : ": " + desk.error().message()));
    }
    auto settings_json = host_.registry().config_of(fresh, found->second);
    if (!settings_json) {
        return settings_json.error();
    }
    RunnerSettings settings;
    settings.program = host_.needs().places.runner;
    settings.desk_dir = host_.needs().state.path() / "workspace" / desk_name;
    settings.desk = desk_name;
    settings.zone = (*desk)->zone().name();
    settings.reads = found->second.reads;
    settings.config_json = settings_json->dump();
    settings.isolation = config.host.isolation;
    settings.probe_file = host_.needs().state.path() / "format";
    settings.cancel_grace = config.host.cancel_grace;
    ProofScratch scratch(host_, fresh);
    if (auto made = scratch.prepare(settings); !made) {
        return made;
    }
    RunnerEvents events;
    events.on_log = [&log = host_.log(), name = fresh.config.name](int level,
                                                                   const std::string& line) {
        const std::string text = line + " plugin=" + name + " proof=true";
        level >= kLogWarn ? log.warn(text) : log.info(text);
    };
    return prove_runner(host_.needs().loop, fresh, std::move(settings), std::move(events));
}

Result<PluginControl::Reviewed> PluginControl::review(Registry& fresh, const Config& config) {
    Reviewed reviewed;
    for (const auto& [name, entry] : fresh.plugins()) {
        const PluginEntry* before = host_.registry().find(name);
        if (before == nullptr || !before->refused.empty() || !entry->refused.empty() ||
            before->sha256 == entry->sha256) {
            continue;
        }
        auto proved = prove(*entry, config);
        if (proved) {
            reviewed.fresh.push_back(entry);
            continue;
        }
        if (!is_same_table(before->config, entry->config)) {
            return Error(Errc::refused,
                         "the new file of plugin " + name + ": " + proved.error().message());
        }
        reviewed.notes.push_back("the new file of plugin " + name +
                                 " was not put in force, version " + before->manifest.version +
                                 " stays: " + proved.error().message());
        tell(name,
             "swap_refused",
             Json::object()
                 .set("sha256", entry->sha256)
                 .set("file", entry->file.string())
                 .set("reason", proved.error().message()));
        fresh.put(*before);
    }
    return reviewed;
}

Result<> PluginControl::put_in_force(const Reviewed& reviewed, const std::function<void()>& adopt) {
    PluginStates states = this->states();
    for (const PluginEntry* entry : reviewed.fresh) {
        PluginState& state = states[entry->config.name];
        if (const PluginEntry* before = host_.registry().find(entry->config.name)) {
            state.previous =
                PluginVersion{before->sha256, before->manifest.version, before->file.string()};
        }
        state.current = PluginVersion{entry->sha256, entry->manifest.version, entry->file.string()};
        state.pinned = false;
        state.passed_over.clear();
        state.probation_since = now_text();
        state.last = "read again with the configuration at " + now_text();
    }
    if (!reviewed.fresh.empty()) {
        auto saved = save_plugin_states(host_.needs().os, host_.needs().state.dir(), states);
        if (!saved) {
            return saved;
        }
    }
    adopt();
    std::vector<std::string> swapped;
    {
        const std::lock_guard lock(mutex_);
        states_ = std::move(states);
        for (const PluginEntry* each : reviewed.fresh) {
            if (const PluginEntry* entry = host_.registry().find(each->config.name)) {
                begin_probation_locked(*entry);
                swapped.push_back(each->config.name);
            }
        }
    }
    for (const std::string& name : swapped) {
        const PluginState state = state_of(name);
        tell(name,
             "swapped",
             Json::object()
                 .set("sha256", state.current->sha256)
                 .set("version", state.current->version)
                 .set("file", state.current->file)
                 .set("from", state.previous ? state.previous->sha256 : "")
                 .set("why", "the configuration was read again"));
    }
    for (Desk* desk : host_.desks()) {
        desk->look_at_plugins();
    }
    return {};
}

}  // namespace daybook
