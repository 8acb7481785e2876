#include "host/turn/rollover.hpp"

#include "host/gate/content_rules.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/prompt.hpp"
#include "host/turn/tool_call.hpp"

namespace daybook {
namespace {

/// Quoted whole in the next session's opening line.
constexpr std::size_t kMaxSummary = 32UL * 1024;

}  // namespace

Result<> Rollover::save(const RolloverState& rollover) {
    DeskState state = parts_.sessions.state();
    state.rollover = rollover;
    state.next_turn = parts_.next_turn;
    if (rollover.folded) {  // closed: backends begin afresh with the next session
        state.session.clear();
        state.session_day.reset();
        state.backend_sessions.clear();
        state.context_tokens = 0;
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
        auto text = ask_model(rollover, *lines, model);
        if (!text && parts_.interrupt.is_stopping()) {
            return text.error();
        }
        more.set("model", text ? Json(model) : Json());
        if (!text) {
            more.set("note", "extracted by the host: " + text.error().message());
        }
        std::string summary = mask_secrets(
            text ? *text : extract_summary(*lines, parts_.zone, text.error().message()));
        summary = cut_text(summary, kMaxSummary);
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

Json Rollover::summary_request(const TurnScope& scope,
                               const ModelChoice& choice,
                               std::int64_t window,
                               const std::vector<SessionRecord>& lines) const {
    const std::size_t budget = std::min(kMaxTranscript, conversation_budget(window));
    RequestFrame frame;
    frame.desk = parts_.config.name;
    frame.turn = scope.turn;
    frame.session = scope.session;
    frame.kind = name_of(TurnKind::summary);
    frame.now = parts_.zone.local(parts_.services.clock.now());
    frame.model = choice.config->model;
    frame.day = scope.day;
    frame.config = request_config(*choice.config);
    frame.window = window;
    Json message = Json::object();
    message.set("role", "user").set("source", "host").set("kind", frame.kind).set("at", frame.now);
    message.set("text", transcript_of(lines, parts_.zone, budget));
    std::vector<std::string> left_out;
    return build_request(frame, {}, {std::move(message)}, 2 * budget, left_out);
}

Result<std::string> Rollover::ask_model(const RolloverState& rollover,
                                        const std::vector<SessionRecord>& lines,
                                        std::string& model) {
    TurnScope scope;
    scope.kind = TurnKind::summary;
    scope.day = rollover.day;
    scope.session = rollover.session;
    scope.allowance = TurnAllowance::of(TurnKind::summary, rollover.day);
    ToolCaller no_tools(parts_, scope);
    ModelCaller caller(parts_, no_tools);
    std::vector<ModelRefusal> refusals;
    const auto choice = router_.pick(caller, {}, refusals);
    if (!choice) {
        std::string reasons;
        for (const ModelRefusal& refusal : refusals) {
            reasons += (reasons.empty() ? "" : "; ") + refusal.model +
                       (refusal.model.empty() ? "" : ": ") + refusal.reason;
        }
        return Error(Errc::unavailable, "no model is ready: " + reasons);
    }
    model = choice->config->name;
    scope.turn = parts_.new_turn();
    scope.trigger = parts_.config.name + ":" + scope.turn;
    Json data = Json::object().set("kind", "summary").set("trigger", Json()).set("model", model);
    auto begun =
        parts_.journal.append(DeskParts::entry("turn_start", rollover.session, scope.turn, data));
    if (!begun) {
        return begun.error();
    }
    const ModelAnswer answer =
        caller.turn(*choice,
                    summary_request(scope, *choice, router_.window_of(caller, *choice), lines),
                    nullptr);
    const bool completed = answer.end == "completed";
    if (!completed) {
        router_.forget(model);
    }
    data.set("outcome", completed ? "completed" : "failed");
    data.set("tokens",
             Json::object()
                 .set("input", answer.input_tokens)
                 .set("output", answer.output_tokens)
                 .set("exact", answer.exact));
    if (!completed) {
        data.set("error",
                 mask_secrets(answer.message.empty() ? answer.error_class : answer.message));
    }
    if (auto ended =
            parts_.journal.append(DeskParts::entry("turn_end", rollover.session, scope.turn, data));
        !ended) {
        return ended.error();
    }
    if (!completed) {
        return Error(Errc::unavailable, "model " + model + ": " + data["error"].as_string());
    }
    return answer.text;
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
