// SIGHUP: the new configuration is checked whole before any of it is in force.
#include <utility>

#include "host/format/config_tables.hpp"
#include "host/surface/config_file.hpp"
#include "host/surface/host.hpp"
#include "host/surface/plugin_control.hpp"
#include "host/surface/reload_plan.hpp"
#include "host/turn/desk_rest.hpp"

namespace daybook {
namespace {

Json names_json(const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names) {
        list.push(name);
    }
    return list;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ",") + name;
    }
    return text.empty() ? "none" : text;
}

}  // namespace

std::string Host::reload_note() const {
    const std::lock_guard guard(note_mutex_);
    return reload_note_;
}

void Host::note_reload(std::string note) {
    const std::lock_guard guard(note_mutex_);
    reload_note_ = std::move(note);
}

struct Host::ReadAgain {
    std::unique_ptr<Generation> generation;
    PluginControl::Reviewed plugins;
};

Result<Host::ReadAgain> Host::read_again() {
    auto text = read_config_text(needs_.places.config, needs_.places.flags());
    if (!text) {
        return text.error();
    }
    auto config = Config::parse(*text, needs_.places.config.string());
    if (!config) {
        return config.error();
    }
    auto tables = config_tables(*text, needs_.places.config.string());
    if (!tables) {
        return tables.error();
    }
    auto fresh = make_generation(std::move(*config), std::move(*tables));
    if (!fresh) {
        return fresh.error();
    }
    if (auto checked = check_generation(**fresh); !checked) {
        return checked.error();
    }
    auto reviewed = plugins_->review(*(*fresh)->registry, (*fresh)->config);
    if (!reviewed) {
        return reviewed.error();
    }
    return ReadAgain{std::move(*fresh), std::move(*reviewed)};
}

/// What only shows when it is used: calendars, zones and plugins of the desks.
Result<> Host::check_generation(const Generation& fresh) const {
    for (const auto& [name, desk] : fresh.config.desks) {
        if (auto days = check_desk_days(*fresh.services, desk); !days) {
            return days;
        }
    }
    for (const auto& [name, plugin] : fresh.registry->plugins()) {
        const PluginEntry* before = registry().find(name);
        const bool was_fine = before == nullptr || before->refused.empty();
        if (!plugin->refused.empty() && was_fine) {
            return Error(Errc::refused, "plugin " + name + ": " + plugin->refused);
        }
    }
    return {};
}

Result<> Host::while_closed(const std::string& desk,
                            const std::string& is,
                            const std::function<Result<>()>& work) {
    const Config& now = config();
    return now.desks.contains(desk) ? slots_.while_closed(desk, is, now.host.stop_grace, work)
                                    : work();
}

void Host::reload(std::function<void()> done) {
    auto started = jobs_.start("reload", [this, done](const std::stop_token&) {
        const PluginControl::Turn turn(*plugins_);
        const auto taken = turn.taken();
        auto fresh = taken ? read_again() : Result<ReadAgain>(taken.error());
        const auto outcome =
            fresh ? put_in_force(std::move(*fresh)) : Result<>(std::move(fresh.error()));
        if (!outcome) {
            const std::string reason = outcome.error().message();
            needs_.log.error("configuration is wrong, the old one stays reason=" + reason);
            note_reload("the configuration was refused at " + to_rfc3339(clock_->now()) +
                        " and the old one is in force: " + reason);
            record("configuration", Json::object().set("what", "refused").set("reason", reason));
        }
        done();
    });
    if (!started) {
        needs_.log.warn("the configuration was not read again: " + started.error().message());
        done();
    }
}

Result<> Host::put_in_force(ReadAgain read) {
    std::unique_ptr<Generation> fresh = std::move(read.generation);
    const Generation& old = *current_.load();
    const ReloadPlan plan = plan_reload(old.tables, old.config, fresh->tables, fresh->config);
    const std::chrono::milliseconds grace = old.config.host.stop_grace;
    Generation& now = *fresh;
    auto adopted = plugins_->put_in_force(read.plugins, [&] {
        generations_.push_back(std::move(fresh));
        current_ = &now;
        registry_->adopt(*now.registry);
    });
    if (!adopted) {
        return adopted;
    }
    needs_.log.set_level(log_level_of(now.config.host.log_level));
    tell_plugins(*now.registry);
    for (const std::string& name : plan.removed) {
        slots_.remove(name, grace);
    }
    for (const std::string& name : plan.added) {
        slots_.add(*now.services, now.config.desks.at(name), false);
    }
    for (const std::string& name : plan.changed) {
        // A failure is told by the slots and kept: the next who asks tries again.
        static_cast<void>(slots_.reopen(*now.services, now.config.desks.at(name), grace));
    }
    std::string note = plan.at_next_start.empty()
                           ? ""
                           : "the configuration is in force but for " + joined(plan.at_next_start) +
                                 ": that needs a restart";
    for (const std::string& each : read.plugins.notes) {
        note += (note.empty() ? "" : "; ") + each;
        needs_.log.warn(each);
    }
    note_reload(std::move(note));
    needs_.log.info("configuration read again log_level=" + now.config.host.log_level +
                    " added=" + joined(plan.added) + " removed=" + joined(plan.removed) +
                    " changed=" + joined(plan.changed) +
                    " needs_restart=" + joined(plan.at_next_start));
    record("configuration",
           Json::object()
               .set("what", "read")
               .set("log_level", now.config.host.log_level)
               .set("added", names_json(plan.added))
               .set("removed", names_json(plan.removed))
               .set("changed", names_json(plan.changed))
               .set("needs_restart", names_json(plan.at_next_start)));
    return {};
}

}  // namespace daybook
