// journal/1: what a plugin may put on record itself.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "host/gate/content_rules.hpp"
#include "host/plugin/host_verbs.hpp"
#include "host/plugin/order_record.hpp"

namespace daybook::verbs {
namespace {

constexpr std::size_t kMaxJournalData = 32UL * 1024;
constexpr std::array<std::string_view, 4> kJournalTypes{"order", "refusal", "fill", "cancel"};
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
    if (auto fits = check_order_record(type, *data); !fits) {
        return fits.error().during(std::string(verb));
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
