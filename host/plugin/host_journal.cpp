// journal/1: what a plugin may put on record itself.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "host/gate/content_rules.hpp"
#include "host/plugin/host_verbs.hpp"

namespace daybook::verbs {
namespace {

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

}  // namespace

Result<std::string> serve_journal(const VerbCall& call, const Arguments& arguments) {
    const VerbContext& context = call.context;
    const Leash& leash = call.leash;
    const std::string_view verb = call.verb;
    if (call.function != "append") {
        return not_served(verb);
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

}  // namespace daybook::verbs
