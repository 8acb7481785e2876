#include "host/surface/desk_slots.hpp"

#include <thread>
#include <utility>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::seconds kWatchersLeave{5};

DeskStatus failed_status(const DeskConfig& config, const Error& failure) {
    DeskStatus status;
    status.name = config.name;
    status.state = "failed";
    status.reason = failure.message();
    status.zone = config.zone;
    status.calendar = config.calendar;
    return status;
}

}  // namespace

bool DeskSlots::add(const DeskServices& services, const DeskConfig& config, bool may_rest) {
    const std::size_t open_now = open().size();
    std::optional<DeskRest> rest;
    if (may_rest) {
        auto stamp = rest_stamp(services, config);
        rest = stamp ? read_mark(services, config.name, *stamp) : std::nullopt;
        if (!rest && open_now >= kRoomy) {
            rest = fresh_rest(services, config);
        }
    }
    const bool rests = rest.has_value();
    {
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_[config.name];
        slot.services = &services;
        slot.config = config;
        slot.rest = std::move(rest);
    }
    if (rests) {
        return true;
    }
    auto opened = open_slot(config.name);
    if (opened && may_rest && open_now >= kRoomy && (*opened)->is_idle()) {
        opened->reset();
        close_slot(config.name);
    }
    return false;
}

Result<std::shared_ptr<Desk>> DeskSlots::get(const std::string& name) {
    {
        std::unique_lock lock(mutex_);
        const auto found = slots_.find(name);
        if (found == slots_.end()) {
            std::string names;
            for (const auto& [each, slot] : slots_) {
                names += (names.empty() ? "" : ", ") + each;
            }
            return Error(
                Errc::not_found,
                "no desk " + printable(name, 64) + "; there " +
                    (names.empty() ? "is none: add a [desk.NAME] table to the configuration"
                                   : "is: " + names));
        }
        found->second.busy_at = std::chrono::steady_clock::now();
        if (found->second.desk && found->second.away.empty()) {
            return found->second.desk;
        }
    }
    return open_slot(name);
}

Result<std::shared_ptr<Desk>> DeskSlots::open_slot(const std::string& name) {
    const DeskServices* services = nullptr;
    DeskConfig config;
    {
        std::unique_lock lock(mutex_);
        const auto find = [&]() -> Slot* {
            const auto found = slots_.find(name);
            return found == slots_.end() ? nullptr : &found->second;
        };
        const bool free = changed_.wait_for(lock, kPatience, [&] {
            const Slot* slot = find();
            return slot == nullptr || !slot->opening || !slot->away.empty();
        });
        Slot* slot = find();
        if (slot == nullptr) {
            return Error(Errc::not_found, "no desk " + printable(name, 64));
        }
        if (!free || !slot->away.empty()) {
            return Error(Errc::busy,
                         "desk " + name + " is " +
                             (slot->away.empty() ? "being opened" : slot->away) + "; try again");
        }
        if (slot->desk) {
            return slot->desk;
        }
        slot->opening = true;
        services = slot->services;
        config = slot->config;
    }
    auto opened = Desk::open(*services, config);
    std::optional<Error> failure;
    std::shared_ptr<Desk> desk;
    bool told_before = false;
    {
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_[name];
        slot.opening = false;
        slot.busy_at = std::chrono::steady_clock::now();
        if (opened) {
            desk = std::move(*opened);
            slot.desk = desk;
            slot.rest.reset();
            slot.failure.reset();
        } else {
            failure = Error(Errc::unavailable,
                            "desk " + name + " did not open: " + opened.error().message());
            told_before = slot.failure && slot.failure->message() == opened.error().message();
            slot.failure = opened.error();
        }
    }
    changed_.notify_all();
    if (!told_before) {
        told_(name, failure ? std::optional<Error>(opened.error()) : std::nullopt);
    }
    return failure ? Result<std::shared_ptr<Desk>>(*failure) : Result<std::shared_ptr<Desk>>(desk);
}

std::vector<std::shared_ptr<Desk>> DeskSlots::open() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Desk>> open;
    for (const auto& [name, slot] : slots_) {
        if (slot.desk) {
            open.push_back(slot.desk);
        }
    }
    return open;
}

std::size_t DeskSlots::size() const {
    const std::lock_guard lock(mutex_);
    return slots_.size();
}

std::vector<DeskStatus> DeskSlots::statuses() {
    struct Row {
        std::shared_ptr<Desk> desk;
        DeskStatus status;
        const DeskServices* services;
        DeskConfig config;
    };
    std::vector<Row> rows;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, slot] : slots_) {
            Row row{slot.desk, {}, slot.services, slot.config};
            if (!slot.desk && slot.failure) {
                row.status = failed_status(slot.config, *slot.failure);
            } else if (slot.rest) {
                row.status = slot.rest->status;
            } else if (!slot.desk) {
                row.status.name = name;
                row.status.state = "opening";
                row.status.zone = slot.config.zone;
                row.status.calendar = slot.config.calendar;
            }
            rows.push_back(std::move(row));
        }
    }
    std::vector<DeskStatus> all;
    for (Row& row : rows) {
        if (row.desk) {
            row.status = row.desk->status();
        } else if (row.status.state == "idle") {
            // At rest for more than a day: the rollover that was next has passed.
            const auto next = parse_rfc3339(row.status.next_rollover);
            if (next && *next <= row.services->clock.now()) {
                row.status.next_rollover = next_rollover_of(*row.services, row.config);
                const std::lock_guard lock(mutex_);
                const auto found = slots_.find(row.status.name);
                if (found != slots_.end() && found->second.rest) {
                    found->second.rest->status.next_rollover = row.status.next_rollover;
                }
            }
        }
        all.push_back(std::move(row.status));
    }
    return all;
}

bool DeskSlots::tick(Timestamp now) {
    for (const auto& desk : open()) {
        desk->check_clock();
    }
    std::vector<std::string> due;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, slot] : slots_) {
            if (slot.rest && slot.rest->due && *slot.rest->due <= now) {
                due.push_back(name);
            }
        }
    }
    for (std::size_t i = 0; i < due.size() && i < kOpenedAtOnce; ++i) {
        static_cast<void>(open_slot(due[i]));  // a failure is told
    }
    return due.size() > kOpenedAtOnce;
}

void DeskSlots::rest(std::chrono::seconds idle) {
    const SteadyTime now = std::chrono::steady_clock::now();
    std::vector<std::string> quiet;
    {
        const std::lock_guard lock(mutex_);
        std::size_t open_now = 0;
        for (const auto& [name, slot] : slots_) {
            open_now += slot.desk ? 1U : 0U;
        }
        for (auto& [name, slot] : slots_) {
            if (!slot.desk || slot.opening || slot.desk.use_count() > 1) {
                continue;
            }
            if (!slot.desk->is_idle()) {
                slot.busy_at = now;
            } else if (now - slot.busy_at >= idle || open_now > kRoomy) {
                quiet.push_back(name);
                --open_now;
            }
        }
    }
    for (const std::string& name : quiet) {
        close_slot(name);
    }
}

void DeskSlots::close_slot(const std::string& name) {
    std::shared_ptr<Desk> desk;
    const DeskServices* services = nullptr;
    DeskConfig config;
    {
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_.at(name);
        if (!slot.desk || slot.opening || slot.desk.use_count() > 1) {
            return;
        }
        services = slot.services;
        config = slot.config;
        desk = std::move(slot.desk);
        slot.desk = nullptr;
        slot.opening = true;  // who asks for it waits until it is closed
    }
    DeskRest rest = desk->rest();
    desk->stop(std::chrono::milliseconds(0));
    const bool settled = desk->is_settled();
    desk.reset();
    auto stamp = rest_stamp(*services, config);
    // Without its mark it is only opened at the next start; what is in memory says the same.
    if (stamp && settled) {
        static_cast<void>(leave_mark(*services, name, rest, *stamp));
    }
    {
        const std::lock_guard lock(mutex_);
        Slot& slot = slots_.at(name);
        slot.opening = false;
        slot.rest = std::move(rest);
        if (!settled) {
            slot.rest->due = Timestamp{};  // opened by the next look at the clock
        }
    }
    changed_.notify_all();
}

void DeskSlots::leave_marks() {
    for (const auto& desk : open()) {
        const DeskServices* services = nullptr;
        DeskConfig config;
        {
            const std::lock_guard lock(mutex_);
            services = slots_.at(desk->name()).services;
            config = slots_.at(desk->name()).config;
        }
        if (services->clock.is_replayed() || !desk->is_settled()) {
            continue;
        }
        if (auto stamp = rest_stamp(*services, config)) {
            static_cast<void>(leave_mark(*services, desk->name(), desk->rest(), *stamp));
        }
    }
}

bool DeskSlots::end(std::shared_ptr<Desk> desk, std::chrono::milliseconds grace) {
    if (!desk) {
        return true;
    }
    desk->stop(grace);
    desk->tell_reloaded();
    // Who watched it lets go now; two objects of one desk must not be open at once.
    const auto deadline = std::chrono::steady_clock::now() + kWatchersLeave;
    while (desk.use_count() > 1 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return desk.use_count() == 1;
}

void DeskSlots::give_back(const std::string& name) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = slots_.find(name); found != slots_.end()) {
            found->second.opening = false;
            found->second.away.clear();
        }
    }
    changed_.notify_all();
}

Result<> DeskSlots::reopen(const DeskServices& services,
                           const DeskConfig& config,
                           std::chrono::milliseconds grace) {
    std::shared_ptr<Desk> old;
    {
        std::unique_lock lock(mutex_);
        Slot& slot = slots_[config.name];
        const bool free = changed_.wait_for(lock, kPatience, [&] { return !slot.opening; });
        slot.services = &services;
        slot.config = config;
        slot.failure.reset();
        if (!free) {
            return {};  // whoever has it opens it under these
        }
        if (!slot.desk && slot.rest) {
            slot.rest.reset();  // its next rollover may be another one now
        }
        old = std::move(slot.desk);
        slot.desk = nullptr;
        slot.opening = true;
        slot.away = "being given its new configuration";
    }
    static_cast<void>(end(std::move(old), grace));
    give_back(config.name);
    auto opened = open_slot(config.name);
    return opened ? Result<>() : Result<>(opened.error());
}

Result<> DeskSlots::while_closed(const std::string& name,
                                 const std::string& is,
                                 std::chrono::milliseconds grace,
                                 const std::function<Result<>()>& work) {
    std::shared_ptr<Desk> old;
    {
        std::unique_lock lock(mutex_);
        const bool free = changed_.wait_for(lock, kPatience, [&] {
            const auto found = slots_.find(name);
            return found == slots_.end() || !found->second.opening;
        });
        const auto found = slots_.find(name);
        if (found == slots_.end()) {
            return Error(Errc::not_found, "no desk " + printable(name, 64));
        }
        Slot& slot = found->second;
        if (!free) {
            return Error(Errc::busy, "desk " + name + " is being opened; try again");
        }
        slot.rest.reset();
        slot.failure.reset();
        old = std::move(slot.desk);
        slot.desk = nullptr;
        slot.opening = true;
        slot.away = is;
    }
    const bool is_gone = end(std::move(old), grace);
    const Result<> worked =
        is_gone
            ? work()
            : Result<>(Error(Errc::busy, "desk " + name + ": a request still uses it; try again"));
    give_back(name);
    auto opened = open_slot(name);
    if (!worked) {
        return worked;
    }
    return opened ? Result<>() : Result<>(opened.error());
}

void DeskSlots::remove(const std::string& name, std::chrono::milliseconds grace) {
    std::shared_ptr<Desk> old;
    {
        std::unique_lock lock(mutex_);
        const auto found = slots_.find(name);
        if (found == slots_.end()) {
            return;
        }
        changed_.wait_for(lock, kPatience, [&] { return !found->second.opening; });
        old = std::move(found->second.desk);
        slots_.erase(found);
    }
    changed_.notify_all();
    end(std::move(old), grace);
}

}  // namespace daybook
