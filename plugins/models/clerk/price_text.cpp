#include "plugins/models/clerk/price_text.hpp"

#include <daybook/json.hpp>

namespace daybook::clerk {

namespace {

using json::ObjectReader;

std::string number(const ObjectReader& in, std::string_view key) {
    const auto raw = in.raw(key);
    return raw.empty() ? "?" : std::string(raw);
}

/// "10:15" of "2019-01-02 10:15".
std::string minute_part(const std::string& moment) {
    return moment.size() == 16 ? moment.substr(11) : moment;
}

std::string with_sign(std::string text) {
    return text.starts_with('-') ? text : "+" + text;
}

/// The member as an object; an empty one when it is absent.
ObjectReader object_in(const ObjectReader& in, std::string_view key) {
    const auto raw = in.raw(key);
    return ObjectReader(raw.empty() ? "{}" : raw);
}

std::string close_before(const ObjectReader& in) {
    if (!in.has("previous_close")) {
        return "no earlier day is in " + in.text("source");
    }
    const auto close = object_in(in, "previous_close");
    std::string text = "close before " + number(close, "price") + " (" + close.text("date") +
                       ", row " + number(close, "row");
    if (close.has("print_after_close")) {
        const auto print = object_in(close, "print_after_close");
        text += "; print after the close " + number(print, "price") + " at " + print.text("time") +
                ", row " + number(print, "row");
    }
    return text + ")";
}

std::string gap_text(const ObjectReader& in) {
    if (!in.has("gap")) {
        return in.has("day") ? "no gap to tell: " + close_before(in)
                             : "no gap to tell: the day has no bar yet";
    }
    const auto gap = object_in(in, "gap");
    return "gap at the open " + with_sign(number(gap, "points")) + " points (" +
           with_sign(number(gap, "percent")) + " %)";
}

std::string problems_note(const ObjectReader& in) {
    const auto raw = in.raw("problems");
    if (raw.empty()) {
        return {};
    }
    const auto problems = json::items_of(raw);
    return problems.empty()
               ? std::string()
               : " Problem in the file: " + json::text_of(problems.front()).value_or("") + ".";
}

}  // namespace

std::string last_price(std::string_view price_json) {
    const ObjectReader in(price_json);
    const std::string bar = in.text("bar");
    std::string text = in.text("symbol") + " " + number(in, "price") + ": ";
    if (bar.size() == 16) {
        const std::string phase = in.text("phase");
        text += "close of the minute " + bar + (phase == "continuous" ? "" : ", a print " + phase);
    } else {
        text += "close of the day " + bar;
    }
    text += " (" + in.text("source") + " row " + number(in, "row") + "; as of " + in.text("as_of") +
            " " + in.text("zone") + ").";
    if (in.has("day")) {
        const auto day = object_in(in, "day");
        text += " " + day.text("date") + (day.boolean("finished") ? "" : " so far") + ": open " +
                number(day, "open") + ", high " + number(day, "high") + ", low " +
                number(day, "low") + ".";
    }
    return text + problems_note(in);
}

std::string day_fields(std::string_view price_json, const std::vector<std::string>& fields) {
    const ObjectReader in(price_json);
    if (!in.has("day")) {
        return in.text("symbol") +
               " has no bar of the day yet; last known: " + number(in, "price") + " (" +
               in.text("bar") + ", row " + number(in, "row") + "); " + close_before(in) + ".";
    }
    const auto day = object_in(in, "day");
    const bool finished = day.boolean("finished");
    std::string text =
        in.text("symbol") + " on " + day.text("date") +
        (finished ? ": " : ", not finished (as of " + minute_part(in.text("as_of")) + "): ");
    for (std::size_t i = 0; i < fields.size(); ++i) {
        text += i == 0 ? "" : ", ";
        if (fields[i] == "gap") {
            text += gap_text(in) + ", open " + number(day, "open") +
                    (in.has("gap") ? ", " + close_before(in) : "");
        } else if (fields[i] == "close" && !finished) {
            text += "no close yet, last " + number(day, "last");
        } else {
            text += fields[i] + " " + number(day, fields[i]);
        }
    }
    return text + " (" + in.text("source") + " rows " + day.text("rows") + ")." + problems_note(in);
}

std::string opening_report(std::string_view price_json) {
    const ObjectReader in(price_json);
    const std::string symbol = in.text("symbol");
    if (!in.has("day")) {
        return symbol + ": no bar of today yet; " + close_before(in) + ", last known " +
               number(in, "price") + " (" + in.text("bar") + ").";
    }
    const auto day = object_in(in, "day");
    std::string text = "opening of " + symbol + ", " + day.text("date") + ": " + close_before(in) +
                       "; open " + number(day, "open");
    if (in.has("gap")) {
        text += "; " + gap_text(in);
    }
    if (day.has("first_bar")) {
        const auto bar = object_in(day, "first_bar");
        text += "; first bar " + bar.text("time") + " open " + number(bar, "open") + " high " +
                number(bar, "high") + " low " + number(bar, "low") + " close " +
                number(bar, "close") + " (row " + number(bar, "row") + ")";
    }
    if (in.has("before_open")) {
        const auto print = object_in(in, "before_open");
        text += "; print before the open " + number(print, "price") + " at " + print.text("time") +
                " (row " + number(print, "row") + ")";
    }
    return text + ". From " + in.text("source") + "." + problems_note(in);
}

std::string day_of(std::string_view price_json) {
    return object_in(ObjectReader(price_json), "day").text("date");
}

std::string date_before(std::string_view price_json) {
    return object_in(ObjectReader(price_json), "previous_close").text("date");
}

}  // namespace daybook::clerk
