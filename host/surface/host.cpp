#include "host/surface/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include <daybook/version.h>

#include "host/os/desk_path.hpp"
#include "host/surface/config_file.hpp"

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

DeskStatus failed_status(const DeskConfig& config, const Error& failure) {
    DeskStatus status;
    status.name = config.name;
    status.state = "failed";
    status.reason = failure.message();
    status.zone = config.zone;
    status.calendar = config.calendar;
    return status;
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

Host::Host(const Needs& needs, Config config)
    : needs_(needs),
      config_(std::move(config)),
      http_(needs.loop),
      keys_(needs.os, needs.state.path() / "keys", system_credentials()),
      started_(std::chrono::steady_clock::now()) {}

Host::~Host() {
    jobs_.stop();
    worker_.stop();
}

Result<std::unique_ptr<Host>> Host::open(const Needs& needs, Config config) {
    std::unique_ptr<Host> host(new Host(needs, std::move(config)));
    if (auto made = host->make_clock(); !made) {
        return made.error();
    }
    auto registry =
        Registry::load(needs.os, {default_plugin_path(), needs.state.path()}, host->config_);
    if (!registry) {
        return registry.error();
    }
    host->registry_ = std::make_unique<Registry>(std::move(*registry));
    auto journal = Journal::open(
        needs.os, *host->clock_, needs.state.dir(), "journal/_host", "_host", std::nullopt);
    if (!journal) {
        return journal.error();
    }
    host->journal_ = std::move(*journal);
    host->services_.emplace(DeskServices{
        .os = needs.os,
        .clock = *host->clock_,
        .loop = needs.loop,
        .registry = *host->registry_,
        .config = host->config_,
        .host_journal = *host->journal_,
        .home = needs.state.path(),
        .share = needs.places.share,
        .runner_program = needs.places.runner,
        .probe_file = needs.state.path() / "format",
        .log = [&log = needs.log](int level,
                                  const std::string& line) { log.write(level_of(level), line); },
        .owner_folder = needs.places.config.parent_path(),
        .http = &host->http_,
        .keys = &host->keys_});
    for (const std::string& change : host->registry_->changes()) {
        needs.log.info("plugins changed since the last start: " + change);
        host->record("plugin", Json::object().set("what", "changed").set("text", change));
    }
    for (const auto& [name, plugin] : host->registry_->plugins()) {
        if (!plugin.refused.empty()) {
            needs.log.error("plugin refused plugin=" + name + " reason=" + plugin.refused);
            host->record("plugin",
                         Json::object()
                             .set("what", "refused")
                             .set("plugin", name)
                             .set("reason", plugin.refused));
        }
    }
    return host;
}

Result<> Host::make_clock() {
    if (!config_.host.replay_start) {
        clock_ = std::make_unique<SystemClock>();
        return {};
    }
    auto start = parse_rfc3339(*config_.host.replay_start);
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

void Host::open_desks() {
    for (const auto& [name, config] : config_.desks) {
        Slot& slot = slots_[name];
        auto desk = Desk::open(*services_, config);
        if (desk) {
            slot.desk = std::move(*desk);
            needs_.log.info("desk opened desk=" + name);
            continue;
        }
        slot.failure = desk.error();
        needs_.log.error("desk did not open desk=" + name + " reason=" + desk.error().message());
        record("desk",
               Json::object()
                   .set("what", "failed")
                   .set("desk", name)
                   .set("code", daybook::name_of(desk.error().code()))
                   .set("reason", desk.error().message()));
    }
}

Result<Desk*> Host::desk(std::string_view name) const {
    const auto found = slots_.find(std::string(name));
    if (found == slots_.end()) {
        std::string names;
        for (const auto& [each, slot] : slots_) {
            names += (names.empty() ? "" : ", ") + each;
        }
        return Error(Errc::not_found,
                     "no desk " + printable(name, 64) + "; there " +
                         (names.empty() ? "is none: add a [desk.NAME] table to the configuration"
                                        : "is: " + names));
    }
    if (!found->second.desk) {
        const std::string why =
            found->second.failure ? found->second.failure->message() : std::string("not open yet");
        return Error(Errc::unavailable, "desk " + found->first + " did not open: " + why);
    }
    return found->second.desk.get();
}

std::vector<Desk*> Host::desks() const {
    std::vector<Desk*> open;
    for (const auto& [name, slot] : slots_) {
        if (slot.desk) {
            open.push_back(slot.desk.get());
        }
    }
    return open;
}

std::vector<DeskStatus> Host::statuses() const {
    std::vector<DeskStatus> all;
    for (const auto& [name, slot] : slots_) {
        if (slot.desk) {
            all.push_back(slot.desk->status());
        } else if (slot.failure) {
            all.push_back(failed_status(config_.desks.at(name), *slot.failure));
        }
    }
    return all;
}

std::string Host::summary() const {
    std::string text = counted(slots_.size(), "desk");
    std::size_t plugins = 0;
    for (const auto& [name, plugin] : registry_->plugins()) {
        plugins += plugin.refused.empty() ? 1U : 0U;
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

void Host::tick() {
    for (Desk* desk : desks()) {
        desk->check_clock();
    }
}

void Host::reload() {
    auto fresh = load_config(needs_.places.config, needs_.places.flags());
    if (!fresh) {
        needs_.log.error("configuration is wrong, the old one stays reason=" +
                         fresh.error().message());
        record("configuration",
               Json::object().set("what", "refused").set("reason", fresh.error().message()));
        return;
    }
    needs_.log.set_level(log_level_of(fresh->host.log_level));
    needs_.log.info(
        "configuration read again: the log level is in force; desks, models, plugins and the other "
        "settings change with the next start log_level=" +
        fresh->host.log_level);
    record("configuration",
           Json::object().set("what", "read").set("log_level", fresh->host.log_level));
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
}

void Host::cut_now() {
    for (Desk* desk : desks()) {
        desk->cut();
    }
}

}  // namespace daybook
