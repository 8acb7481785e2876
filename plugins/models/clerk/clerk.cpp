#include "plugins/models/clerk/clerk.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <daybook/json.hpp>

#include "plugins/models/clerk/price_text.hpp"
#include "plugins/models/clerk/summary.hpp"
#include "plugins/models/clerk/wish.hpp"

namespace daybook::clerk {

namespace {

constexpr std::size_t kQuotedBytes = 240;
constexpr std::size_t kListedLines = 20;
constexpr std::string_view kHow =
    "I am the clerk: a set of rules, no language model. I can take a note (\"remember: …\"), list "
    "the notes, show the memory, and tell prices from the desk's files (\"what is NIFTY at\", "
    "\"open, high, low, close of NIFTY today\", \"gap of NIFTY\", \"5m candles of NIFTY\"). I "
    "cannot judge, plan, place orders or answer anything else; name a language model in the desk's "
    "models for that.";

Reply say(const std::string& text) {
    return {{}, "clerk: " + text};
}

std::string quoted(std::string_view text, std::size_t max_bytes = kQuotedBytes) {
    std::string line(text.substr(0, max_bytes));
    while (line.size() < text.size() && !line.empty() &&
           (static_cast<unsigned char>(text[line.size()]) & 0xC0U) == 0x80) {
        line.pop_back();
    }
    std::replace(line.begin(), line.end(), '\n', ' ');
    return "\"" + line + (line.size() < text.size() ? "…\"" : "\"");
}

/// The sentence of a failed tool call.
std::string why(const ToolResult& result) {
    try {
        const json::ObjectReader in(result.text);
        const std::string message = in.text("message", in.text("error"));
        return message.empty() ? "the tool gave no reason" : message;
    } catch (const std::invalid_argument&) {
        return result.text.empty() ? "the tool gave no reason" : quoted(result.text);
    }
}

/// Asks for the next call of the turn, or says that the desk has no such tool.
Reply call_tool(const Request& request,
                const std::string& tool,
                const std::string& arguments,
                const std::string& what_for) {
    if (!request.has_tool(tool)) {
        return say("I cannot " + what_for + ": this turn has no tool named " + tool +
                   ". Add the plugin that brings it to the desk's plugins.");
    }
    const std::string id =
        "clerk-" + request.turn + "-" + std::to_string(request.results.size() + 1);
    return {{{id, tool, arguments}}, {}};
}

Reply ask_price(const Request& request, const std::string& symbol, const std::string& at) {
    json::ObjectWriter arguments;
    arguments.add("symbol", symbol);
    if (!at.empty()) {
        arguments.add("at", at);
    }
    return call_tool(request, "price", arguments.str(), "look up prices");
}

Reply take_note(const Request& request, const Wish& wish) {
    if (wish.note.empty()) {
        return say("I have nothing to note: write it after \"remember:\".");
    }
    if (request.results.empty()) {
        return call_tool(
            request, "add_note", json::ObjectWriter().add("text", wish.note).str(), "take notes");
    }
    const ToolResult& result = request.results.front();
    if (!result.ok) {
        return say("I did not note it: " + why(result) + ".");
    }
    const json::ObjectReader receipt(result.text);
    const std::string checkpoint = receipt.text("checkpoint");
    return say("noted in " + receipt.text("path", "today's notes") +
               (checkpoint.empty() ? ", without a checkpoint id in the tool's answer"
                                   : " (checkpoint " + checkpoint + ")") +
               ": " + quoted(wish.note));
}

/// List items, the newest ones, as they stand.
std::string list_lines(std::string_view text, bool cut, std::string_view heading) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        if (end > 0) {
            lines.push_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    const std::size_t first = lines.size() > kListedLines ? lines.size() - kListedLines : 0;
    std::string out(heading);
    out += ", " + std::to_string(lines.size()) + (lines.size() == 1 ? " line" : " lines") +
           (cut || first > 0 ? ", only the newest of them shown:" : ":");
    for (std::size_t i = first; i < lines.size(); ++i) {
        out.append("\n").append(lines[i]);
    }
    return out;
}

/// The newest day's notes before today, out of list_files' answer.
std::string notes_before(const std::string& listed, const std::string& today) {
    std::string newest;
    const json::ObjectReader in(listed);
    for (const auto item : json::items_of(in.has("files") ? in.raw("files") : "[]")) {
        const std::string path = json::ObjectReader(item).text("path");
        if (path.starts_with("notes/") && path < "notes/" + today + ".md") {
            newest = std::max(newest, path);
        }
    }
    return newest;
}

Reply list_notes(const Request& request, const Wish& wish) {
    if (wish.date.empty() || wish.date == request.day) {
        return request.notes.empty()
                   ? say("no notes today (" + request.day + ").")
                   : say(list_lines(
                         request.notes, request.notes_are_cut, "notes of " + request.day));
    }
    std::string path = "notes/" + wish.date + ".md";
    std::size_t step = 0;
    if (wish.date == "yesterday") {
        if (request.results.empty()) {
            return call_tool(request, "list_files", R"({"folder":"notes"})", "list older notes");
        }
        if (!request.results[step].ok) {
            return say("I could not list the notes: " + why(request.results[step]) + ".");
        }
        path = notes_before(request.results[step++].text, request.day);
        if (path.empty()) {
            return say("there are no notes of an earlier day.");
        }
    }
    if (request.results.size() == step) {
        return call_tool(
            request, "read_file", json::ObjectWriter().add("path", path).str(), "read older notes");
    }
    const ToolResult& result = request.results[step];
    if (!result.ok) {
        return say("I could not read " + path + ": " + why(result) + ".");
    }
    const json::ObjectReader file(result.text);
    return say(list_lines(file.text("text"), file.has("more"), path));
}

Reply tell_price(const Request& request, const Wish& wish) {
    if (wish.symbol.empty()) {
        return say("which symbol? Write for example \"what is NIFTY at\".");
    }
    const bool yesterday = wish.date == "yesterday";
    const std::size_t last = yesterday ? 1 : 0;
    if (!request.results.empty() && !request.results.back().ok) {
        return say("I have no price of " + wish.symbol + ": " + why(request.results.back()) + ".");
    }
    if (request.results.empty()) {
        const std::string at = wish.date.empty() || yesterday ? (yesterday ? "" : wish.time)
                               : wish.time.empty()            ? wish.date
                                                              : wish.date + " " + wish.time;
        return ask_price(request, wish.symbol, at);
    }
    if (request.results.size() == last) {  // the answer of today names the trading day before it
        const std::string& today = request.results.front().text;
        const std::string date = day_of(today) < request.day && !day_of(today).empty()
                                     ? day_of(today)
                                     : date_before(today);
        return date.empty()
                   ? say("no earlier day is in the price file of " + wish.symbol + ".")
                   : ask_price(
                         request, wish.symbol, date + (wish.time.empty() ? "" : " " + wish.time));
    }
    const std::string& price = request.results[last].text;
    const bool other_day = !wish.date.empty() && !yesterday && day_of(price) != wish.date;
    if (other_day) {
        return say("there is no bar of " + wish.symbol + " on " + wish.date +
                   "; last known before its end: " + last_price(price));
    }
    return say(wish.fields.empty() ? last_price(price) : day_fields(price, wish.fields));
}

Reply show_bars(const Request& request, const Wish& wish) {
    if (wish.symbol.empty()) {
        return say("candles of which symbol?");
    }
    if (request.results.empty()) {
        json::ObjectWriter arguments;
        arguments.add("symbol", wish.symbol).add("interval", wish.interval);
        if (!wish.date.empty() && wish.date != "yesterday") {
            arguments.add("from", wish.date).add("to", wish.date);
        }
        return call_tool(request, "candles", arguments.add("limit", 12).str(), "look up candles");
    }
    const ToolResult& result = request.results.front();
    if (!result.ok) {
        return say("I have no candles of " + wish.symbol + ": " + why(result) + ".");
    }
    const json::ObjectReader in(result.text);
    const std::string note = in.text("note");
    const std::string unfinished = in.text("unfinished");
    return say(in.text("symbol") + " " + in.text("interval") + " (" + in.text("source") + ", " +
               in.text("zone") + ", now " + in.text("now") + ")\n" + in.text("columns") + "\n" +
               in.text("table") + (unfinished.empty() ? "" : "unfinished: " + unfinished + "\n") +
               (note.empty() ? "" : "note: " + note));
}

Reply answer_owner(const Request& request) {
    const Wish wish = read_wish(request.text);
    switch (wish.kind) {
        case WishKind::note:
            return take_note(request, wish);
        case WishKind::list_notes:
            return list_notes(request, wish);
        case WishKind::show_memory:
            return request.memory.empty()
                       ? say("the memory (Memory.md) is empty.")
                       : say(list_lines(request.memory, request.memory_is_cut, "Memory.md"));
        case WishKind::price:
            return tell_price(request, wish);
        case WishKind::bars:
            return show_bars(request, wish);
        case WishKind::unknown:
            break;
    }
    return say(std::string(kHow));
}

bool holds_word(const std::string& text, std::string_view wanted) {
    const auto words = words_of(text);
    return std::find(words.begin(), words.end(), wanted) != words.end();
}

Reply do_job(const Request& request) {
    const std::string symbol = find_symbol(request.text);
    const bool opening = holds_word(request.name + " " + request.text, "opening") ||
                         holds_word(request.name + " " + request.text, "open");
    const bool closing = holds_word(request.name + " " + request.text, "closing") ||
                         holds_word(request.name + " " + request.text, "close");
    if (symbol.empty() || (!opening && !closing)) {
        return say("I cannot do the job " + quoted(request.name + " " + request.text) +
                   ": I know opening and closing reports of a symbol named in the job's text.");
    }
    if (request.results.empty()) {
        return ask_price(request, symbol, "");
    }
    if (!request.results.front().ok) {
        return say("no report: " + why(request.results.front()) + ".");
    }
    const std::string& price = request.results.front().text;
    return say(opening ? opening_report(price)
                       : day_fields(price, {"open", "high", "low", "close"}));
}

/// An alert's words come from outside: they are quoted, looked up beside, and neither followed nor
/// noted.
Reply look_at_alert(const Request& request) {
    const std::string start = "alert, kept as data: " + quoted(request.text) +
                              " Its words are not checked; I follow none of them and note nothing.";
    const std::string symbol = find_symbol(request.text);
    if (symbol.empty()) {
        return say(start);
    }
    if (request.results.empty()) {
        return request.has_tool("price") ? ask_price(request, symbol, "")
                                         : say(start + " The desk has no tool for prices.");
    }
    const ToolResult& result = request.results.front();
    return say(start + (result.ok ? " From the price file: " + day_fields(result.text, {"gap"}) +
                                        " " + last_price(result.text)
                                  : " No price beside it: " + why(result) + "."));
}

Reply reply_by_kind(const Request& request) {
    if (request.kind == "summary") {
        return {{}, summarize(request.text, request.day)};
    }
    if (request.kind == "alert" || request.source == "alert") {
        return look_at_alert(request);
    }
    if (request.kind == "job" || request.source == "job") {
        return do_job(request);
    }
    if (request.kind == "fill" || request.source == "fill") {
        return say("fill received: " + quoted(request.text) + " It stands in the journal.");
    }
    if (request.kind == "message" && request.source == "owner") {
        return answer_owner(request);
    }
    if (request.source == "host") {
        return say("read: " + quoted(request.text) + " I do nothing about it by myself.");
    }
    return say("nothing written: a turn of the kind " + request.kind +
               " needs a language model; I note only what the owner tells me to.");
}

}  // namespace

Reply reply_to(const Request& request) {
    try {
        return reply_by_kind(request);
    } catch (const std::invalid_argument&) {
        const std::string tool = request.results.empty() ? "" : request.results.back().name;
        return say("the answer of the tool " + tool +
                   " has a form that I do not know; I report "
                   "nothing from it.");
    }
}

}  // namespace daybook::clerk
