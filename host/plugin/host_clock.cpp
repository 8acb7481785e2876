// clock/1: the desk's time, day and market hours.
#include <utility>
#include <vector>

#include "host/plugin/host_verbs.hpp"

namespace daybook::verbs {
namespace {

/// The segment whose hours a plugin is told; a calendar without it tells all hours.
constexpr std::string_view kSegment = "cash";

std::string_view name_of(Market market) {
    switch (market) {
        case Market::open:
            return "open";
        case Market::closed:
            return "closed";
        case Market::unknown:
            break;
    }
    return "unknown";
}

/// The calendar's sessions of the date, as wall-clock times of the desk's zone.
Json sessions_json(const VerbContext& context,
                   DeskDate day,
                   const std::vector<MarketSession>& sessions) {
    Json out = Json::array();
    const Zone& theirs = context.calendar.zone();
    for (const MarketSession& session : sessions) {
        const Timestamp open = session.opens_at(day, theirs);
        const Timestamp close = session.closes_at(day, theirs);
        const bool same_zone = theirs.name() == context.zone.name();
        Json one = Json::object();
        // In its own zone the calendar's text stands: a close of 24:00 would come back as 00:00.
        one.set("open", same_zone ? session.open.str() : context.zone.time_of(open).str());
        one.set("close", same_zone ? session.close.str() : context.zone.time_of(close).str());
        if (same_zone ? session.next_day
                      : context.zone.date_of(close) != context.zone.date_of(open)) {
            one.set("next_day", true);
        }
        if (same_zone ? session.day_before : context.zone.date_of(open) < day) {
            one.set("day", "close");
        }
        out.push(std::move(one));
    }
    return out;
}

}  // namespace

Result<std::string> serve_clock(const VerbCall& call, const Arguments& arguments) {
    const VerbContext& context = call.context;
    const std::string_view function = call.function;
    const Timestamp now = context.clock.now();
    if (function == "now_ns") {
        return std::to_string(now.time_since_epoch().count());
    }
    if (function == "describe") {
        const auto sessions = context.calendar.sessions(context.day, kSegment);
        Json out = Json::object();
        out.set("now", context.zone.local(now))
            .set("day", context.day.str())
            .set("zone", context.zone.name())
            .set("market", name_of(context.calendar.market_at(now)))
            .set("sessions",
                 sessions ? sessions_json(context, context.day, *sessions) : Json::array());
        if (const auto next = context.calendar.next_open(now)) {
            out.set("next_open", context.zone.local(*next));
        }
        return out.dump();
    }
    if (function == "sessions") {
        if (auto count = want_count(call.verb, arguments, 1); !count) {
            return count.error();
        }
        const auto day = DeskDate::parse(arguments[0]);
        if (!day) {
            return day.error().during(call.verb);
        }
        const auto sessions = context.calendar.sessions(*day, kSegment);
        Json out = Json::object();
        out.set("day", day->str())
            .set("trading_day", context.calendar.is_trading_day(*day))
            .set("known", sessions.has_value() && context.calendar.covers(*day))
            .set("sessions", sessions ? sessions_json(context, *day, *sessions) : Json::array());
        if (const std::string name = context.calendar.name_of(*day); !name.empty()) {
            out.set("name", name);
        }
        return out.dump();
    }
    return not_served(call.verb);
}

}  // namespace daybook::verbs
