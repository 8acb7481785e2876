#include "host/turn/runners.hpp"

#include "host/turn/desk.hpp"

namespace daybook {

Runners::Runners(const DeskServices& services,
                 const DeskConfig& config,
                 std::string zone,
                 DeskInbox& inbox,
                 std::function<void(JournalEntry)> record)
    : services_(services),
      config_(config),
      zone_(std::move(zone)),
      inbox_(inbox),
      record_(std::move(record)) {}

Result<RunnerSettings> Runners::settings_for(const PluginEntry& plugin) {
    RunnerSettings settings;
    settings.program = services_.runner_program;
    settings.desk_dir = services_.home / "workspace" / config_.name;
    settings.desk = config_.name;
    settings.zone = zone_;
    settings.reads = config_.reads;
    auto json = services_.registry.config_of(plugin, config_);
    if (!json) {
        return json.error();
    }
    settings.config_json = json->dump();
    settings.isolation = services_.config.host.isolation;
    settings.probe_file = services_.probe_file;
    settings.idle = services_.config.host.runner_idle;
    settings.cancel_grace = services_.config.host.cancel_grace;
    if (ScratchFolder* scratch = scratch_of(plugin)) {
        settings.scratch_dir = scratch->path();
        settings.scratch_max_bytes = scratch->bounds().max_bytes;
        settings.before_start = [this, scratch]() -> Result<> {
            auto said = scratch->prepare();
            if (said && !said->empty()) {
                services_.log(kLogWarn, *said + " desk=" + config_.name);
            }
            return said ? Result<>() : Result<>(said.error());
        };
    }
    return settings;
}

ScratchFolder* Runners::scratch_of(const PluginEntry& plugin) {
    if (plugin.manifest.profile != "scratch") {
        return nullptr;
    }
    auto& place = scratch_[plugin.config.name];
    if (!place) {
        ScratchBounds bounds;
        bounds.max_bytes = services_.config.host.scratch_max_bytes;
        bounds.reserve_bytes = services_.config.host.min_free_bytes / 2;
        place = std::make_unique<ScratchFolder>(
            services_.home, plugin.config.name, config_.name, bounds);
    }
    return place.get();
}

std::function<Result<>()> Runners::inspection_of(const PluginEntry& plugin) {
    const ScratchFolder* scratch = scratch_of(plugin);
    return scratch == nullptr ? std::function<Result<>()>()
                              : [scratch] { return scratch->check(); };
}

const ScratchFolder* Runners::find_scratch(const std::string& plugin) const {
    const auto found = scratch_.find(plugin);
    return found == scratch_.end() ? nullptr : found->second.get();
}

RunnerEvents Runners::events_for(const std::string& plugin) const {
    RunnerEvents events;
    events.on_log = [this, plugin](int level, const std::string& message) {
        services_.log(level, message + " plugin=" + plugin + " desk=" + config_.name);
    };
    events.on_lifecycle = [this, plugin](const std::string& what, const RunnerStatus& status) {
        const bool usual = what == "started" || what == "stopped";
        services_.log(usual ? kLogInfo : kLogWarn,
                      "plugin " + what + " plugin=" + plugin + " desk=" + config_.name +
                          (status.reason.empty() ? "" : " reason=\"" + status.reason + "\""));
        JournalEntry entry;
        entry.type = "plugin";
        entry.data = Json::object();
        entry.data.set("plugin", plugin).set("desk", config_.name).set("what", what);
        if (!status.reason.empty()) {
            entry.data.set("reason", status.reason);
        }
        if (!usual && !status.last_exit.empty()) {
            entry.data.set("exit", status.last_exit);
        }
        record_(std::move(entry));
    };
    return events;
}

Result<RunnerProcess*> Runners::of(const PluginEntry& plugin) {
    const std::string& name = plugin.config.name;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = runners_.find(name); found != runners_.end()) {
            return found->second.get();
        }
    }
    auto settings = settings_for(plugin);
    if (!settings) {
        return settings.error();
    }
    auto runner = std::make_unique<RunnerProcess>(
        services_.loop, inbox_, plugin, std::move(*settings), events_for(name));
    const std::lock_guard lock(mutex_);
    return runners_.emplace(name, std::move(runner)).first->second.get();
}

std::vector<RunnerStatus> Runners::statuses() const {
    const std::lock_guard lock(mutex_);
    std::vector<RunnerStatus> statuses;
    for (const auto& [name, runner] : runners_) {
        statuses.push_back(runner->status());
    }
    return statuses;
}

void Runners::retry(const std::string& plugin) {
    const std::lock_guard lock(mutex_);
    const auto found = runners_.find(plugin);
    if (found != runners_.end()) {
        found->second->retry();
    }
}

void Runners::clear() {
    std::map<std::string, std::unique_ptr<RunnerProcess>> ended;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(runners_);
    }
}

}  // namespace daybook
