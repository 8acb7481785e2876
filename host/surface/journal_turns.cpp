#include "host/surface/journal_turns.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace daybook {
namespace {

constexpr std::array<std::string_view, 5> kQuietKinds{
    "note_worker", "flush", "summary", "fold", "curator"};
constexpr std::array<std::string_view, 4> kTriggerTypes{"message", "job", "alert", "fill"};
constexpr std::array<std::string_view, 4> kOutside{"order", "refusal", "fill", "cancel"};

template <class List>
bool holds(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

/// "t-42" -> 42, else 0.
std::uint64_t number_of(std::string_view turn) {
    std::uint64_t number = 0;
    if (turn.starts_with("t-")) {
        std::from_chars(turn.data() + 2, turn.data() + turn.size(), number);
    }
    return number;
}

/// A number or a word, as text.
std::string text_of(const Json& value) {
    return value.is_string() ? value.as_string() : value.is_null() ? "" : value.dump();
}

}  // namespace

void JournalTurns::take(const JournalRecord& record, const LinePlace& place) {
    ++at_;
    const JournalEntry& entry = record.entry;
    const bool is_host = entry.by == "host";
    if (entry.type == "turn_start") {
        begin_turn(record, place);
    } else if (entry.type == "turn_end") {
        end_turn(record, place);
    } else if (entry.type == "rollover") {
        take_rollover(record, place);
    } else if (entry.type == "compress") {
        take_compression(record, place);
    } else if (is_host && holds(kTriggerTypes, entry.type)) {
        triggers_.insert(record.id);
    }
    const bool is_effect = entry.type == "effect_intent" || entry.type == "effect_outcome";
    if (is_effect || (!is_host && holds(kOutside, entry.type))) {
        take_effect(record, place);
    }
}

void JournalTurns::begin_turn(const JournalRecord& record, const LinePlace& place) {
    ++proof_.turns;
    const std::string& turn = record.entry.turn;
    last_turn_ = std::max(last_turn_, number_of(turn));
    const Json& data = record.entry.data;
    ProvenTurn begun{record.entry.session,
                     data["kind"].as_string(),
                     data["trigger"].as_string(),
                     "",
                     place,
                     {},
                     at_,
                     0};
    if (turn.empty()) {
        proof_.find(place, "a turn begins without an id");
        return;
    }
    if (begun.kind == "flush") {
        ++proof_.flushes;
    }
    const auto [known, is_new] = turns_.emplace(turn, std::move(begun));
    if (!is_new) {
        proof_.find(place,
                    "turn " + turn + " begins again; it began at " + known->second.began.str());
        return;
    }
    const std::string& trigger = known->second.trigger;
    if (trigger.find(':') == std::string::npos && !trigger.empty() &&
        !triggers_.contains(trigger)) {
        proof_.find(place, "turn " + turn + " answers " + trigger + ", which was never accepted");
    }
    open_.insert(turn);
}

void JournalTurns::end_turn(const JournalRecord& record, const LinePlace& place) {
    const std::string& turn = record.entry.turn;
    const auto known = turns_.find(turn);
    if (known == turns_.end()) {
        proof_.find(place, "turn " + turn + " ends and never began");
        return;
    }
    ProvenTurn& begun = known->second;
    if (begun.end_at != 0) {
        proof_.find(place, "turn " + turn + " ends again; it ended at " + begun.ended.str());
        return;
    }
    begun.outcome = text_of(record.entry.data["outcome"]);
    begun.ended = place;
    begun.end_at = at_;
    open_.erase(turn);
    if (begun.session != record.entry.session) {
        proof_.find(place,
                    "turn " + turn + " ends in session " + record.entry.session + " and began in " +
                        begun.session);
    }
    const std::string& trigger = record.entry.data["trigger"].as_string();
    if (trigger.empty() || trigger.find(':') != std::string::npos) {
        return;  // a quiet turn's or an owner's call's
    }
    const auto [first, is_new] = settled_.emplace(trigger, place);
    if (!is_new) {
        proof_.find(place,
                    "trigger " + trigger + " is settled again; it was at " + first->second.str());
    }
}

void JournalTurns::take_effect(const JournalRecord& record, const LinePlace& place) {
    const JournalEntry& entry = record.entry;
    const auto turn = turns_.find(entry.turn);
    if (turn != turns_.end() && holds(kQuietKinds, turn->second.kind)) {
        proof_.find(place,
                    entry.type + " in turn " + entry.turn + ", which is a quiet " +
                        turn->second.kind + " turn: it may cause no effect");
    }
    if (turn == turns_.end()) {
        proof_.find(place, entry.type + " outside of any turn");
    } else if (!open_.contains(entry.turn)) {
        proof_.find(place, entry.type + " after the end of its turn " + entry.turn);
    }
    const std::string& key = entry.data["key"].as_string();
    if (entry.type == "effect_intent") {
        ++proof_.effects;
        const auto [first, is_new] = intents_.emplace(key, place);
        if (!is_new) {
            proof_.find(place,
                        "effect " + key + " is tried again; it was at " + first->second.str());
        }
    } else if (entry.type == "effect_outcome") {
        if (!intents_.contains(key)) {
            proof_.find(place, "effect " + key + " has an outcome and no intent before it");
        }
        outcomes_.emplace(key, place);
    }
}

void JournalTurns::take_rollover(const JournalRecord& record, const LinePlace& place) {
    const Json& data = record.entry.data;
    const std::string& step = data["step"].as_string();
    const std::string& session = data["session"].as_string();
    auto& steps = steps_[session];
    if (const auto [first, is_new] = steps.emplace(step, place);
        !is_new && step != "summary_redone") {
        proof_.find(place,
                    "step " + step + " of session " + session + " is done again; it was at " +
                        first->second.str());
    }
    if (step == "opened") {
        const std::string& from = data["from"].as_string();
        if (!from.empty() && !closed_.contains(from)) {
            proof_.find(place, "session " + session + " opens before " + from + " was closed");
        }
    } else if (step == "summarised" && data["why"].as_string() == "time") {
        const auto [first, is_new] = timed_.emplace(data["day"].as_string(), place);
        if (!is_new) {
            proof_.find(place,
                        "a second timed rollover of " + data["day"].as_string() +
                            "; the first was at " + first->second.str());
        }
    } else if (step == "folded") {
        ++proof_.rollovers;
        if (!steps.contains("summarised")) {
            proof_.find(place, "session " + session + " is folded before it is summarised");
        }
        closed_.emplace(session, place);
    }
}

void JournalTurns::take_compression(const JournalRecord& record, const LinePlace& place) {
    const Json& data = record.entry.data;
    ProvenCompression compression;
    compression.place = place;
    compression.session = record.entry.session;
    compression.outcome = data["outcome"].as_string();
    compression.mark = text_of(data["mark"]);
    compression.flush_turn = data["flush"]["turn"].as_string();
    compression.summary_turn = data["summary_turn"].as_string();
    compression.line =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, data["line"].as_integer()));
    compression.at = at_;
    proof_.compressions += compression.outcome == "completed" ? 1U : 0U;
    const bool wants_flush = compression.mark == "70" && data["by"].as_string() != "backend";
    const bool says_why =
        !text_of(data["no_flush"]).empty() || !text_of(data["flush"]["why"]).empty();
    if (compression.flush_turn.empty() && (wants_flush || compression.mark != "auto") &&
        !says_why) {
        proof_.find(
            place,
            "a compression at " + compression.mark + " without a flush and without a reason");
    }
    compressions_.push_back(std::move(compression));
}

/// The flush came before the summary, was a flush, and belongs to this compression alone.
void JournalTurns::check_flush(const ProvenCompression& compression, std::set<std::string>& used) {
    const std::string& name = compression.flush_turn;
    const auto flush = turns_.find(name);
    if (flush == turns_.end()) {
        proof_.find(compression.place, "its flush turn " + name + " is not in the journal");
        return;
    }
    if (flush->second.kind != "flush" || flush->second.session != compression.session) {
        proof_.find(compression.place,
                    "turn " + name + " is no flush turn of session " + compression.session);
    }
    if (flush->second.at > compression.at) {
        proof_.find(compression.place, "its flush turn " + name + " comes after it");
    }
    const auto summary = turns_.find(compression.summary_turn);
    if (summary != turns_.end() &&
        (flush->second.end_at == 0 || flush->second.end_at > summary->second.at)) {
        proof_.find(compression.place,
                    "the summary turn " + compression.summary_turn + " began at " +
                        summary->second.began.str() + ", before its flush turn " + name + " ended");
    }
    if (compression.outcome == "completed" && !used.insert(name).second) {
        proof_.find(compression.place, "flush turn " + name + " served an earlier compression");
    }
}

void JournalTurns::finish() {
    std::set<std::string> used;
    for (const ProvenCompression& compression : compressions_) {
        if (!compression.flush_turn.empty()) {
            check_flush(compression, used);
        }
    }
    for (const std::string& name : open_) {
        const ProvenTurn& turn = turns_.at(name);
        const bool is_last = number_of(name) == last_turn_ || holds(kQuietKinds, turn.kind);
        if (is_last) {
            proof_.note(turn.began,
                        "turn " + name + " has no end: it runs, or the next start closes it");
        } else {
            proof_.find(turn.began, "turn " + name + " has no end, and later ones began");
        }
    }
    for (const auto& [key, place] : intents_) {
        if (!outcomes_.contains(key)) {
            proof_.note(place, "effect " + key + " has no outcome: what became of it is not known");
        }
    }
}

}  // namespace daybook
