// history/1 and triggers/1: the desk's past as a feed, and its next trigger.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "host/plugin/host_verbs.hpp"

namespace daybook::verbs {
namespace {

constexpr std::size_t kMaxCursor = 64UL * 1024;
constexpr std::size_t kDefaultRecords = 500;
constexpr std::size_t kMaxRecords = 5000;
constexpr std::size_t kDefaultBytes = 1024UL * 1024;
constexpr std::size_t kMaxBytes = 4UL * 1024 * 1024;

constexpr std::array<std::pair<std::string_view, HandOver::Kind>, 3> kKinds{
    {{"fill", HandOver::Kind::fill},
     {"alert", HandOver::Kind::alert},
     {"job", HandOver::Kind::job}}};

/// A bound as the plugin asked for it: 0 = the default, never over the most.
std::optional<std::size_t> bound_of(std::string_view text, std::size_t usual, std::size_t most) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value == 0 ? usual : std::min(value, most);
}

}  // namespace

Result<std::string> serve_history(const VerbCall& call, const Arguments& arguments) {
    if (call.function != "read" || call.context.history == nullptr) {
        return not_served(call.verb);
    }
    if (auto count = want_count(call.verb, arguments, 3); !count) {
        return count.error();
    }
    if (arguments[0].size() > kMaxCursor) {
        return invalid(call.verb,
                       "cursor: at most " + std::to_string(kMaxCursor) +
                           " bytes; pass the one of the last batch as it is");
    }
    const auto records = bound_of(arguments[1], kDefaultRecords, kMaxRecords);
    const auto bytes = bound_of(arguments[2], kDefaultBytes, kMaxBytes);
    if (!records || !bytes) {
        return invalid(call.verb, "a bound is a whole number from 0 (the default) on");
    }
    return call.context.history->read(arguments[0], *records, *bytes);
}

Result<std::string> serve_triggers(const VerbCall& call, const Arguments& arguments) {
    if (call.function != "hand_over" || !call.context.hand_over) {
        return not_served(call.verb);
    }
    if (auto count = want_count(call.verb, arguments, 4); !count) {
        return count.error();
    }
    const auto kind = std::find_if(
        kKinds.begin(), kKinds.end(), [&](const auto& one) { return one.first == arguments[0]; });
    if (kind == kKinds.end()) {
        return invalid(call.verb,
                       "kind \"" + printable(arguments[0], 40) +
                           "\": a plugin may hand over fill, alert or job; a message comes from "
                           "the owner");
    }
    const std::string& key = arguments[1];
    if (key.empty() || !is_key_text(key)) {
        return invalid(call.verb,
                       "key: wanted 1 to " + std::to_string(kMaxKey) +
                           " bytes of text that are the same when the trigger is repeated");
    }
    if (!is_key_text(arguments[2])) {
        return invalid(call.verb,
                       "name: wanted at most " + std::to_string(kMaxKey) + " bytes of text");
    }
    if (auto allowed = charge_trigger(call.leash); !allowed) {
        return allowed.error();
    }
    auto receipt = call.context.hand_over(HandOver{
        kind->second, own_key(call.leash.plugin, key), arguments[2], arguments[3], call.leash});
    if (!receipt) {
        return receipt.error();
    }
    return receipt->dump();
}

}  // namespace daybook::verbs
