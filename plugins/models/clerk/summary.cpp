#include "plugins/models/clerk/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <daybook/json.hpp>

#include "plugins/models/clerk/wish.hpp"

namespace daybook::clerk {

namespace {

constexpr std::size_t kQuotedBytes = 180;
constexpr std::size_t kLessons = 4;
constexpr std::size_t kAsked = 2;
constexpr std::size_t kNumbers = 3;
constexpr std::size_t kAlerts = 2;
constexpr std::size_t kEarlier = 40;
constexpr std::string_view kEarlierStart = "- earlier: ";

std::string quoted(std::string_view text) {
    if (text.size() <= kQuotedBytes) {
        return std::string(text);
    }
    std::size_t end = kQuotedBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
        --end;
    }
    return std::string(text.substr(0, end)) + "…";
}

std::string member_of(std::string_view object, std::string_view key) {
    try {
        return json::ObjectReader(object).text(key);
    } catch (const std::invalid_argument&) {
        return {};
    }
}

bool has_number(std::string_view text) {
    std::size_t digits = 0;
    for (const char c : text) {
        digits += c >= '0' && c <= '9' ? 1U : 0U;
    }
    return digits >= 3;
}

bool is_order(std::string_view text) {
    const auto words = words_of(text);
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "buy" || word == "sell" || word == "order" || word == "orders";
    });
}

/// What the summary is made of.
struct Findings {
    std::size_t messages = 0, jobs = 0, alerts = 0, fills = 0, answers = 0, refused = 0;
    std::vector<std::string> lessons, asked, orders, numbers, alert_lines, checkpoints;
    std::vector<std::string> earlier;  ///< what the summary before this one kept, oldest first
};

void add_trigger(Findings& found, const Entry& entry) {
    const std::string line = entry.time + " " + quoted(entry.text);
    if (entry.head.starts_with("owner")) {
        ++found.messages;
        if (is_order(entry.text)) {
            found.orders.push_back(line);
        } else if (read_wish(entry.text).kind != WishKind::note) {
            found.asked.push_back(line);
        }
    } else if (entry.head.starts_with("job")) {
        ++found.jobs;
    } else if (entry.head.starts_with("alert")) {
        ++found.alerts;
        found.alert_lines.push_back(line);
    } else if (entry.head.starts_with("fill")) {
        ++found.fills;
        found.orders.push_back("fill " + line);
    }
}

/// The lines of the summary before this one that say something. A clerk's are known by their
/// headings; those of a model or the host are kept as they are.
void add_earlier(Findings& found, const Entry& summary) {
    std::vector<std::string> own;
    for (std::string_view line : summary.lines) {
        if (line.starts_with(kEarlierStart)) {
            found.earlier.emplace_back(line.substr(kEarlierStart.size()));
            continue;
        }
        const bool says_nothing =
            line.empty() || line.ends_with(": none") || line.starts_with("Clerk's summary of ") ||
            line.starts_with("- notes written: ") || line.starts_with("- left out: ");
        if (!says_nothing) {
            line.remove_prefix(line.starts_with("- ") ? 2 : 0);
            own.push_back(quoted(line));
        }
    }
    // What it carried itself is older than its own.
    found.earlier.insert(found.earlier.end(), own.begin(), own.end());
}

/// A note counts when its call was answered with a checkpoint.
Findings gather(const std::vector<Entry>& entries) {
    Findings found;
    std::vector<std::string> asked_notes;  // texts of add_note calls without their answer yet
    for (const Entry& entry : entries) {
        if (entry.head == "desk calls add_note") {
            asked_notes.push_back(member_of(entry.text, "text"));
        } else if (entry.head.starts_with("tool add_note")) {
            std::string text;
            if (!asked_notes.empty()) {
                text = asked_notes.front();
                asked_notes.erase(asked_notes.begin());
            }
            if (entry.head == "tool add_note ok") {
                found.lessons.push_back(entry.time + " " + quoted(text));
                found.checkpoints.push_back(member_of(entry.text, "checkpoint"));
            } else {
                ++found.refused;
            }
        } else if (entry.head == "host summary") {
            add_earlier(found, entry);
        } else if (entry.head == "desk") {
            ++found.answers;
            std::string_view said = entry.text;
            if (said.starts_with("clerk: ")) {
                said.remove_prefix(7);
            }
            const bool about_notes = said.starts_with("noted") || said.starts_with("I ");
            if (has_number(said) && !about_notes) {
                found.numbers.push_back(entry.time + " " + quoted(said));
            }
        } else {
            add_trigger(found, entry);
        }
    }
    return found;
}

/// Notes and orders stay longest; of the rest the oldest goes first.
void add_carried(std::string& out, const std::vector<std::string>& earlier) {
    const auto lasts = [](const std::string& line) {
        return line.starts_with("note kept") || line.starts_with("order or fill");
    };
    std::vector<bool> is_kept(earlier.size(), false);
    std::size_t kept = 0;
    for (const bool lasting : {true, false}) {
        for (std::size_t n = 0; n < earlier.size() && kept < kEarlier; ++n) {
            const std::size_t i = lasting ? n : earlier.size() - 1 - n;
            if (lasts(earlier[i]) == lasting) {
                is_kept[i] = true;
                ++kept;
            }
        }
    }
    for (std::size_t i = 0; i < earlier.size(); ++i) {
        if (is_kept[i]) {
            out.append(kEarlierStart).append(earlier[i]).append("\n");
        }
    }
    if (kept < earlier.size()) {
        out += "- left out: " + std::to_string(earlier.size() - kept) +
               " lines of earlier summaries\n";
    }
}

/// "- heading: first" and one line for each of the newest others; "- heading: none".
void add_lines(std::string& out,
               std::string_view heading,
               const std::vector<std::string>& lines,
               std::size_t most) {
    if (lines.empty()) {
        out.append("- ").append(heading).append(": none\n");
        return;
    }
    const std::size_t first = lines.size() > most ? lines.size() - most : 0;
    for (std::size_t i = first; i < lines.size(); ++i) {
        out.append("- ").append(heading);
        if (i == first && first > 0) {
            out.append(" (newest " + std::to_string(most) + " of " + std::to_string(lines.size()) +
                       ")");
        }
        out.append(": ").append(lines[i]).append("\n");
    }
}

}  // namespace

std::vector<Entry> parse_transcript(std::string_view transcript) {
    std::vector<Entry> entries;
    while (!transcript.empty()) {
        const auto end = std::min(transcript.find('\n'), transcript.size());
        std::string_view line = transcript.substr(0, end);
        transcript.remove_prefix(std::min(end + 1, transcript.size()));
        const auto close = line.find("] ");
        const bool begins = line.size() > 7 && line[0] == '[' && line[3] == ':' && line[6] == ' ' &&
                            close != std::string_view::npos;
        if (begins) {
            entries.push_back({std::string(line.substr(1, 5)),
                               std::string(line.substr(7, close - 7)),
                               std::string(line.substr(close + 2)),
                               {std::string(line.substr(close + 2))}});
        } else if (!entries.empty() && line.starts_with("  ")) {
            entries.back().text.append(" ").append(line.substr(2));
            entries.back().lines.emplace_back(line.substr(2));
        }
    }
    return entries;
}

std::string summarize(std::string_view transcript, std::string_view day) {
    const Findings found = gather(parse_transcript(transcript));
    std::string out =
        "Clerk's summary of " + std::string(day) +
        ", extracted by rules, not written by a model: " + std::to_string(found.messages) +
        " messages from the owner, " + std::to_string(found.jobs) + " jobs, " +
        std::to_string(found.alerts) + " alerts, " + std::to_string(found.fills) + " fills, " +
        std::to_string(found.answers) + " answers.\n";
    add_lines(out, "note kept", found.lessons, kLessons);
    std::string ids;
    for (const auto& id : found.checkpoints) {
        ids += (ids.empty() ? "" : ", ") + id;
    }
    out += "- notes written: " + std::to_string(found.lessons.size()) +
           (ids.empty() ? "" : " (checkpoints " + ids.substr(0, kQuotedBytes) + ")") +
           ", refused: " + std::to_string(found.refused) + "\n";
    add_lines(out, "order or fill", found.orders, 2);
    add_lines(out, "asked", found.asked, kAsked);
    add_lines(out, "number", found.numbers, kNumbers);
    add_lines(out, "alert (its words are not checked)", found.alert_lines, kAlerts);
    add_carried(out, found.earlier);
    out.pop_back();
    return out;
}

}  // namespace daybook::clerk
