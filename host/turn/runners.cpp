#include "host/turn/runners.hpp"

#include <algorithm>
#include <iterator>

#include "host/plugin/wall_level.hpp"
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
      record_(std::move(record)),
      children_(services.loop, children_settings()) {}

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

ScratchBounds Runners::scratch_bounds() const {
    ScratchBounds bounds;
    bounds.max_bytes = services_.config.host.scratch_max_bytes;
    bounds.reserve_bytes = services_.config.host.min_free_bytes / 2;
    return bounds;
}

ScratchFolder* Runners::scratch_of(const PluginEntry& plugin) {
    if (plugin.manifest.profile != "scratch") {
        return nullptr;
    }
    auto& place = scratch_[plugin.config.name];
    if (!place) {
        place = std::make_unique<ScratchFolder>(
            services_.home, plugin.config.name, config_.name, scratch_bounds());
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

RunnerEvents Runners::events_for(const PluginEntry& entry) const {
    RunnerEvents events;
    events.on_log = [this, plugin = entry.config.name](int level, const std::string& message) {
        services_.log(level, message + " plugin=" + plugin + " desk=" + config_.name);
    };
    events.on_lifecycle = [this, &entry](const std::string& what, const RunnerStatus& status) {
        const std::string& plugin = entry.config.name;
        const bool usual = what == "started" || what == "stopped";
        const WallLevel level = wall_level_of(status.walls);
        const std::string walls = what == "started" ? wall_text(status.walls) : std::string();
        services_.log(usual && (walls.empty() || !is_lowered(level)) ? kLogInfo : kLogWarn,
                      "plugin " + what + " plugin=" + plugin + " desk=" + config_.name +
                          (walls.empty() ? "" : " walls=\"" + walls + "\"") +
                          (status.reason.empty() ? "" : " reason=\"" + status.reason + "\""));
        JournalEntry record;
        record.type = "plugin";
        record.data = Json::object();
        record.data.set("plugin", plugin).set("desk", config_.name).set("what", what);
        if (!walls.empty()) {
            record.data.set("walls", walls)
                .set("isolation", name_of(services_.config.host.isolation));
        }
        if (!status.reason.empty()) {
            record.data.set("reason", status.reason);
        }
        if (!usual && !status.last_exit.empty()) {
            record.data.set("exit", status.last_exit);
        }
        record_(std::move(record));
        if (services_.on_runner) {
            services_.on_runner(entry, what, status);
        }
    };
    return events;
}

void Runners::retire_locked(Held held) {
    held.process->stop();
    retired_.push_back(std::move(held));
}

std::vector<Runners::Held> Runners::take_ended_locked() {
    const auto has_ended = [](const Held& held) { return held.process->status().pid < 0; };
    const auto first = std::stable_partition(
        retired_.begin(), retired_.end(), [&](const Held& held) { return !has_ended(held); });
    std::vector<Held> ended(std::make_move_iterator(first),
                            std::make_move_iterator(retired_.end()));
    retired_.erase(first, retired_.end());
    return ended;
}

void Runners::keep_only(const PluginSet& plugins) {
    std::vector<Held> ended;
    const std::lock_guard lock(mutex_);
    for (auto runner = runners_.begin(); runner != runners_.end();) {
        if (plugins.find(runner->first) == runner->second.entry) {
            ++runner;
            continue;
        }
        retire_locked(std::move(runner->second));
        runner = runners_.erase(runner);
    }
    ended = take_ended_locked();
}

Result<RunnerProcess*> Runners::of(const PluginEntry& plugin) {
    const std::string& name = plugin.config.name;
    std::vector<Held> ended;
    {
        const std::lock_guard lock(mutex_);
        ended = take_ended_locked();
        if (const auto found = runners_.find(name); found != runners_.end()) {
            if (found->second.entry == &plugin) {
                return found->second.process.get();
            }
            retire_locked(std::move(found->second));
            runners_.erase(found);
        }
    }
    auto settings = settings_for(plugin);
    if (!settings) {
        return settings.error();
    }
    auto runner = std::make_unique<RunnerProcess>(
        services_.loop, inbox_, plugin, std::move(*settings), events_for(plugin));
    const std::lock_guard lock(mutex_);
    return runners_.emplace(name, Held{&plugin, std::move(runner)}).first->second.process.get();
}

std::vector<RunnerStatus> Runners::statuses() const {
    const std::lock_guard lock(mutex_);
    std::vector<RunnerStatus> statuses;
    for (const auto& [name, held] : runners_) {
        statuses.push_back(held.process->status());
    }
    for (const Held& held : retired_) {
        RunnerStatus status = held.process->status();
        if (status.pid >= 0) {
            statuses.push_back(std::move(status));
        }
    }
    return statuses;
}

void Runners::retry(const std::string& plugin) {
    const std::lock_guard lock(mutex_);
    const auto found = runners_.find(plugin);
    if (found != runners_.end()) {
        found->second.process->retry();
    }
}

void Runners::clear() {
    std::map<std::string, Held> ended;
    std::vector<Held> retired;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(runners_);
        retired.swap(retired_);
    }
    children_.clear();
}

}  // namespace daybook
