#include "host/surface/journal_sessions.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "host/session/session_file.hpp"
#include "host/surface/line_reader.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxLine = 2UL * 1024 * 1024;
constexpr std::size_t kMaxSummary = 4UL * 1024 * 1024;
constexpr std::string_view kMark = "<!-- session ";

bool is_answered_kind(const std::string& kind) {
    return kind == "message" || kind == "job" || kind == "alert" || kind == "fill";
}

std::uint64_t number_of(std::string_view turn) {
    std::uint64_t number = 0;
    if (turn.starts_with("t-")) {
        std::from_chars(turn.data() + 2, turn.data() + turn.size(), number);
    }
    return number;
}

std::string day_of(const std::string& session) {
    return session.substr(0, session.rfind('-'));
}

/// The sessions whose part stands in a summary, each as often as it does.
std::multiset<std::string> marks_of(std::string_view text) {
    std::multiset<std::string> marks;
    for (auto at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
        const auto start = at + kMark.size();
        marks.emplace(text.substr(start, text.find(' ', start) - start));
    }
    return marks;
}

}  // namespace

Result<> JournalSessions::run() {
    auto names = list_session_names(os_, dir_);
    if (!names) {
        return names.error();
    }
    for (const SessionName& name : *names) {
        if (auto read = read_session(name.str()); !read) {
            return read;
        }
    }
    for (const auto& [id, session] : sessions_) {
        compare_turns(session);
        compare_compressions(session);
    }
    for (const auto& [id, turn] : journal_.turns()) {
        const auto session = sessions_.find(turn.session);
        if (!is_answered_kind(turn.kind) || turn.outcome != "completed") {
            continue;
        }
        const std::size_t answers =
            session == sessions_.end() || !session->second.answers.contains(id)
                ? 0
                : session->second.answers.at(id).size();
        if (answers != 1) {
            proof_.find(turn.ended,
                        "turn " + id + " is completed and has " + std::to_string(answers) +
                            " answers in session " + turn.session);
        }
    }
    return compare_summaries();
}

Result<> JournalSessions::read_session(const std::string& id) {
    ++proof_.sessions;
    Session session;
    session.id = id;
    session.file = folder_ + "/" + id + ".jsonl";
    auto file = os_.open_beneath(dir_, id + ".jsonl", OpenMode::read);
    if (!file) {
        return file.error();
    }
    std::uint64_t expected = 0;
    const auto read = read_lines(os_, file->get(), kMaxLine, [&](const ReadLine& line) {
        const LinePlace place{session.file, line.number};
        if (line.is_unfinished) {
            proof_.note(place,
                        "an unfinished line: it is being written, or the next start sets it aside");
            return;
        }
        ++expected;
        auto record = SessionRecord::from_line(line.text);
        if (!record) {
            if (record.error().code() != Errc::unsupported) {
                proof_.find(place, "not a line of a session: " + record.error().message());
            }
            return;
        }
        if (record->seq != expected) {
            proof_.find(place,
                        "seq " + std::to_string(record->seq) + " where " +
                            std::to_string(expected) + " belongs");
            expected = record->seq;
        }
        take(*record, line.number, session);
    });
    if (!read) {
        return read;
    }
    sessions_.emplace(id, std::move(session));
    return {};
}

void JournalSessions::take(const SessionRecord& record, std::uint64_t line, Session& session) {
    const LinePlace place{session.file, line};
    if ((line == 1) != (record.kind == "opening")) {
        proof_.find(place, "a session begins with its opening line, once");
    }
    session.triggers += record.kind == "trigger" ? 1U : 0U;
    if (record.kind == "compress") {
        session.compressions.emplace(record.seq, record.extra["outcome"].as_string());
    }
    if (record.turn.empty()) {
        return;
    }
    const auto turn = journal_.turns().find(record.turn);
    if (turn == journal_.turns().end()) {
        if (number_of(record.turn) <= journal_.last_turn()) {
            proof_.find(place, "turn " + record.turn + " is not in the journal");
        }
        return;
    }
    if (turn->second.session != session.id) {
        proof_.find(place,
                    "turn " + record.turn + " belongs to session " + turn->second.session +
                        ", says " + turn->second.began.str());
    }
    if (record.kind == "answer") {
        session.answers[record.turn].push_back(line);
    }
    if (turn->second.kind == "flush" && record.kind != "compress") {
        const auto [range, is_new] =
            session.flushes.try_emplace(record.turn, record.seq, record.seq);
        range->second.second = record.seq;
    }
}

void JournalSessions::compare_turns(const Session& session) {
    for (const auto& [id, lines] : session.answers) {
        const ProvenTurn& turn = journal_.turns().at(id);
        if (turn.end_at != 0 && turn.outcome != "completed") {
            proof_.find({session.file, lines.front()},
                        "turn " + id + " has an answer and ended as " + turn.outcome + ", says " +
                            turn.ended.str());
        }
    }
}

/// A flush looks at the conversation as it was: none of its lines stands behind the summary that it
/// belongs to, none before the one before.
void JournalSessions::compare_compressions(const Session& session) {
    std::set<std::uint64_t> journalled;
    for (const ProvenCompression& compression : journal_.compressions()) {
        if (compression.session != session.id) {
            continue;
        }
        journalled.insert(compression.line);
        const auto line = session.compressions.find(compression.line);
        if (line == session.compressions.end() || line->second != compression.outcome) {
            proof_.find(compression.place,
                        "line " + std::to_string(compression.line) + " of session " + session.id +
                            " is no compression that " + compression.outcome);
            continue;
        }
        const auto flush = session.flushes.find(compression.flush_turn);
        if (compression.flush_turn.empty()) {
            continue;
        }
        std::uint64_t before = 0;
        for (const auto& [number, outcome] : session.compressions) {
            before = number < compression.line && outcome == "completed" ? number : before;
        }
        if (flush == session.flushes.end() || flush->second.first < before ||
            flush->second.second > compression.line) {
            proof_.find(compression.place,
                        "flush turn " + compression.flush_turn +
                            " does not stand between the compression before and this one in "
                            "session " +
                            session.id + ": it did not see the raw conversation");
        }
    }
    for (const auto& [number, outcome] : session.compressions) {
        if (!journalled.contains(number)) {
            proof_.note({session.file, number}, "this compression is not in the journal yet");
        }
    }
}

Result<> JournalSessions::compare_summaries() {
    std::set<std::string> days;
    for (const auto& [id, session] : sessions_) {
        days.insert(day_of(id));
    }
    for (const std::string& day : days) {
        if (auto checked = check_summary(day); !checked) {
            return checked;
        }
    }
    for (const auto& [session, place] : journal_.closed()) {
        if (!sessions_.contains(session)) {
            proof_.find(place, "session " + session + " was closed and has no file");
        }
    }
    return {};
}

Result<> JournalSessions::check_summary(const std::string& day) {
    const std::string name = "summaries/" + day + ".md";
    auto text = read_file(os_, dir_, name, kMaxSummary);
    if (!text && text.error().code() != Errc::not_found) {
        return text.error();
    }
    proof_.summaries += text ? 1U : 0U;
    const auto marks = marks_of(text ? std::string_view(*text) : std::string_view());
    const LinePlace place{folder_ + "/" + name, 0};
    for (const auto& [id, session] : sessions_) {
        if (day_of(id) != day) {
            continue;
        }
        const std::size_t count = marks.count(id);
        const auto closed = journal_.closed().find(id);
        if (count > 1) {
            proof_.find(place,
                        "session " + id + " is summarised " + std::to_string(count) + " times");
        } else if (count == 0 && closed != journal_.closed().end() && session.triggers > 0) {
            proof_.find(closed->second,
                        "session " + id + " was closed and is not in " + place.file);
        }
    }
    for (const std::string& mark : marks) {
        if (!sessions_.contains(mark)) {
            proof_.find(place, "it summarises session " + mark + ", which has no file");
        }
    }
    return {};
}

}  // namespace daybook
