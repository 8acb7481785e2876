#include "host/turn/conversation_view.hpp"

#include <algorithm>

namespace daybook {
namespace {

constexpr std::size_t kMostTurnsToWait = 8;

bool is_completed_compress(const SessionRecord& record) {
    return record.kind == "compress" && record.extra["outcome"].as_string() == "completed";
}

std::uint64_t seq_of(const Json& value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value.as_integer(), 0));
}

/// What the flush turn wrote, by its results in the session.
void count_flush(std::span<const SessionRecord> records, CompressHistory& history) {
    for (const SessionRecord& record : records) {
        if (record.turn != history.flush_turn) {
            continue;
        }
        if (record.kind == "tool_result" && record.extra["status"].as_string() == "ok") {
            ++(record.extra["tool"].as_string() == "add_note" ? history.flush_notes
                                                              : history.flush_edits);
        } else if (record.kind == "answer") {
            history.flush_words = record.text;
        }
    }
}

}  // namespace

bool is_flush_trigger(const SessionRecord& record) {
    return record.kind == "trigger" && record.extra["kind"].as_string() == "flush";
}

ConversationView view_of(std::span<const SessionRecord> records) {
    ConversationView view;
    for (const SessionRecord& record : records) {
        if (is_completed_compress(record) && record.extra["by"].as_string() != "backend") {
            view.compress = &record;
        }
    }
    std::uint64_t behind = 0;
    std::uint64_t keeps = 0;
    if (view.compress != nullptr) {
        view.summary = view.compress->text;
        behind = seq_of(view.compress->extra["to"]);
        keeps = seq_of(view.compress->extra["keeps"]);
    } else if (!records.empty() && records.front().kind == "opening") {
        view.summary = records.front().text;
    }
    for (const SessionRecord& record : records) {
        const bool said = record.kind != "opening" && record.kind != "compress";
        if (said && (view.compress == nullptr || record.seq > behind || record.seq == keeps)) {
            view.lines.push_back(&record);
        }
    }
    return view;
}

CompressHistory compress_history(std::span<const SessionRecord> records) {
    CompressHistory history;
    std::string flushing;
    for (const SessionRecord& record : records) {
        if (is_completed_compress(record)) {
            history = {};
            flushing.clear();
        } else if (record.kind == "compress") {
            ++history.failures;
            history.turns_since_failure = 0;
        } else if (record.kind == "trigger") {
            flushing = is_flush_trigger(record) ? record.turn : "";
            history.turns_since_failure += flushing.empty() ? 1U : 0U;
            history.flush_turn.clear();
        } else if (record.kind == "answer" && record.turn == flushing) {
            history.flush_turn = flushing;
        }
    }
    if (!history.flush_turn.empty()) {
        count_flush(records, history);
    }
    return history;
}

bool must_wait(const CompressHistory& history) noexcept {
    if (history.failures == 0) {
        return false;
    }
    const std::size_t wait =
        history.failures > 3 ? kMostTurnsToWait : std::size_t{1} << (history.failures - 1);
    return history.turns_since_failure < wait;
}

}  // namespace daybook
