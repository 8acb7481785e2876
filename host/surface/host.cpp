#include "host/surface/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include <daybook/version.h>

#include "host/format/config_tables.hpp"
#include "host/surface/config_file.hpp"
#include "host/surface/plugin_control.hpp"

namespace daybook {
namespace {

constexpr const char* kReplayFile = "replay_clock";

LogLevel level_of(int level) {
    switch (level) {
        case 0:
            return LogLevel::debug;
        case 1:
            return LogLevel::info;
        case 2:
            return LogLevel::warn;
        default:
            return LogLevel::error;
    }
}

/// Where systemd puts a service's credentials; empty elsewhere.
std::filesystem::path system_credentials() {
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    return folder != nullptr && *folder == '/' ? folder : std::filesystem::path();
}

std::string counted(std::size_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace

Host::Host(const Needs& needs)
    : needs_(needs),
      watcher_(needs.loop),
      http_(needs.loop),
      keys_(needs.os, needs.state.path() / "keys", system_credentials()),
      slots_([this](const std::string& desk, const std::optional<Error>& failure) {
          if (!failure) {
              needs_.log.info("desk opened desk=" + desk);
              return;
          }
          needs_.log.error("desk did not open desk=" + desk + " reason=" + failure->message());
          record("desk",
                 Json::object()
                     .set("what", "failed")
                     .set("desk", desk)
                     .set("code", daybook::name_of(failure->code()))
                     .set("reason", failure->message()));
      }),
      started_(std::chrono::steady_clock::now()) {}

Host::~Host() {
    jobs_.stop();
    worker_.stop();
}

Result<std::unique_ptr<Host>> Host::open(const Needs& needs, Config config) {
    std::unique_ptr<Host> host(new Host(needs));
    if (auto made = host->make_clock(config.host); !made) {
        return made.error();
    }
    auto journal = Journal::open(
        needs.os, *host->clock_, needs.state.dir(), "journal/_host", "_host", std::nullopt);
    if (!journal) {
        return journal.error();
    }
    host->journal_ = std::move(*journal);
    host->plugins_ = std::make_unique<PluginControl>(*host);
    if (auto opened = host->plugins_->open(); !opened) {
        return opened.error();
    }
    // Without them a reload takes every desk for changed.
    auto text = read_config_text(needs.places.config, "");
    auto tables = text ? config_tables(*text, needs.places.config.string())
                       : Result<std::map<std::string, std::string>>(text.error());
    auto first = host->make_generation(
        std::move(config), tables ? std::move(*tables) : std::map<std::string, std::string>());
    if (!first) {
        return first.error();
    }
    host->registry_->adopt(*(*first)->registry);
    host->current_ = first->get();
    host->generations_.push_back(std::move(*first));
    host->tell_plugins(*host->current_.load()->registry);
    host->plugins_->resume();
    return host;
}

Result<std::unique_ptr<Host::Generation>> Host::make_generation(
    Config config, std::map<std::string, std::string> tables) {
    auto made = std::make_unique<Generation>();
    made->config = std::move(config);
    made->tables = std::move(tables);
    auto registry = Registry::load(needs_.os, plugin_places(plugins_->states()), made->config);
    if (!registry) {
        return registry.error();
    }
    made->registry = std::make_unique<Registry>(std::move(*registry));
    made->services.emplace(DeskServices{
        .os = needs_.os,
        .clock = *clock_,
        .loop = needs_.loop,
        .registry = *registry_,
        .config = made->config,
        .host_journal = *journal_,
        .home = needs_.state.path(),
        .share = needs_.places.share,
        .runner_program = needs_.places.runner,
        .probe_file = needs_.state.path() / "format",
        .log = [&log = needs_.log](int level,
                                   const std::string& line) { log.write(level_of(level), line); },
        .owner_folder = needs_.places.config.parent_path(),
        .http = &http_,
        .keys = &keys_,
        .on_runner = [&plugins = *plugins_](
                         const PluginEntry& entry,
                         const std::string& what,
                         const RunnerStatus& status) { plugins.on_runner(entry, what, status); },
        // A replayed day comes out the same every time: edits are found where it looks for them.
        .watcher = replayed_ == nullptr ? &watcher_ : nullptr});
    return made;
}

Registry::Places Host::plugin_places(PluginStates states) const {
    Registry::Places places;
    places.search_path = default_plugin_path();
    places.state = needs_.state.path();
    places.shipped = shipped_plugin_folders();
    places.states = std::move(states);
    return places;
}

void Host::tell_plugins(const Registry& registry) {
    for (const std::string& change : registry.changes()) {
        needs_.log.info("plugins changed since the last start: " + change);
        record("plugin", Json::object().set("what", "changed").set("text", change));
    }
    for (const auto& [name, plugin] : registry.plugins()) {
        if (!plugin->refused.empty()) {
            needs_.log.error("plugin refused plugin=" + name + " reason=" + plugin->refused);
            record("plugin",
                   Json::object()
                       .set("what", "refused")
                       .set("plugin", name)
                       .set("reason", plugin->refused));
        }
    }
}

Result<> Host::make_clock(const HostConfig& config) {
    if (!config.replay_start) {
        clock_ = std::make_unique<SystemClock>();
        return {};
    }
    auto start = parse_rfc3339(*config.replay_start);
    if (!start) {
        return start.error().during("host.replay_start");
    }
    auto saved = read_file(needs_.os, needs_.state.dir(), kReplayFile, 256);
    if (saved) {
        while (!saved->empty() && saved->back() == '\n') {
            saved->pop_back();
        }
        auto position = parse_rfc3339(*saved);
        if (!position) {
            return Error(
                Errc::corrupt,
                std::string("read ") + kReplayFile + ": " + position.error().message() +
                    "; put in the time the replay had reached, or remove it to start over");
        }
        start = std::max(*start, *position);
    } else if (saved.error().code() != Errc::not_found) {
        return saved.error();
    }
    auto clock = std::make_unique<ReplayedClock>(*start);
    replayed_ = clock.get();
    clock_ = std::move(clock);
    return {};
}

Result<> Host::save_replay_position(Timestamp at) {
    return write_file_durably(
        needs_.os, needs_.state.dir(), kReplayFile, to_rfc3339(at) + "\n", 0600);
}

void Host::open_desks(const std::function<void(std::size_t done, std::size_t all)>& on_progress) {
    const Generation& now = *current_.load();
    std::size_t done = 0;
    for (const auto& [name, config] : now.config.desks) {
        if (!slots_.add(*now.services, config, replayed_ == nullptr) && on_progress) {
            on_progress(done + 1, now.config.desks.size());
        }
        ++done;
    }
}

Result<Desk*> Host::desk(std::string_view name) const {
    auto desk = slots_.get(std::string(name));
    return desk ? Result<Desk*>(desk->get()) : Result<Desk*>(desk.error());
}

std::vector<Desk*> Host::desks() const {
    std::vector<Desk*> open;
    for (const auto& desk : slots_.open()) {
        open.push_back(desk.get());
    }
    return open;
}

std::vector<DeskStatus> Host::statuses() const {
    return slots_.statuses();
}

Desk* Host::any_desk() const {
    if (const auto open = slots_.open(); !open.empty()) {
        return open.front().get();
    }
    for (const DeskStatus& status : slots_.statuses()) {
        if (auto desk = slots_.get(status.name)) {
            return desk->get();
        }
    }
    return nullptr;
}

std::string Host::summary() const {
    std::string text = counted(slots_.size(), "desk");
    std::size_t plugins = 0;
    for (const auto& [name, plugin] : registry().plugins()) {
        plugins += plugin->refused.empty() ? 1U : 0U;
    }
    text += ", " + counted(plugins, "plugin");
    std::size_t failed = 0;
    const DeskStatus* next = nullptr;
    const auto all = statuses();
    for (const DeskStatus& status : all) {
        failed += status.state == "failed" ? 1U : 0U;
        if (!status.next_rollover.empty() &&
            (next == nullptr || status.next_rollover < next->next_rollover)) {
            next = &status;
        }
    }
    if (failed != 0) {
        text += ", " + counted(failed, "desk") + " failed";
    }
    if (next != nullptr && next->next_rollover.size() >= 16) {
        text += ", next rollover " + next->name + " " + next->next_rollover.substr(0, 10) + " " +
                next->next_rollover.substr(11, 5);
    }
    return text;
}

bool Host::tick() {
    plugins_->tick();
    const bool more = slots_.tick(clock_->now());
    // A replay looks at every desk; a job may hold one.
    if (replayed_ == nullptr && !is_stopping() && !jobs_.any()) {
        slots_.rest(config().host.desk_idle);
    }
    return more;
}

void Host::record(std::string type, Json data) {
    JournalEntry entry;
    entry.type = std::move(type);
    entry.data = std::move(data);
    auto written = journal_->append(std::move(entry));
    if (!written) {
        needs_.log.error("the host's journal was not written reason=" + written.error().message());
    }
}

void Host::request_stop(const std::string& why) {
    std::function<void(const std::string&)> listener;
    {
        const std::lock_guard guard(stop_mutex_);
        listener = stop_listener_;
    }
    if (listener) {
        listener(why);
    }
}

void Host::on_stop_requested(std::function<void(const std::string&)> listener) {
    const std::lock_guard guard(stop_mutex_);
    stop_listener_ = std::move(listener);
}

void Host::drain(std::chrono::milliseconds grace) {
    jobs_.stop();
    // At once, not one after the other: each desk has the whole grace.
    std::vector<std::jthread> waiting;
    for (Desk* desk : desks()) {
        if (desk->status().state == "idle") {
            desk->stop(grace);
        } else {
            waiting.emplace_back([desk, grace] { desk->stop(grace); });
        }
    }
    waiting.clear();
    worker_.stop();
    slots_.leave_marks();
}

void Host::cut_now() {
    for (Desk* desk : desks()) {
        desk->cut();
    }
}

}  // namespace daybook
