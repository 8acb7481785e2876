// The walled children of a desk's plugins: how they are started, and what is told of them.
#include "host/turn/desk.hpp"
#include "host/turn/runners.hpp"

namespace daybook {

ProcessAccess Runners::process_access(const PluginEntry& plugin) {
    return {&children_, &inbox_, plugin.config.name, &plugin.config.programs};
}

ChildrenSettings Runners::children_settings() const {
    ChildrenSettings settings;
    settings.home = services_.home;
    settings.desk = config_.name;
    settings.bounds = scratch_bounds();
    settings.child.runner_program = services_.runner_program;
    settings.child.probe_file = services_.probe_file;
    settings.child.isolation = services_.config.host.isolation;
    settings.child.zone = zone_;
    settings.child.stop_grace = services_.config.host.cancel_grace;
    settings.on_log = [this](const std::string& plugin, int level, const std::string& line) {
        services_.log(level, line + " plugin=" + plugin + " desk=" + config_.name);
    };
    settings.on_lifecycle =
        [this](const std::string& plugin, const std::string& what, const ChildStatus& status) {
            services_.log(what == "start_failed" ? kLogWarn : kLogInfo,
                          "program " + what + " program=" + status.program + " plugin=" + plugin +
                              " desk=" + config_.name +
                              (status.reason.empty() ? "" : " reason=\"" + status.reason + "\""));
            JournalEntry entry;
            entry.type = "plugin";
            entry.data = Json::object();
            entry.data.set("plugin", plugin)
                .set("desk", config_.name)
                .set("what", "program_" + what)
                .set("program", status.program);
            if (!status.reason.empty()) {
                entry.data.set("reason", status.reason);
            }
            record_(std::move(entry));
        };
    return settings;
}

}  // namespace daybook
