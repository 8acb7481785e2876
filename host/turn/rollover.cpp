#include "host/turn/rollover.hpp"

#include "host/gate/content_rules.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/day_summary.hpp"

namespace daybook {
Result<> Rollover::save(const RolloverState& rollover) {
    DeskState state = parts_.sessions.state();
    state.rollover = rollover;
    state.next_turn = parts_.next_turn;
    if (rollover.folded) {  // closed: backends begin afresh with the next session
        state.session.clear();
        state.session_day.reset();
        state.backend_sessions.clear();
        state.context_tokens = 0;
        state.calibration = parts_.meter.calibration();
        parts_.meter.forget_count();
    }
    return parts_.sessions.save_state(std::move(state));
}

Result<> Rollover::record(const RolloverState& rollover,
                          std::string_view step,
                          const std::string& why,
                          Json more) {
    Json data = Json::object();
    data.set("day", rollover.day.str())
        .set("session", rollover.session)
        .set("step", step)
        .set("why", why);
    for (const auto& [name, value] : more.members()) {
        data.set(name, value);
    }
    parts_.events.emit("rollover", data);
    JournalEntry entry = DeskParts::entry("rollover", rollover.session, "", std::move(data));
    entry.key = "rollover:" + rollover.session + ":" + std::string(step);
    auto written = parts_.journal.append(std::move(entry));
    return written ? Result<>() : Result<>(written.error().during("journal the rollover"));
}

Result<> Rollover::run(const std::string& why) {
    if (auto told = record_opened(); !told) {  // a crash came before it, and no turn since
        return told;
    }
    const DeskState& state = parts_.sessions.state();
    RolloverState rollover;
    if (state.rollover && !(state.rollover->summarised && state.rollover->folded)) {
        rollover = *state.rollover;
    } else if (state.session_day && !state.session.empty()) {
        rollover.day = *state.session_day;
        rollover.session = state.session;
        if (auto saved = save(rollover); !saved) {
            return saved.error().during("begin the rollover");
        }
    } else {
        return {};
    }
    if (!rollover.summarised) {
        if (auto done = summarise(rollover, why); !done) {
            return done.error().during("summarise session " + rollover.session);
        }
    }
    if (!rollover.folded) {
        if (auto done = fold(rollover, why); !done) {
            return done.error().during("fold session " + rollover.session);
        }
    }
    parts_.sessions.close_session();
    return {};
}

Result<> Rollover::summarise(RolloverState& rollover, const std::string& why) {
    auto lines = parts_.sessions.read(rollover.session);
    if (!lines) {
        return lines.error();
    }
    auto written = parts_.sessions.has_summary(rollover.day, rollover.session);
    if (!written) {
        return written.error();
    }
    Json more = Json::object();
    if (!has_turns(*lines)) {
        more.set("note", "nothing was said");
    } else if (!*written) {
        std::string model;
        auto text =
            write_day_summary(parts_, router_, rollover.day, rollover.session, *lines, model);
        if (!text && parts_.interrupt.is_stopping()) {
            return text.error();
        }
        more.set("model", text ? Json(model) : Json());
        if (!text) {
            more.set("note", "extracted by the host: " + text.error().message());
        }
        std::string summary = mask_secrets(
            text ? *text : extract_summary(*lines, parts_.zone, text.error().message()));
        summary = cut_text(summary, kMaxDaySummary);
        if (auto kept = parts_.sessions.write_summary(rollover.day, rollover.session, summary);
            !kept) {
            return kept;
        }
        more.set("bytes", summary.size());
    } else {
        more.set("note", "the summary was there already");
    }
    if (auto told = record(rollover, "summarised", why, std::move(more)); !told) {
        return told;
    }
    rollover.summarised = true;
    return save(rollover);
}

Result<> Rollover::fold(RolloverState& rollover, const std::string& why) {
    // The fold worker is not built yet: the step is recorded, so that notes stay where they are and
    // later folds find them.
    if (auto told = record(rollover, "folded", why, Json::object().set("note", "no fold worker"));
        !told) {
        return told;
    }
    rollover.folded = true;
    return save(rollover);
}

Result<> Rollover::open_session(DeskDate day) {
    auto last = parts_.sessions.last_summary_day();
    if (!last) {
        return last.error();
    }
    std::string summary;
    Json extra = Json::object();
    if (*last) {
        auto text = parts_.sessions.read_summary(**last);
        if (!text) {
            return text.error();
        }
        summary = text->value_or("");
        extra.set("summary_of", (**last).str());
    }
    auto opened = parts_.sessions.open_session(day, summary, std::move(extra));
    return opened ? record_opened() : Result<>(opened.error());
}

Result<> Rollover::record_opened() {
    const DeskState& state = parts_.sessions.state();
    const std::string from = state.rollover ? state.rollover->session : "";
    if (state.session.empty() || !state.session_day || from == state.session ||
        parts_.sessions.conversation().size() > 1) {
        return {};  // none is open, it is being closed, or its first turn has begun
    }
    Json data = Json::object();
    data.set("day", state.session_day->str())
        .set("session", state.session)
        .set("step", "opened")
        .set("why", "first turn");
    data.set("from", from.empty() ? Json() : Json(from));
    JournalEntry entry = DeskParts::entry("rollover", state.session, "", data);
    entry.key = "rollover:" + state.session + ":opened";
    const std::uint64_t duplicates = parts_.journal.counts().duplicates;
    auto record = parts_.journal.append(std::move(entry));
    if (!record) {
        return record.error().during("journal the rollover");
    }
    if (parts_.journal.counts().duplicates == duplicates) {
        parts_.events.emit("rollover", data);
    }
    return {};
}

}  // namespace daybook
