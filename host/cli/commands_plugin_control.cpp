// plugin load, reload, rollback, unload, disable, enable, why.
#include <cstdio>
#include <filesystem>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"

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

std::string short_hash(const Json& sha256) {
    return sha256.as_string().substr(0, 12);
}

/// Changes what is in force, and says what is now.
int change(const Options& options, Output& output, const char* verb, const Json& args) {
    return ask(options, output, verb, args, [&](const Json& result) {
        const std::string now = result["plugin"].as_string() + " " + result["version"].as_string() +
                                " (" + short_hash(result["sha256"]) + ")";
        if (!result["changed"].as_bool()) {
            output.line(now + " is in force already");
            return;
        }
        output.line(now + ", before: " +
                    (result["from"].as_string().empty() ? "nothing" : short_hash(result["from"])));
    });
}

/// The host reads it, wherever the host stands: an absolute path.
std::string absolute(const std::string& file) {
    std::error_code error;
    const auto path = std::filesystem::absolute(file, error);
    return error ? file : path.string();
}

Json named(const Options& options) {
    return Json::object().set("plugin", options.words.front());
}

std::string seconds_text(double seconds) {
    char text[32];
    static_cast<void>(std::snprintf(text, sizeof text, "%.1f s", seconds));
    return text;
}

void print_runner(const Json& runner, Output& output) {
    std::string line = "  " + runner["desk"].as_string() + ": " + runner["state"].as_string();
    if (runner["half_open"].as_bool()) {
        line += ", half open: one answered call closes the breaker";
    }
    if (runner["next_start_s"].as_number() > 0) {
        line += ", next start in " + seconds_text(runner["next_start_s"].as_number());
    }
    line += ", " + std::to_string(runner["calls"].as_integer()) + " calls, " +
            std::to_string(runner["answered"].as_integer()) + " answered, " +
            std::to_string(runner["crashes"].as_integer()) + " crashes, " +
            std::to_string(runner["restarts"].as_integer()) + " restarts";
    output.line(line);
    if (!runner["reason"].as_string().empty()) {
        output.line("    reason     " + runner["reason"].as_string());
    }
    if (!runner["last_exit"].as_string().empty()) {
        output.line("    last exit  " + runner["last_exit"].as_string());
    }
    for (const Json& text : runner["output"].items()) {
        output.line("    | " + text.as_string());
    }
}

}  // namespace

int load_plugin(const Options& options, Output& output) {
    Json args = Json::object().set("file", absolute(options.words.front()));
    if (options.words.size() > 1) {
        args.set("plugin", options.words[1]);
    }
    return change(options, output, "plugin.load", args);
}

int reload_plugin(const Options& options, Output& output) {
    Json args = named(options);
    if (options.words.size() > 1) {
        args.set("file", absolute(options.words[1]));
    }
    return change(options, output, "plugin.reload", args);
}

int roll_back_plugin(const Options& options, Output& output) {
    return change(options, output, "plugin.rollback", named(options));
}

int unload_plugin(const Options& options, Output& output) {
    return ask(options, output, "plugin.unload", named(options), [&](const Json& result) {
        output.line(result["plugin"].as_string() +
                    " is unloaded; daybook plugin load FILE brings it back");
    });
}

int disable_plugin(const Options& options, Output& output) {
    return ask(options, output, "plugin.disable", named(options), [&](const Json& result) {
        output.line(result["plugin"].as_string() + " is switched off");
    });
}

int enable_plugin(const Options& options, Output& output) {
    return change(options, output, "plugin.enable", named(options));
}

int explain_plugin(const Options& options, Output& output) {
    return ask(options, output, "plugin.why", named(options), [&](const Json& plugin) {
        output.line(output.bold(plugin["name"].as_string()) + " " + plugin["version"].as_string() +
                    "  " + plugin["state"].as_string());
        if (!plugin["reason"].as_string().empty()) {
            output.line(output.red(plugin["reason"].as_string()));
        }
        const std::string pinned =
            plugin["pinned"].as_bool() ? ", pinned: not the file on the plugin path" : "";
        output.line("in force   " + short_hash(plugin["sha256"]) + " from " +
                    plugin["file"].as_string() + pinned);
        if (plugin["previous"].is_object()) {
            output.line("before     " + plugin["previous"]["version"].as_string() + " " +
                        short_hash(plugin["previous"]["sha256"]) + " from " +
                        plugin["previous"]["file"].as_string());
        }
        if (plugin["probation"].is_object()) {
            output.line("probation  since " + plugin["probation"]["since"].as_string() + ", " +
                        std::to_string(plugin["probation"]["answered"].as_integer()) +
                        " calls answered");
        }
        if (!plugin["last_swap"].as_string().empty()) {
            output.line("last swap  " + plugin["last_swap"].as_string());
        }
        for (const Json& runner : plugin["runners"].items()) {
            print_runner(runner, output);
        }
    });
}

}  // namespace daybook::cli
