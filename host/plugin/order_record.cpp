#include "host/plugin/order_record.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "host/gate/content_rules.hpp"

namespace daybook {
namespace {

/// Members that are money: decimal text, since a floating number is a different price.
constexpr std::array<std::string_view, 13> kMoney{"price",
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
constexpr std::array<std::string_view, 3> kQuantities{"qty", "cum_qty", "left_qty"};
constexpr std::array<std::string_view, 9> kTexts{
    "symbol", "side", "order_type", "product", "validity", "trade_id", "code", "who", "text"};
constexpr std::array<std::string_view, 2> kSides{"buy", "sell"};
constexpr std::array<std::string_view, 3> kRefusers{"limit", "broker", "venue"};
constexpr std::array<std::string_view, 5> kCancellers{"owner", "desk", "limit", "broker", "venue"};
constexpr std::array<std::string_view, 20> kCodes{"market_closed",
                                                  "holiday",
                                                  "outside_price_band",
                                                  "freeze_quantity",
                                                  "lot_size",
                                                  "tick_size",
                                                  "max_order_value",
                                                  "max_position",
                                                  "max_orders_per_minute",
                                                  "daily_loss_limit",
                                                  "insufficient_funds",
                                                  "no_holdings",
                                                  "unknown_symbol",
                                                  "no_price",
                                                  "duplicate",
                                                  "order_not_found",
                                                  "halted",
                                                  "read_only_turn",
                                                  "broker_error",
                                                  "venue_rejected"};

constexpr std::array<std::string_view, 3> kOfOrder{"symbol", "side", "qty"};
constexpr std::array<std::string_view, 6> kOfRefusal{
    "symbol", "side", "qty", "code", "who", "text"};
constexpr std::array<std::string_view, 4> kOfFill{"symbol", "side", "qty", "price"};
constexpr std::array<std::string_view, 2> kOfCancel{"left_qty", "who"};

using Names = std::span<const std::string_view>;

Names required_of(std::string_view type) {
    if (type == "order") {
        return kOfOrder;
    }
    if (type == "refusal") {
        return kOfRefusal;
    }
    return type == "fill" ? Names(kOfFill) : Names(kOfCancel);
}

Error wrong(std::string_view member, const std::string& wanted, const Json& got) {
    return Error(Errc::invalid,
                 "data." + std::string(member) + ": " + wanted + ", got " +
                     printable(mask_secrets(got.dump()), 40));
}

Result<> check_forms(const Json& data) {
    for (const std::string_view member : kMoney) {
        const Json& value = data[member];
        if (!value.is_null() && !(value.is_string() && is_decimal(value.as_string()))) {
            return wrong(member, "money is decimal text such as \"1432.55\"", value);
        }
    }
    for (const std::string_view member : kQuantities) {
        const Json& value = data[member];
        if (!value.is_null() && (value.kind() != Json::Kind::integer || value.as_integer() < 0)) {
            return wrong(member, "a quantity is a whole number from 0", value);
        }
    }
    for (const std::string_view member : kTexts) {
        const Json& value = data[member];
        if (!value.is_null() && (!value.is_string() || value.as_string().empty())) {
            return wrong(member, "wanted text", value);
        }
    }
    return {};
}

/// `member`, when it is there, is one of `words`.
Result<> check_word(const Json& data, std::string_view member, Names words) {
    const Json& value = data[member];
    if (value.is_null() ||
        std::find(words.begin(), words.end(), value.as_string()) != words.end()) {
        return {};
    }
    std::string all;
    for (const std::string_view word : words) {
        all += (all.empty() ? "" : ", ") + std::string(word);
    }
    return wrong(member, "wanted one of " + all, value);
}

}  // namespace

bool is_decimal(std::string_view text) noexcept {
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

Result<> check_order_record(std::string_view type, const Json& data) {
    if (auto forms = check_forms(data); !forms) {
        return forms;
    }
    const Names required = required_of(type);
    for (const std::string_view member : required) {
        if (data[member].is_null()) {
            return Error(Errc::invalid,
                         "data." + std::string(member) + ": missing, every " + std::string(type) +
                             " has it");
        }
    }
    if (auto side = check_word(data, "side", kSides); !side) {
        return side;
    }
    if ((type == "order" || type == "fill") && data["qty"].as_integer() == 0) {
        return wrong("qty", "wanted a quantity from 1", data["qty"]);
    }
    if (type == "refusal") {
        if (auto code = check_word(data, "code", kCodes); !code) {
            return code;
        }
        return check_word(data, "who", kRefusers);
    }
    return type == "cancel" ? check_word(data, "who", kCancellers) : Result<>();
}

}  // namespace daybook
