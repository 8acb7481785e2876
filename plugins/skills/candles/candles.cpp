// Prices from the owner's CSV files: candles (bars of any interval) and price (the last one known).
//
// The plugin sees only what the desk's clock has reached: on a replayed day nothing later.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/plugin.hpp>
#include <daybook/result.hpp>

#include "plugins/skills/candles/answer.hpp"
#include "plugins/skills/candles/price_folder.hpp"

namespace daybook::candles {

namespace {

/// Before every price file.
constexpr Instant kLongAgo{std::chrono::sys_days(std::chrono::year(1800) / 1 / 1)};

/// An error of the logic as the failure of the call.
template <class T>
T value_or_throw(Result<T> result) {
    if (!result) {
        throw PluginError(static_cast<daybook_status>(result.error().code()),
                          result.error().message(),
                          is_retryable(result.error().code()));
    }
    return *std::move(result);
}

/// `folder` alone, else every one of `folders` (what the owner lets the desk read).
std::vector<std::filesystem::path> folders_of(std::string_view config) {
    const json::ObjectReader in(config.empty() ? "{}" : config);
    if (const std::string folder = in.text("folder"); !folder.empty()) {
        return {folder};
    }
    std::vector<std::filesystem::path> folders;
    const auto list = in.raw("folders");
    for (const auto item : json::items_of(list.empty() ? "[]" : list)) {
        if (const auto folder = json::text_of(item); folder && !folder->empty()) {
            folders.emplace_back(*folder);
        }
    }
    return folders;
}

/// The desk's time during one call.
struct Moment {
    explicit Moment(const Call& call)
        : zone(value_or_throw(
              ZoneClock::open(json::ObjectReader(call.describe_clock()).text("zone")))),
          now(std::chrono::floor<std::chrono::seconds>(call.now())),
          today(std::chrono::floor<std::chrono::days>(zone.to_local(now))),
          sessions(zone, [call](const std::string& day) {
              call.check();
              return call.sessions(day);
          }) {}
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;
    Moment(Moment&&) = delete;
    Moment& operator=(Moment&&) = delete;
    ~Moment() = default;

    ZoneClock zone;
    Instant now;
    LocalDay today;
    SessionTable sessions;
};

class Candles {
  public:
    explicit Candles(std::string_view config) : folder_(folders_of(config)) {}

    std::string bars(Call call, std::string_view args) {
        const json::ObjectReader in(args);
        const auto interval = value_or_throw(parse_interval(in.text("interval")));
        Moment moment(call);
        BarsQuestion question;
        question.interval = in.text("interval");
        question.from = asked(in.text("from"), moment, kLongAgo, false);
        question.to = std::min(moment.now, asked(in.text("to"), moment, moment.now, true));
        question.limit = static_cast<std::size_t>(std::clamp<std::int64_t>(
            in.integer("limit", static_cast<std::int64_t>(kDefaultBars)), 1, kMaxBars));
        if (question.from > moment.now) {
            throw PluginError(DAYBOOK_INVALID,
                              "candles: from " + in.text("from") + " is later than now, " +
                                  text_of(moment.zone.to_local(moment.now)) +
                                  "; nothing later is known");
        }
        const Symbol symbol = value_or_throw(folder_.find(in.text("symbol")));
        const PriceFile& file = file_for(symbol, interval == kWholeDay);
        if (interval != kWholeDay && file.resolution == Resolution::day) {
            throw PluginError(DAYBOOK_NOT_FOUND,
                              "candles: " + symbol.name + " has daily prices only (" + file.name +
                                  "); ask for interval 1d");
        }
        return answer_bars(symbol, file, interval, question, moment.now, moment.sessions);
    }

    std::string price(Call call, std::string_view args) {
        const json::ObjectReader in(args);
        Moment moment(call);
        const Instant as_of = asked(in.text("at"), moment, moment.now, true);
        // A date that has begun but is not over means the day so far.
        if (asked(in.text("at"), moment, moment.now, false) > moment.now) {
            throw PluginError(DAYBOOK_INVALID,
                              "price: at " + in.text("at") + " is later than now, " +
                                  text_of(moment.zone.to_local(moment.now)) +
                                  "; nothing later is known");
        }
        const Symbol symbol = value_or_throw(folder_.find(in.text("symbol")));
        const PriceFile& file = file_for(symbol, false);
        return value_or_throw(
            answer_price(symbol, file, std::min(as_of, moment.now), moment.now, moment.sessions));
    }

  private:
    static Instant asked(const std::string& text,
                         const Moment& moment,
                         Instant otherwise,
                         bool end_of_day) {
        return text.empty()
                   ? otherwise
                   : value_or_throw(parse_asked(text, moment.today, moment.zone, end_of_day));
    }

    const PriceFile& file_for(const Symbol& symbol, bool prefer_days) {
        const bool days = symbol.minute_file.empty() || (prefer_days && !symbol.day_file.empty());
        return *value_or_throw(folder_.load(days ? symbol.day_file : symbol.minute_file,
                                            days ? Resolution::day : Resolution::minute));
    }

    PriceFolder folder_;
};

constexpr const char* kInstructions =
    "Prices come from `price` (the last one known, with the day so far, the close before and the "
    "gap) and `candles` (bars). Both know nothing later than now. State the bar's time and whether "
    "it is finished; name file and row when asked where a number is from. Never guess a price: ask "
    "for it, and say so when there is none.";

constexpr auto kCandles = tool<&Candles::bars>(
    "candles",
    "Price bars of a symbol along the market's sessions, newest last, as a "
    "table. Says which bar is unfinished; minutes without a trade are not "
    "filled in.",
    R"({"type":"object","required":["symbol","interval"],"additionalProperties":false,"properties":{
"symbol":{"type":"string","minLength":1,"maxLength":40},
"interval":{"type":"string","enum":["1m","5m","15m","60m","1d"]},
"from":{"type":"string","maxLength":40,"description":"2019-01-02, 2019-01-02 09:15, or 09:15 of today"},
"to":{"type":"string","maxLength":40,"description":"last moment; now when left out"},
"limit":{"type":"integer","minimum":1,"maximum":60,"description":"newest bars of the range; 20 when left out"}}})",
    {.groups = DAYBOOK_EXT_CLOCK, .flags = DAYBOOK_TOOL_IDEMPOTENT});

constexpr auto kPrice = tool<&Candles::price>(
    "price",
    "The last price of a symbol that is known now, or was known at a moment, "
    "with that day's open, high, low, the close before and the opening gap.",
    R"({"type":"object","required":["symbol"],"additionalProperties":false,"properties":{
"symbol":{"type":"string","minLength":1,"maxLength":40},
"at":{"type":"string","maxLength":40,"description":"2019-01-02 10:15, 10:15 of today, or a date for its close; now when left out"}}})",
    {.groups = DAYBOOK_EXT_CLOCK, .flags = DAYBOOK_TOOL_IDEMPOTENT});

constexpr auto kSkill = skill("candles",
                              "Market prices: the last price, opening gaps, bars of any interval.",
                              {.instructions = kInstructions});

}  // namespace

}  // namespace daybook::candles

DAYBOOK_PLUGIN(
    "candles",
    DAYBOOK_VERSION_STRING,
    daybook::wants(DAYBOOK_EXT_CLOCK),
    daybook::config_schema(R"({"type":"object","additionalProperties":false,"properties":{
"folder":{"type":"string"},"folders":{"type":"array","items":{"type":"string"}}}})"),
    daybook::instance<daybook::candles::Candles>(),
    &daybook::candles::kCandles,
    &daybook::candles::kPrice,
    &daybook::candles::kSkill)
