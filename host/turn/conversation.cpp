#include "host/turn/conversation.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace daybook {
namespace {

constexpr std::size_t kQuotedWords = 300;  // of a message in an extracted summary
constexpr std::size_t kMaxExtracted = 40;  // lines of an extracted summary

std::string clock_time(Timestamp at, const Zone& zone) {
    return zone.time_of(at).str();
}

/// "line\nnext" -> "line\n  next"
std::string indented(std::string_view text) {
    std::string out;
    for (const char c : text) {
        out += c;
        if (c == '\n') {
            out += "  ";
        }
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
    bool cut = false;
    std::string out(cut_text(text, max_bytes, &cut));
    return cut ? out + " [cut: " + grouped(max_bytes) + " of " + grouped(text.size()) + " bytes]"
               : out;
}

std::string one_line(std::string_view text) {
    std::string out(text);
    std::replace(out.begin(), out.end(), '\n', ' ');
    return out;
}

/// The arguments as they were, or what of them can be shown when a secret was masked in the middle
/// of a number.
Json arguments_of(const SessionRecord& call) {
    auto parsed = Json::parse(call.text);
    if (parsed && parsed->is_object()) {
        return std::move(*parsed);
    }
    return Json::object().set("masked", call.text);
}

Json call_entry(const SessionRecord& call) {
    return Json::object()
        .set("id", call.extra["call"].as_string())
        .set("name", call.extra["tool"].as_string())
        .set("arguments", arguments_of(call));
}

/// How much of each text a transcript shows.
struct Shown {
    std::size_t result, words;
};
/// Tried in this order until the transcript fits.
constexpr std::array<Shown, 4> kShortenings = {
    {{600, 64UL * 1024}, {240, 8192}, {80, 2048}, {80, 600}}};

std::string words_of(std::string_view text, const Shown& shown) {
    return indented(shortened(text, shown.words));
}

std::string transcript_entry(const SessionRecord& record, const Zone& zone, const Shown& shown) {
    const std::string start = "[" + clock_time(record.ts, zone) + " ";
    if (record.kind == "trigger") {
        const std::string& name = record.extra["name"].as_string();
        std::string head(name_of(record.source));
        head += " " + record.extra["kind"].as_string() + (name.empty() ? "" : " " + one_line(name));
        return start + head + "] " + words_of(record.text, shown);
    }
    if (record.kind == "tool_call") {
        const std::string& said = record.extra["said"].as_string();
        const std::string before =
            said.empty() ? "" : start + "desk] " + words_of(said, shown) + "\n";
        return before + start + "desk calls " + record.extra["tool"].as_string() + "] " +
               words_of(record.text, shown);
    }
    if (record.kind == "tool_result") {
        return start + "tool " + record.extra["tool"].as_string() + " " +
               record.extra["status"].as_string() + "] " +
               indented(shortened(record.text, shown.result));
    }
    if (record.kind == "answer") {
        return start + "desk] " + words_of(record.text, shown);
    }
    if (record.kind == "interrupted") {
        return start + "host] this turn ended without an answer: " + words_of(record.text, shown);
    }
    return {};
}

}  // namespace

std::string_view cut_text(std::string_view text, std::size_t max_bytes, bool* cut) {
    const bool is_cut = text.size() > max_bytes;
    if (cut != nullptr) {
        *cut = is_cut;
    }
    if (!is_cut) {
        return text;
    }
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return text.substr(0, end);
}

std::string grouped(std::size_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t i = digits.size(); i > 3; i -= 3) {
        digits.insert(i - 3, ",");
    }
    return digits;
}

LineList list_of(std::span<const SessionRecord> records) {
    LineList lines;
    lines.reserve(records.size());
    for (const SessionRecord& record : records) {
        lines.push_back(&record);
    }
    return lines;
}

std::vector<TurnLines> group_by_turn(const LineList& lines) {
    std::vector<TurnLines> turns;
    for (const SessionRecord* line : lines) {
        if (line->turn.empty() || line->kind == "opening" || line->kind == "compress") {
            continue;
        }
        if (turns.empty() || turns.back().turn != line->turn) {
            turns.push_back({line->turn, {}});
        }
        turns.back().lines.push_back(line);
    }
    return turns;
}

bool has_turns(std::span<const SessionRecord> records) {
    return std::any_of(records.begin(), records.end(), [](const SessionRecord& record) {
        return record.kind == "trigger";
    });
}

Json trigger_message(const SessionRecord& trigger, const Zone& zone) {
    Json message = Json::object();
    message.set("role", "user")
        .set("source", name_of(trigger.source))
        .set("kind", trigger.extra["kind"].as_string());
    if (const std::string& name = trigger.extra["name"].as_string(); !name.empty()) {
        message.set("name", name);
    }
    message.set("trigger", trigger.extra["trigger"].as_string())
        .set("at", zone.local(trigger.ts))
        .set("text", trigger.text);
    return message;
}

Json assistant_message(std::string_view text, Json::Array calls) {
    Json message = Json::object();
    message.set("role", "assistant").set("text", text);
    if (!calls.empty()) {
        message.set("tool_calls", Json::array(std::move(calls)));
    }
    return message;
}

Json tool_message(std::string_view id,
                  std::string_view name,
                  std::string_view status,
                  std::string_view text) {
    Json message = Json::object();
    return message.set("role", "tool")
        .set("id", id)
        .set("name", name)
        .set("status", status)
        .set("text", text);
}

Json::Array messages_of(const TurnLines& turn, const Zone& zone) {
    Json::Array messages;
    // Calls and results stand one after the other in the file; in the request all calls of a round
    // come first.
    std::int64_t round = -1;
    std::string said;
    Json::Array calls;
    Json::Array results;
    const auto flush = [&] {
        if (!calls.empty()) {
            messages.push_back(assistant_message(said, std::move(calls)));
            std::move(results.begin(), results.end(), std::back_inserter(messages));
        }
        calls = {};
        results = {};
        said.clear();
    };
    for (const SessionRecord* line : turn.lines) {
        if (line->kind == "tool_call") {
            if (line->extra["round"].as_integer() != round) {
                flush();
                round = line->extra["round"].as_integer();
                said = line->extra["said"].as_string();
            }
            calls.push_back(call_entry(*line));
        } else if (line->kind == "tool_result") {
            results.push_back(tool_message(line->extra["call"].as_string(),
                                           line->extra["tool"].as_string(),
                                           line->extra["status"].as_string(),
                                           line->text));
        } else {
            flush();
            round = -1;
            if (line->kind == "trigger") {
                messages.push_back(trigger_message(*line, zone));
            } else if (line->kind == "answer") {
                messages.push_back(assistant_message(line->text, {}));
            } else {
                messages.push_back(
                    Json::object()
                        .set("role", "user")
                        .set("source", "host")
                        .set("kind", "interrupted")
                        .set("at", zone.local(line->ts))
                        .set("text", "That turn ended without an answer: " + line->text));
            }
        }
    }
    flush();
    return messages;
}

Json::Array render_history(const LineList& lines,
                           const Zone& zone,
                           std::size_t budget,
                           std::vector<std::string>& left_out) {
    const auto turns = group_by_turn(lines);
    std::vector<Json::Array> kept;
    std::size_t used = 0;
    std::size_t shown = 0;
    for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
        Json::Array messages = messages_of(*turn, zone);
        std::size_t bytes = 0;
        for (const Json& message : messages) {
            bytes += message.dump().size() + 1;
        }
        if (used + bytes > budget) {
            break;  // older ones would leave a hole
        }
        used += bytes;
        ++shown;
        kept.push_back(std::move(messages));
    }
    if (shown < turns.size()) {
        left_out.push_back("conversation: the newest " + grouped(shown) + " of " +
                           grouped(turns.size()) + " turns shown");
    }
    Json::Array all;
    for (auto messages = kept.rbegin(); messages != kept.rend(); ++messages) {
        std::move(messages->begin(), messages->end(), std::back_inserter(all));
    }
    return all;
}

namespace {

std::vector<std::string> entries_of(const LineList& lines, const Zone& zone, const Shown& shown) {
    std::vector<std::string> entries;
    for (const SessionRecord* line : lines) {
        if (std::string entry = transcript_entry(*line, zone, shown); !entry.empty()) {
            entries.push_back(std::move(entry));
        }
    }
    return entries;
}

std::size_t bytes_of(const std::vector<std::string>& entries) {
    std::size_t bytes = 0;
    for (const std::string& entry : entries) {
        bytes += entry.size() + 1;
    }
    return bytes;
}

}  // namespace

std::string transcript_of(std::string_view so_far,
                          const LineList& lines,
                          const Zone& zone,
                          std::size_t max_bytes) {
    std::string out;
    if (!so_far.empty() && !lines.empty()) {
        out = "[" + clock_time(lines.front()->ts, zone) + " host summary] " +
              indented(shortened(so_far, max_bytes / 2)) + "\n";
    }
    const std::size_t left = max_bytes - std::min(max_bytes, out.size());
    std::vector<std::string> entries;
    for (const Shown& shown : kShortenings) {
        entries = entries_of(lines, zone, shown);
        if (bytes_of(entries) <= left) {
            break;
        }
    }
    std::size_t used = 0;
    auto first = entries.end();
    while (first != entries.begin() && used + std::prev(first)->size() + 1 <= left) {
        --first;
        used += first->size() + 1;
    }
    if (first != entries.begin()) {
        out += "(the newest " + grouped(static_cast<std::size_t>(entries.end() - first)) + " of " +
               grouped(entries.size()) + " entries)\n";
    }
    for (auto entry = first; entry != entries.end(); ++entry) {
        out += *entry + "\n";
    }
    return out;
}

std::string extract_summary(std::span<const SessionRecord> records,
                            const Zone& zone,
                            std::string_view why) {
    std::vector<std::string> lines;
    std::map<std::string, std::size_t> done;
    std::size_t failed = 0;
    for (const SessionRecord& record : records) {
        if (record.kind == "trigger" && record.source == Source::owner) {
            lines.push_back("- " + clock_time(record.ts, zone) +
                            " owner: " + one_line(shortened(record.text, kQuotedWords)));
        } else if (record.kind == "tool_result" && record.extra["status"].as_string() == "ok") {
            ++done[record.extra["tool"].as_string()];
        } else if (record.kind == "interrupted") {
            ++failed;
        }
    }
    std::string out = std::string(kExtractedMark) + ": " + std::string(why) + ")\n";
    const std::size_t skipped = lines.size() > kMaxExtracted ? lines.size() - kMaxExtracted : 0;
    if (skipped > 0) {
        out += "- " + grouped(skipped) + " earlier messages of the owner are in the session file\n";
    }
    for (std::size_t i = skipped; i < lines.size(); ++i) {
        out += lines[i] + "\n";
    }
    for (const auto& [tool, count] : done) {
        out += "- " + tool + " succeeded " + grouped(count) + (count == 1 ? " time\n" : " times\n");
    }
    if (failed > 0) {
        out += "- " + grouped(failed) + (failed == 1 ? " turn" : " turns") +
               " ended without an answer\n";
    }
    return out;
}

}  // namespace daybook
