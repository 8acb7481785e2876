#include "host/turn/recovery.hpp"

#include <algorithm>
#include <charconv>

#include "host/gate/content_rules.hpp"
#include "host/turn/desk_parts.hpp"

namespace daybook {
namespace {

std::uint64_t turn_number(std::string_view turn) {
    std::uint64_t number = 0;
    if (turn.starts_with("t-")) {
        std::from_chars(turn.data() + 2, turn.data() + turn.size(), number);
    }
    return number;
}

/// An owner's call has "<desk>:<turn>" as its trigger: nothing that was accepted.
bool is_accepted(const std::string& trigger, const std::map<std::string, bool>& accepted) {
    return accepted.contains(trigger);
}

JournalEntry turn_end(const CutTurn& turn, std::string_view outcome) {
    Json data = Json::object();
    data.set("kind", turn.kind).set("outcome", outcome).set("recovered", true);
    return DeskParts::entry("turn_end", turn.session, turn.turn, std::move(data));
}

/// Tool calls of the open session that never got a result.
std::vector<SessionRecord> close_orphans(const SessionStore& sessions) {
    std::map<std::pair<std::string, std::string>, const SessionRecord*> open;
    for (const SessionRecord& record : sessions.conversation()) {
        const auto key = std::pair(record.turn, record.extra["call"].as_string());
        if (record.kind == "tool_call") {
            open[key] = &record;
        } else if (record.kind == "tool_result") {
            open.erase(key);
        }
    }
    std::vector<SessionRecord> results;
    for (const SessionRecord& call : sessions.conversation()) {
        const auto found = open.find(std::pair(call.turn, call.extra["call"].as_string()));
        if (call.kind != "tool_call" || found == open.end() || found->second != &call) {
            continue;
        }
        SessionRecord result;
        result.turn = call.turn;
        result.kind = "tool_result";
        result.source = Source::host;
        result.text =
            R"({"error":"interrupted","message":"the host stopped before this call ended; what it did is not known"})";
        result.extra = Json::object()
                           .set("call", call.extra["call"])
                           .set("tool", call.extra["tool"])
                           .set("status", "interrupted")
                           .set("round", call.extra["round"]);
        results.push_back(std::move(result));
    }
    return results;
}

/// Turns of the open session that were begun there and have neither answer nor end.
std::vector<SessionRecord> close_turns(const SessionStore& sessions) {
    std::vector<std::string> open;
    for (const SessionRecord& record : sessions.conversation()) {
        if (record.kind == "trigger") {
            open.push_back(record.turn);
        } else if (record.kind == "answer" || record.kind == "interrupted") {
            std::erase(open, record.turn);
        }
    }
    std::vector<SessionRecord> lines;
    for (const std::string& turn : open) {
        SessionRecord line;
        line.turn = turn;
        line.kind = "interrupted";
        line.source = Source::host;
        line.text = "the host stopped in the middle of it";
        lines.push_back(std::move(line));
    }
    return lines;
}

Result<bool> has_answer(const SessionStore& sessions, const CutTurn& turn) {
    auto lines = sessions.read(turn.session);
    if (!lines) {
        return lines.error().code() == Errc::not_found || turn.session.empty()
                   ? Result<bool>(false)
                   : Result<bool>(lines.error());
    }
    return std::any_of(lines->begin(), lines->end(), [&](const SessionRecord& record) {
        return record.kind == "answer" && record.turn == turn.turn;
    });
}

/// What one cut turn comes to.
struct Verdict {
    JournalEntry end;
    std::optional<Trigger> recovery;  ///< to be journalled first
    bool settles = false;
    std::string sentence;
};

Verdict judge(const CutTurn& turn, bool answered, bool accepted, int cuts) {
    Verdict verdict;
    verdict.sentence = "turn " + turn.turn + " was cut";
    const bool gives_up = accepted && turn.effects.empty() && cuts + 1 >= JournalScanner::kMaxCuts;
    if (answered) {
        verdict.end = turn_end(turn, "completed");
        verdict.settles = true;
        verdict.sentence += " after its answer was saved: completed";
    } else if (!turn.effects.empty() || gives_up) {
        verdict.end = turn_end(turn, "interrupted");
        verdict.settles = true;
        Trigger recovery;
        recovery.kind = TurnKind::job;
        recovery.source = Source::host;
        recovery.name = "recovery";
        recovery.key = "recovery:" + turn.turn;
        recovery.recovery_of = turn.turn;
        recovery.text = gives_up ? "The host stopped " + std::to_string(cuts + 1) +
                                       " times in the middle of the turn for trigger " +
                                       turn.trigger + ". It is not tried again. Tell the owner."
                                 : recovery_text(turn);
        verdict.recovery = std::move(recovery);
        verdict.sentence += gives_up ? " once too often: not run again"
                                     : " with effects: closed, a recovery follows";
    } else {
        verdict.end = turn_end(turn, "interrupted");
        verdict.sentence += accepted ? " before any effect: it runs again" : ": closed";
    }
    if (verdict.settles) {
        verdict.end.data.set("trigger", turn.trigger);
    } else {
        verdict.end.data.set("cut_trigger", turn.trigger).set("run_again", accepted);
    }
    return verdict;
}

}  // namespace

std::optional<Trigger> trigger_of(const JournalRecord& record) {
    const auto kind = trigger_kind_of(record.entry.type);
    const Json& data = record.entry.data;
    if (!kind || record.entry.by != "host" || data["kind"].as_string() != record.entry.type) {
        return std::nullopt;
    }
    Trigger trigger;
    trigger.id = record.id;
    trigger.kind = *kind;
    const auto source = source_of(data["source"].as_string());
    trigger.source = source ? *source : source_of(*kind);
    trigger.text = data["text"].as_string();
    trigger.key = data["key"].as_string();
    trigger.name = data["name"].as_string();
    trigger.recovery_of = data["recovery_of"].as_string();
    trigger.accepted = record.ts;
    return trigger;
}

JournalEntry entry_of(const Trigger& trigger) {
    Json data = Json::object();
    data.set("source", name_of(trigger.source))
        .set("kind", name_of(trigger.kind))
        .set("text", mask_secrets(trigger.text));
    if (!trigger.key.empty()) {
        data.set("key", trigger.key);
    }
    if (!trigger.name.empty()) {
        data.set("name", trigger.name);
    }
    if (trigger.kind == TurnKind::alert) {
        data.set("untrusted", true);
    }
    if (!trigger.recovery_of.empty()) {
        data.set("recovery_of", trigger.recovery_of);
    }
    JournalEntry entry =
        DeskParts::entry(std::string(name_of(trigger.kind)), "", "", std::move(data));
    if (!trigger.key.empty()) {
        entry.key = "trigger:" + trigger.key;
    }
    return entry;
}

void JournalScanner::take(const JournalRecord& record) {
    last_turn_ = std::max(last_turn_, turn_number(record.entry.turn));
    if (record.entry.type == "turn_start" || record.entry.type == "turn_end") {
        take_turn(record);
    } else if (record.entry.type == "effect_intent" || record.entry.type == "effect_outcome") {
        take_effect(record);
    } else if (record.entry.type == "desk") {
        const std::string& what = record.entry.data["what"].as_string();
        paused_ = what == "paused" ? true : what == "resumed" ? false : paused_;
    } else if (auto trigger = trigger_of(record)) {
        settled_.emplace(trigger->id, false);
        accepted_.push_back(std::move(*trigger));
    }
}

void JournalScanner::take_turn(const JournalRecord& record) {
    const Json& data = record.entry.data;
    if (record.entry.type == "turn_start") {
        open_.push_back({record.entry.turn,
                         record.entry.session,
                         data["trigger"].as_string(),
                         data["kind"].as_string(),
                         {}});
        return;
    }
    std::erase_if(open_, [&](const CutTurn& turn) { return turn.turn == record.entry.turn; });
    if (const std::string& trigger = data["trigger"].as_string(); !trigger.empty()) {
        // Its own line may stand in an older file than those that were read.
        settled_[trigger] = true;
    }
    if (const std::string& trigger = data["cut_trigger"].as_string(); !trigger.empty()) {
        ++cuts_[trigger];
    }
}

void JournalScanner::take_effect(const JournalRecord& record) {
    const Json& data = record.entry.data;
    for (CutTurn& turn : open_) {
        if (turn.turn != record.entry.turn) {
            continue;
        }
        const std::string& key = data["key"].as_string();
        const auto known =
            std::find_if(turn.effects.begin(), turn.effects.end(), [&](const SeenEffect& effect) {
                return effect.key == key;
            });
        if (record.entry.type == "effect_intent") {
            turn.effects.push_back({key, data["tool"].as_string(), "", ""});
        } else if (known != turn.effects.end()) {
            known->outcome = data["outcome"].as_string();
            known->status = data["status"].as_string();
        }
    }
}

std::vector<Trigger> JournalScanner::unsettled() const {
    std::vector<Trigger> open;
    for (const Trigger& trigger : accepted_) {
        if (!settled_.at(trigger.id)) {
            open.push_back(trigger);
        }
    }
    return open;
}

int JournalScanner::cuts_of(const std::string& trigger) const {
    const auto found = cuts_.find(trigger);
    return found == cuts_.end() ? 0 : found->second;
}

std::string recovery_text(const CutTurn& turn) {
    std::string text = "The host stopped in the middle of turn " + turn.turn + " (" + turn.kind +
                       " " + turn.trigger + ").";
    for (const SeenEffect& effect : turn.effects) {
        const std::string what = " " + effect.tool + " (key " + effect.key + ")";
        if (effect.outcome == "known") {
            text += " Done before:" + what + ", which ended as " + effect.status + ".";
        } else if (effect.outcome == "none") {
            text += " Without effect:" + what + ", which ended as " + effect.status + ".";
        } else {
            text += " Not known:" + what + " was begun; whether it happened is not known.";
        }
    }
    return text +
           " Do not repeat any of these. Look up what is not known if you can, and tell the owner "
           "what happened and what "
           "is still open.";
}

Result<Recovered> recover(const JournalScanner& scanner, Journal& journal, SessionStore& sessions) {
    Recovered recovered;
    std::vector<SessionRecord> lines = close_orphans(sessions);
    std::vector<SessionRecord> ends = close_turns(sessions);
    std::move(ends.begin(), ends.end(), std::back_inserter(lines));
    if (!lines.empty()) {
        recovered.sentences.push_back("session " + sessions.state().session + ": " +
                                      std::to_string(lines.size()) +
                                      " line(s) added to close what was cut");
        if (auto closed = sessions.append(std::move(lines), true); !closed) {
            return closed.error();
        }
    }
    std::set<std::string> settled_now;
    for (const CutTurn& turn : scanner.cut()) {
        auto answered = has_answer(sessions, turn);
        if (!answered) {
            return answered.error();
        }
        Verdict verdict = judge(turn,
                                *answered,
                                is_accepted(turn.trigger, scanner.triggers()),
                                scanner.cuts_of(turn.trigger));
        std::vector<JournalEntry> entries;
        if (verdict.recovery) {
            entries.push_back(entry_of(*verdict.recovery));
        }
        entries.push_back(std::move(verdict.end));
        auto records = journal.append_all(std::move(entries));
        if (!records) {
            return records.error().during("close turn " + turn.turn);
        }
        if (verdict.recovery) {
            if (auto trigger = trigger_of(records->front())) {
                recovered.pending.push_back(std::move(*trigger));
            }
        }
        if (verdict.settles) {
            settled_now.insert(turn.trigger);
        }
        recovered.sentences.push_back(std::move(verdict.sentence));
    }
    for (Trigger& trigger : scanner.unsettled()) {
        const bool is_new = std::none_of(
            recovered.pending.begin(), recovered.pending.end(), [&](const Trigger& other) {
                return other.id == trigger.id;
            });
        if (!settled_now.contains(trigger.id) && is_new) {
            recovered.pending.push_back(std::move(trigger));
        }
    }
    return recovered;
}

}  // namespace daybook
