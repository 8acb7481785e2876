#include "host/surface/api_plugin_control.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "host/surface/host.hpp"
#include "host/surface/job_reply.hpp"
#include "host/surface/plugin_control.hpp"

namespace daybook::api {
namespace {

constexpr std::size_t kMaxPath = 8192;

/// Runs it as the one job that changes plugins for the owner.
void by_job(Host& host,
            const Args& args,
            const ReplyPtr& reply,
            std::function<Result<Json>(PluginControl&)> work) {
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    answer_by_job(
        host.jobs(),
        "plugin",
        [&host, work = std::move(work)](const std::stop_token&) { return work(host.plugins()); },
        reply);
}

Json version_json(const std::optional<PluginVersion>& version) {
    return version ? Json::object()
                         .set("version", version->version)
                         .set("sha256", version->sha256)
                         .set("file", version->file)
                   : Json();
}

std::vector<RunnerStatus> runners_of(const Host& host, const std::string& plugin) {
    std::vector<RunnerStatus> found;
    for (const Desk* desk : host.desks()) {
        for (RunnerStatus& runner : desk->runners()) {
            if (runner.plugin == plugin) {
                found.push_back(std::move(runner));
            }
        }
    }
    return found;
}

Json runner_why(const RunnerStatus& runner) {
    Json output = Json::array();
    for (const std::string& line : runner.stderr_lines) {
        output.push(line);
    }
    const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    return Json::object()
        .set("desk", runner.desk)
        .set("state", name_of(runner.state))
        .set("half_open", runner.half_open)
        .set("next_start_s", runner.next_start_seconds)
        .set("reason", runner.reason)
        .set("last_exit", runner.last_exit)
        .set("calls", number(runner.calls))
        .set("answered", number(runner.answered))
        .set("crashes", number(runner.crashes))
        .set("restarts", number(runner.restarts))
        .set("dropped_lines", number(runner.dropped_lines))
        .set("late_messages", number(runner.late_messages))
        .set("output", std::move(output));
}

}  // namespace

std::string plugin_state_word(const Host& host, const PluginEntry& entry) {
    const std::string& name = entry.config.name;
    if (const PluginState state = host.plugins().state_of(name);
        !state.off.empty() && !entry.refused.empty()) {
        return state.off;
    }
    if (!entry.refused.empty()) {
        return "refused";
    }
    bool backs_off = false;
    bool is_refused = false;
    for (const RunnerStatus& runner : runners_of(host, name)) {
        if (runner.state == RunnerState::open_breaker) {
            return std::string(name_of(runner.state));
        }
        backs_off = backs_off || runner.state == RunnerState::backoff;
        is_refused = is_refused || runner.state == RunnerState::refused;
    }
    if (is_refused || backs_off) {
        return is_refused ? "refused" : "backoff";
    }
    return host.plugins().probation_of(name).is_null() ? "ok" : "probation";
}

void plugin_load(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string file = args.text("file", kMaxPath);
    const std::string name = args.name_or("plugin", "");
    by_job(host, args, reply, [file, name](PluginControl& plugins) {
        return plugins.load(file, name);
    });
}

void plugin_reload(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("plugin");
    const std::string file = args.text_or("file", "", kMaxPath);
    by_job(host, args, reply, [file, name](PluginControl& plugins) {
        return file.empty() ? plugins.reload(name) : plugins.load(file, name);
    });
}

void plugin_rollback(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("plugin");
    by_job(host, args, reply, [name](PluginControl& plugins) { return plugins.roll_back(name); });
}

void plugin_unload(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("plugin");
    by_job(host, args, reply, [name](PluginControl& plugins) {
        return plugins.switch_off(name, "unloaded");
    });
}

void plugin_disable(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("plugin");
    by_job(host, args, reply, [name](PluginControl& plugins) {
        return plugins.switch_off(name, "disabled");
    });
}

void plugin_enable(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("plugin");
    by_job(host, args, reply, [name](PluginControl& plugins) { return plugins.enable(name); });
}

Result<Json> plugin_why(Host& host, Args& args) {
    const std::string name = args.name("plugin");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    const PluginEntry* entry = host.registry().find(name);
    if (entry == nullptr) {
        return Error(Errc::not_found, "no plugin " + name + " in the configuration");
    }
    Json runners = Json::array();
    for (const RunnerStatus& runner : runners_of(host, name)) {
        runners.push(runner_why(runner));
    }
    const PluginState state = host.plugins().state_of(name);
    return Json::object()
        .set("name", name)
        .set("version", entry->manifest.version)
        .set("state", plugin_state_word(host, *entry))
        .set("reason", entry->refused)
        .set("sha256", entry->sha256)
        .set("file", entry->file.string())
        .set("pinned", state.pinned)
        .set("previous", version_json(state.previous))
        .set("probation", host.plugins().probation_of(name))
        .set("last_swap", state.last)
        .set("runners", std::move(runners));
}

}  // namespace daybook::api
