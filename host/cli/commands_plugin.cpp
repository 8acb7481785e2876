// plugin, model.
#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

template <class Print>
int ask(const Options& options, Output& output, const char* verb, const Json& args, Print print) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto result = connected.client().call(verb, args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
    } else {
        print(*result);
    }
    return 0;
}

std::string walls_text(const Json& runner) {
    const std::string& text = runner["walls_text"].as_string();
    return text.empty() ? "not started" : text;
}

/// Of the plugin's runners; one that was lowered or refused outdoes those that stand.
std::string walls_of(const Json& plugin) {
    std::string text = "not started";
    std::string level;
    for (const Json& runner : plugin["runners"].items()) {
        if (runner["level"].as_string() > level) {
            level = runner["level"].as_string();
            text = walls_text(runner);
        }
    }
    return text;
}

void print_runners(const Json& plugin, const Output& output) {
    for (const Json& runner : plugin["runners"].items()) {
        std::string line = "  " + runner["desk"].as_string() + ": " + runner["state"].as_string() +
                           ", walls " + walls_text(runner) + ", " +
                           std::to_string(runner["calls"].as_integer()) + " calls, " +
                           std::to_string(runner["crashes"].as_integer()) + " crashes";
        if (!runner["reason"].as_string().empty()) {
            line += ": " + runner["reason"].as_string();
        }
        output.line(line);
        for (const Json& text : runner["output"].items()) {
            output.line("    | " + text.as_string());
        }
    }
}

}  // namespace

int list_plugins(const Options& options, Output& output) {
    return ask(options, output, "plugin.list", Json::object(), [&](const Json& result) {
        if (result["isolation"].as_string() != "required") {
            output.line(output.yellow("isolation is " + result["isolation"].as_string()));
        }
        Table table({"PLUGIN", "VERSION", "STATE", "TRUST", "PROFILE", "WALLS", "FILE"});
        for (const Json& plugin : result["plugins"].items()) {
            table.add({plugin["name"].as_string(),
                       plugin["version"].as_string(),
                       plugin["state"].as_string(),
                       plugin["trust"].as_string().empty() ? "none" : plugin["trust"].as_string(),
                       plugin["profile"].as_string(),
                       walls_of(plugin),
                       plugin["file"].as_string()});
        }
        output.raw(table.str());
        for (const Json& plugin : result["plugins"].items()) {
            if (!plugin["reason"].as_string().empty()) {
                output.line(plugin["name"].as_string() + ": " +
                            output.red(plugin["reason"].as_string()));
            }
            print_runners(plugin, output);
        }
    });
}

int show_plugin(const Options& options, Output& output) {
    const Json args = Json::object().set("plugin", options.words.front());
    return ask(options, output, "plugin.show", args, [&](const Json& plugin) {
        output.line(output.bold(plugin["name"].as_string()) + " " + plugin["version"].as_string() +
                    "  " + plugin["state"].as_string());
        if (!plugin["reason"].as_string().empty()) {
            output.line(output.red(plugin["reason"].as_string()));
        }
        output.line("file     " + plugin["file"].as_string());
        output.line("sha256   " + plugin["sha256"].as_string());
        output.line("trust    " + (plugin["trust"].as_string().empty()
                                       ? std::string("none")
                                       : plugin["trust"].as_string()));
        output.line("profile  " + plugin["profile"].as_string());
        std::string wants;
        for (const Json& want : plugin["wants"].items()) {
            wants += (wants.empty() ? "" : ", ") + want.as_string();
        }
        output.line("wants    " + (wants.empty() ? "nothing" : wants));
        for (const Json& tool : plugin["manifest"]["tools"].items()) {
            output.line("tool     " + tool["name"].as_string() + ": " +
                        shortened(tool["description"].as_string(), 90));
        }
        for (const Json& model : plugin["manifest"]["models"].items()) {
            output.line("model    " + model["name"].as_string());
        }
        for (const Json& skill : plugin["manifest"]["skills"].items()) {
            output.line("skill    " + skill["name"].as_string() + ": " +
                        shortened(skill["description"].as_string(), 90));
        }
        print_runners(plugin, output);
    });
}

int retry_plugin(const Options& options, Output& output) {
    Json args = Json::object().set("plugin", options.words.front());
    if (!options.desk.empty()) {
        args.set("desk", options.desk);
    }
    return ask(options, output, "plugin.retry", args, [&](const Json& result) {
        output.line(result["plugin"].as_string() + " starts again with its next call");
    });
}

int list_models(const Options& options, Output& output) {
    return ask(options, output, "model.list", Json::object(), [&](const Json& result) {
        Table table({"MODEL", "PLUGIN", "STATE", "DESKS", "URL"});
        for (const Json& model : result["models"].items()) {
            std::string desks;
            for (const Json& desk : model["desks"].items()) {
                desks += (desks.empty() ? "" : ", ") + desk.as_string();
            }
            table.add({model["name"].as_string(),
                       model["plugin"].as_string(),
                       model["state"].as_string(),
                       desks.empty() ? "-" : desks,
                       model["url"].as_string()});
        }
        output.raw(table.str());
        for (const Json& model : result["models"].items()) {
            if (!model["reason"].as_string().empty()) {
                output.line(model["name"].as_string() + ": " +
                            output.red(model["reason"].as_string()));
            }
        }
    });
}

}  // namespace daybook::cli
