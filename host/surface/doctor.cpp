#include "host/surface/doctor.hpp"

#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/plugin/wall_level.hpp"
#include "host/surface/control_token.hpp"
#include "host/surface/file_system.hpp"
#include "host/surface/host.hpp"
#include "host/surface/runner_probe.hpp"
#include "host/turn/context_meter.hpp"
#include "host/turn/fixed_share.hpp"
#include "host/turn/flush_turn.hpp"

namespace daybook {
namespace {

constexpr int kCalendarWarnDays = 30;
constexpr std::uint64_t kRoomyTimes = 4;  // free space below so many times the mark is worth a word

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

class Findings {
  public:
    void ok(std::string_view name, std::string text) { add(name, "ok", std::move(text), ""); }
    void warn(std::string_view name, std::string text, std::string todo) {
        add(name, "warn", std::move(text), std::move(todo));
    }
    void bad(std::string_view name, std::string text, std::string todo) {
        add(name, "bad", std::move(text), std::move(todo));
    }
    [[nodiscard]] Json to_json() const {
        return Json::object()
            .set("checks", checks_)
            .set("ok", counts_[0])
            .set("warn", counts_[1])
            .set("bad", counts_[2]);
    }

  private:
    void add(std::string_view name, std::string_view state, std::string text, std::string todo) {
        ++counts_[state == "ok" ? 0 : state == "warn" ? 1 : 2];
        checks_.push(Json::object()
                         .set("name", name)
                         .set("state", state)
                         .set("text", std::move(text))
                         .set("todo", std::move(todo)));
    }
    Json checks_ = Json::array();
    int counts_[3] = {0, 0, 0};
};

void look_at_owner(const Host& host, Findings& findings) {
    if (::geteuid() == 0) {
        findings.warn(
            "user",
            "the host runs as root",
            "run it as a user of its own: the walls hold either way, but a fault of the host "
            "would cost more");
    } else {
        findings.ok("user", "the host runs as uid " + std::to_string(::geteuid()));
    }
    struct stat found = {};
    const std::string state = host.needs().state.path().string();
    if (::stat(state.c_str(), &found) == 0 &&
        (found.st_mode & (S_IROTH | S_IWOTH | S_IXOTH)) != 0) {
        findings.bad("state folder",
                     state + " is open to other users",
                     "run: chmod o-rwx " + shell_word(state));
    } else {
        findings.ok("state folder", state + " is closed to other users");
    }
    auto keys = host.needs().os.stat_beneath(host.needs().state.dir(), "keys");
    if (keys && (keys->st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        findings.bad(
            "keys", "keys/ is open to others", "run: chmod 700 " + shell_word(state + "/keys"));
    } else if (auto token = load_token(host.needs().os, host.needs().state.dir()); !token) {
        findings.bad(
            "keys", token.error().message(), "put the file right and start the host again");
    } else {
        findings.ok("keys", "keys/ is 0700 and control.token 0600");
    }
}

/// A runner of the plugin, started for a moment: it proves its walls, or says which do not stand.
void look_at_walls(Host& host, const Desk& desk, const PluginEntry& plugin, Findings& findings) {
    const std::string& name = plugin.config.name;
    const auto probe = probe_walls(host, desk, plugin);
    if (!probe) {
        findings.bad("walls " + name,
                     "a runner for " + name + " did not start: " + probe.error().message(),
                     "put right what it names; of walls: a kernel with Landlock and seccomp is "
                     "needed, docs/operations.md names the versions");
        return;
    }
    const std::string text = wall_text(probe->walls) + "; runner ready in " +
                             std::to_string(static_cast<int>(probe->start_milliseconds + 0.5)) +
                             " ms";
    if (is_lowered(wall_level_of(probe->walls))) {
        findings.warn("walls " + name, text, "plugins are less walled than they could be");
    } else {
        findings.ok("walls " + name, text);
    }
}

void look_at_isolation(Host& host, Findings& findings, const std::stop_token& stop) {
    const Isolation isolation = host.config().host.isolation;
    if (isolation == Isolation::required) {
        findings.ok("isolation", "required: a plugin without both walls does not start");
    } else {
        findings.warn("isolation",
                      std::string(name_of(isolation)) + ", by the configuration's word",
                      "set host.isolation = \"required\" unless this machine cannot do it");
    }
    bool tried = false;
    const Desk* const desk = host.any_desk();
    for (const auto& [name, entry] : host.registry().plugins()) {
        // A runner of profile scratch needs its folder, which one that works may hold.
        if (desk == nullptr || !entry->refused.empty() || entry->manifest.profile == "scratch" ||
            stop.stop_requested()) {
            continue;
        }
        tried = true;
        look_at_walls(host, *desk, *entry, findings);
    }
    if (tried) {
        return;
    }
    findings.warn("walls",
                  "no plugin and desk to try a runner with",
                  "name a plugin in a desk's plugins = []");
}

void look_at_plugins(const Host& host, Findings& findings) {
    for (const auto& [name, entry] : host.registry().plugins()) {
        if (entry->refused.empty()) {
            findings.ok("plugin " + name,
                        entry->manifest.version + " from " + entry->file.string());
        } else {
            findings.bad(
                "plugin " + name,
                entry->refused,
                "put it right and start the host again, or take it out of the configuration");
        }
    }
}

void look_at_zone(const Host& host, Findings& findings) {
    // A zone that every database knows: tells a missing database from a misspelt zone.
    if (auto zone = Zone::find("Asia/Kolkata"); !zone) {
        findings.bad("zone data", zone.error().message(), "install the package tzdata");
        return;
    }
    findings.ok("zone data", "the system's zone files are there");
    if (host.replayed() != nullptr) {
        findings.ok("clock", "replayed; it stands at " + to_rfc3339(host.clock().now()));
    } else if (host.clock().now() <
               Timestamp(std::chrono::sys_days(std::chrono::year(2025) / 1 / 1))) {
        findings.bad("clock",
                     "the system's clock says " + to_rfc3339(host.clock().now()),
                     "set the clock: records and trading days follow it");
    } else {
        findings.ok("clock", to_rfc3339(host.clock().now()));
    }
}

void look_at_calendar(const Host& host, const Desk& desk, Findings& findings) {
    const std::string name = "calendar " + desk.name();
    const Calendar& calendar = desk.calendar();
    const DeskDate today = desk.zone().date_of(host.clock().now());
    if (!calendar.valid_through()) {
        findings.ok(name, calendar.id() + " has no end");
        return;
    }
    const int left = calendar.days_left(today).value_or(0);
    const std::string text = calendar.id() + " knows the holidays through " +
                             calendar.valid_through()->str() + " (" + std::to_string(left) +
                             " days)";
    if (!calendar.covers(today)) {
        findings.bad(name,
                     calendar.id() + " does not cover " + today.str() + ": only weekends are known",
                     "put a newer " + calendar.id() + ".json into calendars/ in the state folder");
    } else if (left < kCalendarWarnDays && host.replayed() == nullptr) {
        findings.warn(name,
                      text,
                      "put a newer " + calendar.id() + ".json into calendars/ in the state folder");
    } else {
        findings.ok(name, text);
    }
}

void look_at_models(Host& host, const Desk& desk, Findings& findings, const std::stop_token& stop) {
    std::size_t ready = 0;
    std::string reasons;
    for (const std::string& model : desk.config().models) {
        if (stop.stop_requested()) {
            return;
        }
        const auto config = host.config().models.find(model);
        Result<> outcome = Error(Errc::not_found, "no [model." + model + "] in the configuration");
        if (config != host.config().models.end()) {
            auto entry = host.registry().model_plugin(config->second);
            outcome = entry ? probe_model(host, desk, **entry, config->second.model)
                            : Result<>(entry.error());
        }
        if (outcome) {
            ++ready;
        } else {
            reasons += (reasons.empty() ? "" : "; ") + model + ": " + outcome.error().message();
        }
    }
    const std::string name = "models " + desk.name();
    if (ready == 0) {
        findings.bad(name,
                     reasons.empty() ? "the desk lists no model" : "none is ready: " + reasons,
                     "put one right; triggers wait until a model is ready");
    } else if (!reasons.empty()) {
        findings.warn(
            name, std::to_string(ready) + " ready; " + reasons, "the router passes those over");
    } else {
        findings.ok(name, std::to_string(ready) + " ready");
    }
}

/// The part of a request that no compression shortens, and whether a flush could save anything.
void look_at_context(const Host& host, const Desk& desk, Findings& findings) {
    constexpr std::int64_t kWarnPercent = 25;
    const DeskDate today = desk.zone().date_of(host.clock().now());
    const std::int64_t fixed = fixed_tokens(desk, host.registry(), today);
    for (const std::string& model : desk.config().models) {
        const auto config = host.config().models.find(model);
        const bool told = config != host.config().models.end() && config->second.window > 0;
        const std::int64_t window = told ? config->second.window : kAssumedWindow;
        const std::int64_t percent = fixed * 100 / window;
        const std::string name = "context " + desk.name() + " " + model;
        const std::string text = "the fixed part takes about " + std::to_string(fixed) + " of " +
                                 std::to_string(window) + " tokens, " + std::to_string(percent) +
                                 " %" + (told ? "" : " (no window in the configuration)");
        const char* const todo =
            "shorten Memory.md or the instructions, give the desk fewer tools, or take a model "
            "with a larger window";
        if (fixed > window) {
            findings.bad(name, text, todo);
        } else if (percent > kWarnPercent) {
            findings.warn(name, text, todo);
        } else {
            findings.ok(name, text);
        }
    }
    if (auto fit = check_flush(desk.tools(), today); !fit) {
        findings.warn("flush " + desk.name(),
                      fit.error().message(),
                      "name the plugin memory in the desk's plugins: a conversation is compressed "
                      "without saving anything first");
    } else {
        findings.ok("flush " + desk.name(), "it can append to the day's notes");
    }
}

void look_at_desk(Host& host,
                  const DeskStatus& status,
                  Findings& findings,
                  const std::stop_token& stop) {
    const std::string name = "desk " + status.name;
    auto found = host.desk(status.name);
    if (!found) {
        findings.bad(name, found.error().message(), "put it right and start the host again");
        return;
    }
    const Desk& desk = **found;
    if (status.state == "read-only" || status.state == "failed") {
        findings.bad(name,
                     status.state + ": " + status.reason,
                     "look at the disk, then start the host again");
    } else {
        findings.ok(name, status.state + ", " + std::to_string(status.queued) + " queued");
    }
    auto newest = desk.checkpoints().list(1);
    if (newest) {
        findings.ok("checkpoints " + status.name,
                    newest->empty() ? std::string("readable, none yet")
                                    : "readable, newest is " + newest->front().id);
    } else {
        findings.bad("checkpoints " + status.name,
                     newest.error().message(),
                     "no write is possible without it; look at workspace/.checkpoints/" +
                         status.name + ".git with git fsck");
    }
    look_at_calendar(host, desk, findings);
    look_at_models(host, desk, findings, stop);
    look_at_context(host, desk, findings);
}

void look_at_disk(const Host& host, Findings& findings) {
    auto free = host.needs().os.free_bytes(host.needs().state.dir());
    const std::uint64_t mark = host.config().host.min_free_bytes;
    if (!free) {
        findings.bad("disk", free.error().message(), "look at the disk");
    } else if (*free < mark) {
        findings.bad("disk",
                     mebibytes(*free) + " free, below the mark of " + mebibytes(mark) +
                         ": turns are refused",
                     "make room");
    } else if (*free / kRoomyTimes < mark) {
        findings.warn(
            "disk", mebibytes(*free) + " free, the mark is " + mebibytes(mark), "make room soon");
    } else {
        findings.ok("disk", mebibytes(*free) + " free");
    }
}

void look_at_file_system(const Host& host, Findings& findings) {
    const auto found = file_system_at(host.needs().state.dir());
    if (!found) {
        findings.bad("file system", found.error().message(), "look at the disk");
    } else if (found->fit == FileSystem::Fit::yes) {
        findings.ok("file system", found->name);
    } else if (found->fit == FileSystem::Fit::no_disk) {
        findings.warn("file system",
                      found->name + ": it is memory, a restart of the machine takes all of it",
                      "keep the state folder on a disk (ext4, xfs, btrfs)");
    } else {
        findings.warn("file system",
                      found->name + ": nobody tried what it keeps when the power goes",
                      "keep the state folder on ext4, xfs or btrfs");
    }
}

void look_at_watcher(const Host& host, Findings& findings) {
    if (host.replayed() != nullptr) {
        findings.ok("owner's edits", "replayed: looked for before each turn");
        return;
    }
    const FolderWatcher::Status status = host.watched();
    const std::string text = std::to_string(status.folders) + " folders of " +
                             std::to_string(status.roots) + " open desks are watched";
    if (!status.reason.empty()) {
        findings.warn("owner's edits",
                      text + "; " + status.reason,
                      "nothing is lost: unwatched edits become checkpoints when the next turn "
                      "starts; raise the limit to have them at once");
    } else if (status.overflows != 0) {
        findings.ok("owner's edits",
                    text + "; the kernel's queue was full " + std::to_string(status.overflows) +
                        " times, then everything was looked at");
    } else {
        findings.ok("owner's edits", text);
    }
}

}  // namespace

Result<Json> examine(Host& host, const std::stop_token& stop) {
    Findings findings;
    look_at_owner(host, findings);
    look_at_disk(host, findings);
    look_at_file_system(host, findings);
    look_at_zone(host, findings);
    look_at_isolation(host, findings, stop);
    look_at_plugins(host, findings);
    for (const DeskStatus& status : host.statuses()) {
        if (stop.stop_requested()) {
            return Error(Errc::cancelled, "doctor: the host is stopping");
        }
        look_at_desk(host, status, findings, stop);
    }
    look_at_watcher(host, findings);
    for (const std::string& warning : host.config().warnings) {
        findings.warn("configuration", warning, "see docs/operations.md");
    }
    return findings.to_json();
}

}  // namespace daybook
