#include "host/plugin/host_calls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <tuple>
#include <utility>

#include <daybook/json.hpp>

#include "host/format/sha256.hpp"
#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

using Arguments = std::vector<std::string>;

/// The segment whose hours a plugin is told; a calendar without it tells all hours.
constexpr std::string_view kSegment = "cash";
constexpr std::size_t kMaxKey = 200;
constexpr std::size_t kMaxJournalData = 32UL * 1024;
constexpr std::array<std::string_view, 4> kJournalTypes{"order", "refusal", "fill", "cancel"};
/// Members that are money: decimal text, since a floating number is a different price.
constexpr std::array<std::string_view, 13> kMoneyMembers{"price",
                                                         "trigger_price",
                                                         "limit_price",
                                                         "avg_price",
                                                         "amount",
                                                         "value",
                                                         "fee",
                                                         "fees",
                                                         "charges",
                                                         "pnl",
                                                         "order_value",
                                                         "cash",
                                                         "turnover"};

Error invalid(std::string_view verb, const std::string& what) {
    return Error(Errc::invalid, std::string(verb) + ": " + what);
}

Result<> want_count(std::string_view verb, const Arguments& arguments, std::size_t count) {
    if (arguments.size() != count) {
        return invalid(verb,
                       "wants " + std::to_string(count) + " arguments, got " +
                           std::to_string(arguments.size()));
    }
    return {};
}

Json masked(const Json& value) {
    if (value.is_string()) {
        return mask_secrets(value.as_string());
    }
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json& item : value.items()) {
            out.push(masked(item));
        }
        return out;
    }
    if (value.is_object()) {
        Json out = Json::object();
        for (const auto& [name, member] : value.members()) {
            out.set(name, masked(member));
        }
        return out;
    }
    return value;
}

/// "24350.50", "-12", "0.05".
bool is_decimal(std::string_view text) {
    if (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    const std::size_t point = std::min(text.find('.'), text.size());
    const auto are_digits = [](std::string_view part) {
        return !part.empty() &&
               std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    return text.size() <= 40 && are_digits(text.substr(0, point)) &&
           (point == text.size() || are_digits(text.substr(point + 1)));
}

Result<> check_money(std::string_view verb, const Json& data) {
    for (const std::string_view member : kMoneyMembers) {
        const Json& value = data[member];
        const bool is_fine =
            value.is_null() || (value.is_string() && is_decimal(value.as_string()));
        if (!is_fine) {
            return invalid(verb,
                           "data." + std::string(member) +
                               ": money is decimal text such as \"1432.55\", got " +
                               printable(value.dump(), 40));
        }
    }
    return {};
}

bool is_key_text(std::string_view text) {
    return text.size() <= kMaxKey && is_utf8(text) &&
           std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20;
           });
}

/// Keys are one space for the whole journal: a plugin's stay below its own name, so that it can
/// take neither another plugin's nor one of the host's ("intent:…", "rollover:…"), whose record
/// would then be dropped as a repeat.
std::string own_key(const std::string& plugin, const std::string& key) {
    return key.starts_with(plugin + ":") ? key : plugin + ":" + key;
}

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
        const Timestamp open = theirs.instant(day, session.open);
        const Timestamp close =
            theirs.instant(session.next_day ? day.plus_days(1) : day, session.close);
        const bool same_zone = theirs.name() == context.zone.name();
        Json one = Json::object();
        // In its own zone the calendar's text stands: a close of 24:00 would come back as 00:00.
        one.set("open", same_zone ? session.open.str() : context.zone.time_of(open).str());
        one.set("close", same_zone ? session.close.str() : context.zone.time_of(close).str());
        if (same_zone ? session.next_day
                      : context.zone.date_of(close) != context.zone.date_of(open)) {
            one.set("next_day", true);
        }
        out.push(std::move(one));
    }
    return out;
}

// --- desk-files/1

struct WriteVerb {
    FileOperation operation = kAppend;
    std::size_t arguments = 0;
    std::string_view rule_name;
};

/// What a verb works on, beside its arguments.
struct FilesCall {
    const VerbContext& context;
    ShownFiles& own_shown;
    Leash& leash;
    CallOutcome& outcome;

    /// Where a reading of the file is remembered.
    [[nodiscard]] ShownFiles& shown_by_reading(const DeskPath& path) const {
        return leash.file && leash.file->path == path ? own_shown : context.shown;
    }
};

Result<WriteReceipt> write_through_gate(const FilesCall& call,
                                        const WriteContext& where,
                                        const WriteRequest& request) {
    const VerbContext& context = call.context;
    const auto own_base = call.own_shown.find(request.path);
    if (!own_base) {
        return context.gate.write(call.leash, context.allowance, context.shown, where, request);
    }
    auto receipt =
        context.gate.write(call.leash, context.allowance, call.own_shown, where, request);
    if (receipt) {
        // The turn knows of the change, and of the content no more than before.
        context.shown.remember_change(request.path, *own_base, receipt->sha256);
    }
    return receipt;
}

Result<std::string> write_file(const FilesCall& call,
                               std::string_view verb,
                               const WriteVerb& what,
                               const Arguments& arguments) {
    const VerbContext& context = call.context;
    const Leash& leash = call.leash;
    if (auto count = want_count(verb, arguments, what.arguments); !count) {
        return count.error();
    }
    const auto path = DeskPath::parse(arguments[0]);
    if (!path) {
        // A name that never reaches the gate is a refusal of memory all the same: journalled like
        // one.
        JournalEntry entry;
        entry.type = "write_refused";
        entry.by = leash.plugin;
        entry.session = context.session;
        entry.turn = context.turn;
        entry.data = Json::object();
        entry.data.set("path", mask_secrets(printable(arguments[0])))
            .set("op", what.rule_name)
            .set("rule", "path")
            .set("text", mask_secrets(path.error().message()));
        if (auto written = context.journal.append(std::move(entry)); !written) {
            return written.error().during("journal the refusal of a write");
        }
        return Error(Errc::refused, path.error().message());
    }
    WriteRequest request{*path, what.operation, arguments[1], arguments[2], "", arguments.back()};
    if (what.operation == kEdit) {
        request.old_text = arguments[2];
        request.text = arguments[3];
    }
    const WriteContext where{context.session,
                             context.turn,
                             leash.tool,
                             std::to_string(leash.call),
                             leash.plugin,
                             leash.to_json(context.clock.steady())};
    auto receipt = write_through_gate(call, where, request);
    if (!receipt) {
        return receipt.error();
    }
    call.outcome.writes.push_back(*receipt);
    return receipt->to_json().dump();
}

/// A number from 0 on.
std::optional<std::size_t> count_in(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

Result<std::string> read_lines(const FilesCall& call,
                               std::string_view verb,
                               const Arguments& arguments) {
    if (auto count = want_count(verb, arguments, 4); !count) {
        return count.error();
    }
    const auto path = DeskPath::parse(arguments[0]);
    if (!path) {
        return path.error();
    }
    const auto first_line = count_in(arguments[1]);
    const auto max_lines = count_in(arguments[2]);
    const auto max_bytes = count_in(arguments[3]);
    if (!first_line || *first_line == 0 || !max_lines || !max_bytes) {
        return invalid(verb, "lines count from 1, a limit from 0 (none)");
    }
    std::string content;
    ShownFiles& shown = call.shown_by_reading(*path);
    auto lines = call.context.gate.read_lines(
        shown, *path, LineRange{*first_line, *max_lines, *max_bytes}, content);
    if (!lines) {
        return lines.error();
    }
    const bool is_text = is_utf8(lines->text);
    if (!is_text) {
        shown.mark_partial(*path);  // what is no text is not shown as it is
    }
    // The SDK's writer gives JSON for any bytes.
    return json::ObjectWriter()
        .add("text", lines->text)
        .add("first_line", lines->first_line)
        .add("lines", lines->lines)
        .add("total_lines", lines->total_lines)
        .add("bytes", content.size())
        .add("sha256", sha256_hex(content))
        .add("whole", is_text && lines->text.size() == content.size())
        .add("cut_in_line", lines->cut_in_line)
        .str();
}

Result<std::string> serve_files(const FilesCall& call,
                                std::string_view verb,
                                std::string_view function,
                                const Arguments& arguments) {
    const VerbContext& context = call.context;
    if (function == "append") {
        return write_file(call, verb, {kAppend, 4, "append"}, arguments);
    }
    if (function == "replace") {
        return write_file(call, verb, {kReplace, 4, "replace"}, arguments);
    }
    if (function == "edit") {
        return write_file(call, verb, {kEdit, 5, "edit"}, arguments);
    }
    if (function == "read_lines") {
        return read_lines(call, verb, arguments);
    }
    if (function != "read" && function != "list") {
        return Error(Errc::unsupported, std::string(verb) + ": this host does not serve it");
    }
    if (auto count = want_count(verb, arguments, 1); !count) {
        return count.error();
    }
    if (function == "read") {
        const auto path = DeskPath::parse(arguments[0]);
        return path ? context.gate.read(call.shown_by_reading(*path), *path)
                    : Result<std::string>(path.error());
    }
    auto listed = context.gate.list(arguments[0]);
    if (!listed) {
        return listed.error();
    }
    Json out = Json::array();
    for (const auto& file : *listed) {
        Json one = Json::object();
        one.set("path", file.path)
            .set("bytes", static_cast<std::int64_t>(file.bytes))
            .set("own", file.own);
        out.push(std::move(one));
    }
    return out.dump();
}

// --- clock/1

Result<std::string> serve_clock(const VerbContext& context,
                                std::string_view verb,
                                std::string_view function,
                                const Arguments& arguments) {
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
        if (auto count = want_count(verb, arguments, 1); !count) {
            return count.error();
        }
        const auto day = DeskDate::parse(arguments[0]);
        if (!day) {
            return day.error().during(verb);
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
    return Error(Errc::unsupported, std::string(verb) + ": this host does not serve it");
}

// --- journal/1

Result<std::string> serve_journal(const VerbContext& context,
                                  const Leash& leash,
                                  std::string_view verb,
                                  std::string_view function,
                                  const Arguments& arguments) {
    if (function != "append") {
        return Error(Errc::unsupported, std::string(verb) + ": this host does not serve it");
    }
    if (auto count = want_count(verb, arguments, 4); !count) {
        return count.error();
    }
    const auto& [type, key, order] = std::tie(arguments[0], arguments[1], arguments[2]);
    if (std::find(kJournalTypes.begin(), kJournalTypes.end(), type) == kJournalTypes.end()) {
        return invalid(verb,
                       "type \"" + printable(type, 40) +
                           "\": a plugin may append order, refusal, fill or cancel");
    }
    if (key.empty() || !is_key_text(key)) {
        return invalid(verb,
                       "key: wanted 1 to " + std::to_string(kMaxKey) +
                           " bytes of text that are the same when the record is repeated");
    }
    if (!is_key_text(order)) {
        return invalid(verb, "order: wanted at most " + std::to_string(kMaxKey) + " bytes of text");
    }
    JsonLimits limits;
    limits.max_bytes = kMaxJournalData;
    limits.max_depth = 16;
    const auto data = Json::parse(arguments[3], limits);
    if (!data) {
        return data.error().during(std::string(verb) + ": data");
    }
    if (!data->is_object()) {
        return invalid(verb, "data: wanted a JSON object");
    }
    if (auto money = check_money(verb, *data); !money) {
        return money.error();
    }
    JournalEntry entry;
    entry.type = type;
    entry.by = leash.plugin;
    entry.session = context.session;
    entry.turn = context.turn;
    entry.key = own_key(leash.plugin, key);
    entry.order = order;
    entry.data = masked(*data);
    auto record = context.journal.append(std::move(entry));
    if (!record) {
        return record.error();
    }
    return Json::object({{"id", record->id}}).dump();
}

struct ServedGroup {
    std::string_view prefix;
    Group group;
};
constexpr std::array<ServedGroup, 4> kServed{{{"desk-files/1.", kDeskFiles},
                                              {"clock/1.", kClock},
                                              {"tools/1.", kTools},
                                              {"journal/1.", kJournal}}};

}  // namespace

Result<std::string> HostCalls::serve(Leash& leash,
                                     std::string_view verb,
                                     const std::vector<std::string>& arguments,
                                     CallOutcome& outcome) {
    const auto served = std::find_if(kServed.begin(), kServed.end(), [&](const ServedGroup& group) {
        return verb.starts_with(group.prefix);
    });
    if (served == kServed.end()) {
        return Error(Errc::unsupported,
                     "verb " + printable(verb, 60) + ": this host does not serve it");
    }
    if (auto allowed = check_group(leash, served->group, context_.clock.steady()); !allowed) {
        return allowed.error();
    }
    const std::string_view function = verb.substr(served->prefix.size());
    switch (served->group) {
        case kDeskFiles:
            return serve_files({context_, own_shown_, leash, outcome}, verb, function, arguments);
        case kClock:
            return serve_clock(context_, verb, function, arguments);
        case kJournal:
            // From here on the effect may have happened, whatever the answer.
            outcome.external_effect = true;
            return serve_journal(context_, leash, verb, function, arguments);
        case kTools:
            if (function != "call" || !context_.call_tool) {
                return Error(Errc::unsupported, std::string(verb) + ": not served in this turn");
            }
            if (auto count = want_count(verb, arguments, 2); !count) {
                return count.error();
            }
            return context_.call_tool(leash, arguments[0], arguments[1], outcome);
        case kHistory:
        case kScratch:
        case kHttp:
        case kProcess:
        case kTriggers:
            break;
    }
    return Error(Errc::unsupported,
                 "verb " + printable(verb, 60) + ": this host does not serve it");
}

}  // namespace daybook
