#include "host/turn/session_keeper.hpp"

#include <algorithm>

namespace daybook {
namespace {

bool is_cut(const DeskState& state) {
    return state.rollover && !(state.rollover->summarised && state.rollover->folded);
}

/// The clock going back never reopens a closed day.
DeskDate not_before(DeskDate day, const DeskState& state) {
    if (state.rollover) {
        day = std::max(day, state.rollover->day);
    }
    return day;
}

}  // namespace

std::optional<Timestamp> SessionKeeper::due_of(DeskDate day) const {
    if (rollover_.minutes == 0 && calendar_.is_trading_day(day)) {
        return zone_.instant(day.plus_days(1),
                             TimeOfDay{0});  // midnight closes the date that just ended
    }
    return calendar_.rollover_due(day, rollover_, zone_);
}

DeskDate SessionKeeper::day_of(Timestamp at) const {
    const DeskDate date = zone_.date_of(at);
    const DeskDate before = date.plus_days(-1);
    const DeskDate next = date.plus_days(1);
    for (const MarketSession& session :
         calendar_.sessions(next).value_or(std::vector<MarketSession>())) {
        // A session whose day is that of its close has begun the evening before.
        if (session.day_before && at >= session.opens_at(next, calendar_.zone())) {
            return next;
        }
    }
    if (zone_.time_of(at) < rollover_) {
        const auto sessions = calendar_.sessions(before);
        const bool overnight =
            sessions && std::any_of(sessions->begin(),
                                    sessions->end(),
                                    [](const MarketSession& session) { return session.next_day; });
        const auto end = overnight ? due_of(before) : std::nullopt;
        if (end && at < *end) {
            return before;
        }
    }
    return date;
}

std::optional<Timestamp> SessionKeeper::due(const DeskState& state,
                                            std::optional<Timestamp> opened) const {
    if (is_cut(state)) {
        return Timestamp{};
    }
    if (state.session.empty() || !state.session_day) {
        return std::nullopt;
    }
    const bool done = state.rollover && state.rollover->day == *state.session_day;
    const auto at = done ? std::nullopt : due_of(*state.session_day);
    if (!at || (opened && *opened >= *at)) {
        return std::nullopt;
    }
    return at;
}

KeeperPlan SessionKeeper::plan(const DeskState& state,
                               std::optional<Timestamp> opened,
                               Timestamp now) const {
    if (is_cut(state)) {
        return {KeeperPlan::Step::roll_over, state.rollover->day, "cut"};
    }
    const DeskDate today = day_of(now);
    if (state.session.empty() || !state.session_day) {
        return {KeeperPlan::Step::open, not_before(today, state), ""};
    }
    if (*state.session_day < today) {
        return {KeeperPlan::Step::roll_over, *state.session_day, "first turn"};
    }
    const auto at = due(state, opened);
    if (at && now >= *at) {
        return {KeeperPlan::Step::roll_over, *state.session_day, "time"};
    }
    return {KeeperPlan::Step::resume, *state.session_day, ""};
}

std::optional<Timestamp> SessionKeeper::next_due(Timestamp at) const {
    // That of the day before may still be to come: 00:00, or 03:00 after a night's session.
    const DeskDate before = zone_.date_of(at).plus_days(-1);
    for (int days = 0; days < 16; ++days) {
        const auto due = due_of(before.plus_days(days));
        if (due && *due > at) {
            return due;
        }
    }
    return std::nullopt;
}

}  // namespace daybook
