// host start|stop, config check|path: what works without a host.

#include "host/cli/commands.hpp"
#include "host/cli/daemon_process.hpp"
#include "host/cli/interrupt.hpp"
#include "host/cli/session.hpp"
#include "host/surface/config_file.hpp"

namespace daybook::cli {
namespace {

constexpr std::chrono::seconds kStopTimeout{180};

std::string with_flags(const std::string& command, const Places& places) {
    return command + (places.flags().empty() ? "" : " " + places.flags());
}

}  // namespace

namespace {

int start_daemon(const Options& options, const Places& places, Output& output) {
    auto daemon = DaemonProcess::start({places, options.places, /*tied_to_us=*/false});
    if (!daemon) {
        return output.fail(
            daemon.error(),
            daemon.error().code() == Errc::deadline ? "see the log in " + places.log.string() : "");
    }
    if (output.json()) {
        output.object(Json::object()
                          .set("started", true)
                          .set("pid", std::int64_t{daemon->pid()})
                          .set("socket", places.socket.string())
                          .set("log", (places.log / "daybookd.log").string()));
        return 0;
    }
    output.line("daybookd serves, pid " + std::to_string(daemon->pid()) + ", log " +
                (places.log / "daybookd.log").string());
    output.say("stop it with: " + with_flags("daybook host stop", places));
    return 0;
}

}  // namespace

int start_host(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    if (auto running = Client::connect(*places); running) {
        auto status = running->call("status", Json::object());
        // A host that was just killed may leave its socket open for an instant: nobody answers
        // there.
        const bool is_gone = !status && (status.error().code() == Errc::lost_connection ||
                                         status.error().code() == Errc::unavailable);
        if (is_gone) {
            return start_daemon(options, *places, output);
        }
        if (status && output.json()) {
            output.object(Json::object().set("started", false).set("pid", (*status)["pid"]));
        } else if (status) {
            output.line("daybookd runs already, pid " +
                        std::to_string((*status)["pid"].as_integer()));
        }
        return status ? 0 : output.fail(status.error());
    }
    return start_daemon(options, *places, output);
}

int stop_host(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto stopping = connected.client().call("host.stop", Json::object());
    if (!stopping) {
        return output.fail(stopping.error());
    }
    const auto pid = static_cast<pid_t>((*stopping)["pid"].as_integer());
    connected.client().wait_closed();
    if (!wait_ended(pid, kStopTimeout)) {
        return output.fail(
            Error(interrupted() ? Errc::cancelled : Errc::deadline,
                  "daybookd (pid " + std::to_string(pid) + ") is still ending its turns"),
            "it ends by itself within stop_grace; a second stop cancels the turns");
    }
    if (output.json()) {
        output.object(Json::object().set("stopped", true).set("pid", std::int64_t{pid}));
    } else {
        output.line("daybookd has ended");
    }
    return 0;
}

int check_config(const Options& options, Output& output) {
    Options with_file = options;
    if (!options.words.empty()) {
        with_file.places.config = options.words.front();
    }
    const auto places = places_of(with_file, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    auto config = load_config(places->config, places->flags());
    if (!config) {
        return output.fail(config.error());
    }
    Json warnings = Json::array();
    for (const std::string& warning : config->warnings) {
        warnings.push(warning);
        output.say("warning: " + warning);
    }
    if (output.json()) {
        output.object(Json::object()
                          .set("config", places->config.string())
                          .set("desks", config->desks.size())
                          .set("models", config->models.size())
                          .set("plugins", config->plugins.size())
                          .set("warnings", std::move(warnings)));
    } else {
        output.line(places->config.string() + " is fine: " + std::to_string(config->desks.size()) +
                    " desks, " + std::to_string(config->models.size()) + " models");
    }
    return 0;
}

int show_config_path(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    if (output.json()) {
        output.object(Json::object()
                          .set("config", places->config.string())
                          .set("state", places->state.string())
                          .set("socket", places->socket.string())
                          .set("log", (places->log / "daybookd.log").string())
                          .set("share", places->share.string()));
        return 0;
    }
    output.line("config  " + places->config.string());
    output.line("state   " + places->state.string());
    output.line("socket  " + places->socket.string());
    output.line("log     " + (places->log / "daybookd.log").string());
    return 0;
}

}  // namespace daybook::cli
