#include "host/turn/handover.hpp"

#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/journal/journal_reader.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/conversation_view.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxRecord = 400;  // bytes of one order, fill, cancel or refusal
constexpr std::size_t kMaxWords = 200;   // of what a plugin told of an effect

bool is_order_record(std::string_view type) noexcept {
    return type == "order" || type == "fill" || type == "cancel" || type == "refusal";
}

/// "2026-10-19T09:30:00+05:30" -> "09:30"
std::string time_in(const std::string& local) {
    return local.size() >= 16 ? local.substr(11, 5) : local;
}

std::string words_of(const Json& text) {
    return printable(text.as_string(), kMaxWords);
}

std::string outcome_text(const Json& data) {
    const std::string& outcome = data["outcome"].as_string();
    if (outcome == "looked_up") {
        const std::string words = words_of(data["text"]);
        return "looked up: " + data["found"].as_string() + (words.empty() ? "" : ", " + words);
    }
    if (outcome == "none") {
        return "without effect, " + data["status"].as_string();
    }
    return outcome + ", " + data["status"].as_string();
}

void take_outcome(const JournalRecord& record, std::vector<EffectLine>& effects) {
    const Json& data = record.entry.data;
    const auto known = std::find_if(effects.rbegin(), effects.rend(), [&](const EffectLine& line) {
        return !line.key.empty() && line.key == data["key"].as_string();
    });
    if (known == effects.rend()) {
        return;
    }
    const std::string& found = data["found"].as_string();
    known->is_unknown = data["outcome"].as_string() == "unknown" ||
                        (data["outcome"].as_string() == "looked_up" && found == "unknown");
    // Behind the first line's colon stands what is known by now.
    const auto from = known->text.find(": ");
    const auto to = known->text.find(" (key ");
    known->text.replace(from, to - from, ": " + outcome_text(data));
}

EffectLine line_of(const JournalRecord& record) {
    const JournalEntry& entry = record.entry;
    EffectLine line;
    line.turn = entry.turn;
    line.text = "- " + time_in(record.local) + " " + entry.turn + " ";
    if (entry.type == "effect_intent") {
        line.key = entry.data["key"].as_string();
        line.is_unknown = true;
        line.text += entry.data["tool"].as_string() + ": not known whether it happened (key " +
                     line.key + ")";
    } else {
        line.text += entry.type + (entry.order.empty() ? "" : " " + entry.order) + " by " +
                     entry.by + ", on record: " + printable(entry.data.dump(), kMaxRecord);
    }
    return line;
}

/// The effects of a session, read from the journal. Errors: io.
Result<std::vector<EffectLine>> read_effects(const DeskParts& parts, std::string_view session) {
    const JournalReader reader = JournalReader::of(parts.journal);
    auto days = reader.days();
    if (!days) {
        return days.error();
    }
    const auto& first = parts.sessions.state().session_day;
    std::vector<JournalRecord> records;
    for (const DeskDate day : *days) {
        if (first && day < *first) {
            continue;
        }
        auto lines = reader.read_day(day);
        if (!lines) {
            return lines.error();
        }
        std::move(lines->records.begin(), lines->records.end(), std::back_inserter(records));
    }
    return effects_of(records, session);
}

std::string said_of(const Handover& handover) {
    const std::string from = handover.from.empty() ? "another model" : "model " + handover.from;
    switch (handover.why) {
        case Handover::Why::restart:
            return "You take up a conversation from the host's records" +
                   (handover.from.empty() || handover.from == handover.to
                        ? std::string(".")
                        : "; " + from + " ran the turns before.");
        case Handover::Why::model:
            return "You take over from " + from + ", which ran the turns before.";
        case Handover::Why::failed:
            break;
    }
    return "You take over from " + from + ", which failed in the middle of this turn (" +
           handover.fault +
           "). Go on where it ended: its tool calls of this turn were made, and stand among the "
           "messages with their results.";
}

std::string compressed_text(const ConversationView& view) {
    if (view.compress == nullptr) {
        return "";
    }
    const Json& extra = view.compress->extra;
    return " Lines " + std::to_string(extra["from"].as_integer()) + " to " +
           std::to_string(extra["to"].as_integer()) +
           " of the session were compressed: you have them as the summary" +
           (extra["model"].as_string().empty() ? "."
                                               : " of model " + extra["model"].as_string() + ".");
}

}  // namespace

std::string_view name_of(Handover::Why why) noexcept {
    switch (why) {
        case Handover::Why::restart:
            return "restart";
        case Handover::Why::model:
            return "model";
        case Handover::Why::failed:
            break;
    }
    return "failed";
}

std::vector<EffectLine> effects_of(std::span<const JournalRecord> records,
                                   std::string_view session) {
    std::vector<EffectLine> effects;
    for (const JournalRecord& record : records) {
        const std::string& type = record.entry.type;
        if (type == "effect_outcome") {
            take_outcome(record, effects);
        } else if (record.entry.session == session &&
                   (type == "effect_intent" || is_order_record(type))) {
            if (!record.entry.turn.empty()) {  // a trigger of the type `fill` is no effect
                effects.push_back(line_of(record));
            }
        }
    }
    return effects;
}

std::string effects_text(std::span<const EffectLine> effects,
                         std::string_view own,
                         std::size_t budget,
                         std::vector<std::string>& left_out) {
    std::vector<bool> is_kept(effects.size(), false);
    std::size_t used = 0;
    std::size_t kept = 0;
    const auto keep = [&](bool first) {
        for (std::size_t i = effects.size(); i-- > 0;) {
            const EffectLine& line = effects[i];
            const bool goes_first = line.turn == own || line.is_unknown;
            if (goes_first != first || used + line.text.size() + 1 > budget) {
                continue;
            }
            used += line.text.size() + 1;
            is_kept[i] = true;
            ++kept;
        }
    };
    keep(true);
    keep(false);
    std::string text;
    for (std::size_t i = 0; i < effects.size(); ++i) {
        text += is_kept[i] ? effects[i].text + "\n" : "";
    }
    if (kept < effects.size()) {
        left_out.push_back("effects: " + grouped(kept) + " of " + grouped(effects.size()) +
                           " shown; the others stand in the journal");
    }
    return text;
}

std::string model_of_last_answer(std::span<const SessionRecord> records) {
    const auto last = std::find_if(records.rbegin(), records.rend(), [](const auto& record) {
        return record.kind == "answer";
    });
    return last == records.rend() ? "" : last->extra["model"].as_string();
}

bool may_resume(const SessionStore& sessions, const std::string& holder, const std::string& model) {
    return sessions.state().backend_sessions.contains(model) &&
           (holder.empty() || holder == model) &&
           model_of_last_answer(sessions.conversation()) == model;
}

std::optional<Handover> handover_for(const SessionStore& sessions,
                                     const std::string& holder,
                                     const std::string& model,
                                     std::string_view own) {
    const auto& records = sessions.conversation();
    const bool has_earlier = std::any_of(records.begin(), records.end(), [&](const auto& record) {
        return record.kind == "trigger" && record.turn != own && !is_flush_trigger(record);
    });
    if (!has_earlier || holder == model || may_resume(sessions, holder, model)) {
        return std::nullopt;
    }
    Handover handover;
    handover.why = holder.empty() ? Handover::Why::restart : Handover::Why::model;
    handover.from = holder.empty() ? model_of_last_answer(records) : holder;
    handover.to = model;
    return handover;
}

void add_handover(DeskParts& parts,
                  const Handover& handover,
                  std::string_view session,
                  std::string_view turn,
                  FixedPart& fixed) {
    std::string text = said_of(handover) + compressed_text(view_of(parts.sessions.conversation()));
    std::string list;
    auto effects = read_effects(parts, session);
    if (!effects) {
        fixed.left_out.push_back("effects: not shown: " + effects.error().message());
        text +=
            " Which effects outside the desk were made cannot be read now: make none without "
            "asking the owner.";
    } else if (effects->empty()) {
        text += " Nothing was done outside the desk in this session.";
    } else {
        text +=
            " What was done outside the desk in this session stands under effects: never do "
            "one of them again, and look up or tell the owner what is not known.";
        list = effects_text(*effects, turn, kEffectsBudget, fixed.left_out);
    }
    fixed.parts.push(Json::object().set("name", "handover").set("text", mask_secrets(text)));
    fixed.parts.push(Json::object().set("name", "effects").set("text", mask_secrets(list)));
}

Result<> record_handover(DeskParts& parts,
                         const Handover& handover,
                         const std::string& session,
                         const std::string& turn) {
    Json data = Json::object();
    data.set("why", name_of(handover.why))
        .set("from", handover.from.empty() ? Json() : Json(handover.from))
        .set("to", handover.to);
    if (!handover.fault.empty()) {
        data.set("class", handover.fault);
    }
    auto record =
        parts.journal.append(DeskParts::entry("handover", session, turn, std::move(data)));
    return record ? Result<>() : Result<>(record.error().during("journal the hand-over"));
}

}  // namespace daybook
