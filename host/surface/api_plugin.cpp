// Requests about plugins, models and tools.
#include <algorithm>
#include <utility>

#include "host/gate/leash.hpp"
#include "host/plugin/wall_level.hpp"
#include "host/surface/api.hpp"
#include "host/surface/api_plugin_control.hpp"
#include "host/surface/host.hpp"

namespace daybook::api {
namespace {

Json texts(const std::vector<std::string>& items) {
    Json list = Json::array();
    for (const std::string& item : items) {
        list.push(item);
    }
    return list;
}

Json runner_json(const RunnerStatus& runner, bool whole) {
    Json json = Json::object()
                    .set("desk", runner.desk)
                    .set("state", name_of(runner.state))
                    .set("reason", runner.reason)
                    .set("pid", runner.pid)
                    .set("calls", static_cast<std::int64_t>(runner.calls))
                    .set("crashes", static_cast<std::int64_t>(runner.crashes))
                    .set("restarts", static_cast<std::int64_t>(runner.restarts))
                    .set("last_exit", runner.last_exit)
                    .set("start_ms", runner.start_milliseconds);
    auto walls = Json::parse(runner.walls);
    json.set("walls", walls ? std::move(*walls) : Json())
        .set("level", name_of(wall_level_of(runner.walls)))
        .set("walls_text", wall_text(runner.walls));
    if (whole) {
        json.set("output", texts(runner.stderr_lines));
    }
    return json;
}

Json runners_json(const Host& host, const std::string& plugin, bool whole) {
    Json runners = Json::array();
    for (const Desk* desk : host.desks()) {
        for (const RunnerStatus& runner : desk->runners()) {
            if (runner.plugin == plugin) {
                runners.push(runner_json(runner, whole));
            }
        }
    }
    return runners;
}

Json plugin_json(const Host& host, const PluginEntry& entry, bool whole) {
    Json json = Json::object()
                    .set("name", entry.config.name)
                    .set("version", entry.manifest.version)
                    .set("state", plugin_state_word(host, entry))
                    .set("reason", entry.refused)
                    .set("trust", entry.trust)
                    .set("profile", entry.manifest.profile)
                    .set("file", entry.file.string())
                    .set("sha256", entry.sha256)
                    .set("runners", runners_json(host, entry.config.name, whole));
    if (whole) {
        json.set("module", entry.module.string())
            .set("wants", texts(entry.manifest.wants))
            .set("manifest", entry.manifest.json);
    }
    return json;
}

Result<const PluginEntry*> find_plugin(const Host& host, const std::string& name) {
    if (const PluginEntry* entry = host.registry().find(name); entry != nullptr) {
        return entry;
    }
    std::string names;
    for (const auto& [each, entry] : host.registry().plugins()) {
        names += (names.empty() ? "" : ", ") + each;
    }
    return Error(
        Errc::not_found,
        "no plugin " + name + "; the configuration names " + (names.empty() ? "none" : names));
}

}  // namespace

Result<Json> plugin_list(Host& host, Args& args) {
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    Json plugins = Json::array();
    for (const auto& [name, entry] : host.registry().plugins()) {
        plugins.push(plugin_json(host, *entry, /*whole=*/false));
    }
    return Json::object()
        .set("isolation", name_of(host.config().host.isolation))
        .set("plugins", std::move(plugins));
}

Result<Json> plugin_show(Host& host, Args& args) {
    const std::string name = args.name("plugin");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto entry = find_plugin(host, name);
    if (!entry) {
        return entry.error();
    }
    return plugin_json(host, **entry, /*whole=*/true);
}

Result<Json> plugin_retry(Host& host, Args& args) {
    const std::string name = args.name("plugin");
    const std::string only = args.name_or("desk", "");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    if (auto entry = find_plugin(host, name); !entry) {
        return entry.error();
    }
    std::vector<Desk*> desks = host.desks();
    if (!only.empty()) {
        auto desk = host.desk(only);
        if (!desk) {
            return desk.error();
        }
        desks = {*desk};
    }
    for (Desk* desk : desks) {
        desk->retry_runner(name);
    }
    return Json::object().set("plugin", name).set("desks", desks.size());
}

Result<Json> model_list(Host& host, Args& args) {
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    Json models = Json::array();
    for (const auto& [name, model] : host.config().models) {
        auto entry = host.registry().model_plugin(model);
        Json desks = Json::array();
        for (const auto& [desk_name, desk] : host.config().desks) {
            if (std::find(desk.models.begin(), desk.models.end(), name) != desk.models.end()) {
                desks.push(desk_name);
            }
        }
        models.push(Json::object()
                        .set("name", name)
                        .set("plugin", model.plugin)
                        .set("model", model.model)
                        .set("url", model.url)
                        .set("window", model.window)
                        .set("state", entry ? "ok" : "refused")
                        .set("reason", entry ? std::string() : entry.error().message())
                        .set("desks", std::move(desks)));
    }
    return Json::object().set("models", std::move(models));
}

Result<Json> tool_list(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const bool schemas = args.flag("schemas");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    Json tools = Json::array();
    for (const auto& [tool_name, offer] : (*desk)->tools()) {
        const auto& writes = offer.tool->writes;
        Json tool = Json::object()
                        .set("name", tool_name)
                        .set("plugin", offer.plugin->config.name)
                        .set("description", offer.tool->description)
                        .set("writes",
                             !writes                 ? std::string()
                             : writes->fixed.empty() ? "the file in \"" + writes->argument + "\""
                                                     : writes->fixed)
                        .set("effect", effect_of_tool(*offer.tool, offer.plugin->groups))
                        .set("groups", texts(offer.tool->groups));
        if (schemas) {
            auto schema = Json::parse(offer.tool->input_schema);
            tool.set("input_schema", schema ? std::move(*schema) : Json());
        }
        tools.push(std::move(tool));
    }
    return Json::object().set("desk", name).set("tools", std::move(tools));
}

void tool_call(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    const std::string tool = args.name("tool");
    const Json arguments = args.value("arguments");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    if (!arguments.is_null() && !arguments.is_object()) {
        reply->done(Error(Errc::invalid, "argument \"arguments\": a JSON object is wanted"));
        return;
    }
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    const auto answer = [reply, name, tool](Desk::ToolAnswer outcome) {
        if (!outcome.result) {
            reply->done(outcome.result.error());
            return;
        }
        auto result = Json::parse(*outcome.result, JsonLimits{8UL << 20, 64, 8UL << 20});
        reply->done(Json::object()
                        .set("desk", name)
                        .set("tool", tool)
                        .set("turn", outcome.turn)
                        .set("checkpoints", texts(outcome.checkpoints))
                        .set("result", result ? std::move(*result) : Json(*outcome.result)));
    };
    (*desk)->call_tool(tool, arguments.is_null() ? "{}" : arguments.dump(), answer);
}

}  // namespace daybook::api
