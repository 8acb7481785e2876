#include "host/turn/turn.hpp"

#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/turn_inputs.hpp"

namespace daybook {
namespace {

std::string_view outcome_name(TurnEnd::Kind kind) noexcept {
    switch (kind) {
        case TurnEnd::Kind::completed:
            return "completed";
        case TurnEnd::Kind::failed:
            return "failed";
        case TurnEnd::Kind::cancelled:
            return "cancelled";
        case TurnEnd::Kind::waiting:
            break;
    }
    return "waiting";
}

Json strings(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) {
        list.push(text);
    }
    return list;
}

std::size_t bytes_of(const Json::Array& messages) {
    std::size_t bytes = 0;
    for (const Json& message : messages) {
        bytes += message.dump().size() + 1;
    }
    return bytes;
}

/// The arguments as the model gave them; text that is no JSON object is shown as it is.
Json shown_arguments(const std::string& text) {
    auto parsed = Json::parse(text.empty() ? "{}" : text);
    return parsed && parsed->is_object() ? std::move(*parsed)
                                         : Json::object().set("unreadable", text);
}

TurnScope make_scope(const DeskParts& parts, const Trigger& trigger, DeskDate day) {
    TurnScope scope;
    scope.kind = trigger.kind;
    scope.day = day;
    scope.session = parts.sessions.state().session;
    scope.trigger = trigger.id;
    scope.allowance = TurnAllowance::of(trigger.kind, day);
    return scope;
}

}  // namespace

Turn::Turn(DeskParts& parts, ModelRouter& router, const Trigger& trigger, DeskDate day)
    : parts_(parts),
      router_(router),
      trigger_(trigger),
      scope_(make_scope(parts, trigger, day)),
      tools_(parts, scope_),
      models_(parts, tools_) {}

SessionRecord Turn::line(std::string kind, Source source, std::string text, Json extra) const {
    SessionRecord record;
    record.turn = scope_.turn;
    record.kind = std::move(kind);
    record.source = source;
    record.text = std::move(text);
    record.extra = std::move(extra);
    return record;
}

Json Turn::about() const {
    return Json::object().set("turn", scope_.turn).set("trigger", trigger_.id);
}

TurnEnd Turn::run() {
    begun_ = parts_.services.clock.steady();
    TurnEnd waiting;
    auto choice = router_.pick(models_, {}, waiting.refusals);
    if (!choice) {
        waiting.reason = "no model is ready";
        return waiting;
    }
    model_ = *choice;
    window_ = router_.window_of(models_, model_);
    scope_.turn = parts_.new_turn();
    if (auto begun = begin(trigger_); !begun) {
        waiting.reason = begun.error().message();
        return waiting;
    }
    return loop();
}

/// The trigger stays queued: this end names none, so it settles nothing and counts as no cut.
void Turn::withdraw(const Error& why) {
    Json data = Json::object();
    data.set("kind", name_of(trigger_.kind))
        .set("outcome", "interrupted")
        .set("error", "the turn could not be started: " + mask_secrets(why.message()));
    auto record = parts_.journal.append(
        DeskParts::entry("turn_end", scope_.session, scope_.turn, std::move(data)));
    if (!record) {
        parts_.services.log(
            kLogError,
            record.error().message() + " desk=" + parts_.config.name + " turn=" + scope_.turn);
    }
}

TurnEnd Turn::fail(const Error& why) {
    TurnEnd end;
    end.reason = why.message();
    if (!begun_turn_) {
        return end;  // waiting: nothing of it was said
    }
    end.kind = TurnEnd::Kind::failed;
    end.reason = "internal: " + end.reason;
    return finish(std::move(end), "");
}

Result<> Turn::begin(const Trigger& trigger) {
    Json extra = Json::object();
    extra.set("trigger", trigger.id).set("kind", name_of(trigger.kind));
    if (!trigger.name.empty()) {
        extra.set("name", trigger.name);
    }
    SessionRecord said = line("trigger", trigger.source, trigger.text, extra);
    said.ts = parts_.services.clock.now();
    live_.push_back(trigger_message(said, parts_.zone));
    said.text = mask_secrets(
        trigger.text);  // files of record hold no secret; this turn's model sees the words
    Json data = Json::object();
    data.set("kind", name_of(trigger.kind))
        .set("trigger", trigger.id)
        .set("model", model_.config->name);
    // The journal first: a turn that could not be started leaves no line in the conversation, so
    // that trying again says nothing twice.
    auto record = parts_.journal.append(
        DeskParts::entry("turn_start", scope_.session, scope_.turn, std::move(data)));
    if (!record) {
        return record.error();
    }
    if (auto added = parts_.sessions.append({std::move(said)}, false); !added) {
        withdraw(added.error());
        return added;
    }
    begun_turn_ = true;
    note_owner_edits();
    fixed_ = gather_fixed_part(parts_, scope_);
    offered_tools_ = gather_tools(parts_, scope_);
    parts_.events.emit("turn_start",
                       about()
                           .set("kind", name_of(trigger.kind))
                           .set("model", model_.config->name)
                           .set("session", scope_.session));
    return {};
}

/// Reading goes on without a checkpoint: a write will ask for its own and say why there is none.
void Turn::note_owner_edits() {
    WriteContext context;
    context.session = scope_.session;
    context.turn = scope_.turn;
    if (auto noted = parts_.gate.note_owner_edits(context); !noted) {
        parts_.services.log(
            kLogWarn, "owner's edits: " + noted.error().message() + " desk=" + parts_.config.name);
    }
}

ModelAnswer Turn::ask(std::vector<std::string>& left_out) {
    const std::size_t budget = conversation_budget(window_);
    const std::size_t live_bytes = bytes_of(live_);
    left_out = fixed_.left_out;
    const auto& lines = parts_.sessions.conversation();
    // By the turn, not by a count: an append may drop the oldest turns.
    const auto mine = std::find_if(lines.begin(), lines.end(), [&](const SessionRecord& record) {
        return record.turn == scope_.turn;
    });
    const auto before = std::span(lines.begin(), mine);
    const Json::Array history =
        render_history(before, parts_.zone, budget - std::min(budget, live_bytes), left_out);
    RequestFrame frame;
    frame.desk = parts_.config.name;
    frame.turn = scope_.turn;
    frame.session = scope_.session;
    frame.kind = name_of(trigger_.kind);
    frame.now = parts_.zone.local(parts_.services.clock.now());
    frame.model = model_.config->model;
    frame.day = scope_.day;
    frame.config = request_config(*model_.config);
    frame.window = window_;
    const auto& resume = parts_.sessions.state().backend_sessions;
    if (const auto found = resume.find(model_.config->name); found != resume.end()) {
        frame.resume = found->second;
    }
    frame.fixed = &fixed_;
    frame.tools = offered_tools_;
    const Json request = build_request(frame, history, live_, budget, left_out);
    ModelAnswer answer = models_.turn(model_, request, [this](const ModelEvent& event) {
        parts_.events.emit(event.name, about().set("text", event.values[0]));
    });
    if (answer.input_tokens > 0) {
        input_tokens_ = answer.input_tokens;
        exact_ = answer.exact;
    }
    output_tokens_ += std::max<std::int64_t>(answer.output_tokens, 0);
    return answer;
}

TurnEnd Turn::loop() {
    TurnEnd end;
    for (int round = 1; round <= kMaxRounds;) {
        const ModelAnswer answer = ask(left_out_);
        if (parts_.interrupt.is_set()) {
            end.kind = TurnEnd::Kind::cancelled;
            end.reason = parts_.interrupt.why();
            return finish(std::move(end), "");
        }
        if (!answer.error_class.empty()) {
            if (take_next_model(answer, end)) {
                continue;
            }
            return finish(std::move(end), "");
        }
        if (answer.end == "completed") {
            return complete(answer);
        }
        if (auto ran = run_calls(answer, round); !ran) {
            end.kind = TurnEnd::Kind::failed;
            end.reason = ran.error().message();
            return finish(std::move(end), "");
        }
        ++round;
    }
    end.kind = TurnEnd::Kind::failed;
    end.reason =
        "the model made " + std::to_string(kMaxRounds) + " rounds of tool calls without an answer";
    return finish(std::move(end), "");
}

bool Turn::take_next_model(const ModelAnswer& answer, TurnEnd& end) {
    const std::string& name = model_.config->name;
    const std::string message =
        printable(answer.message.empty() ? answer.error_class : answer.message, 500);
    attempts_.push(Json::object()
                       .set("model", name)
                       .set("class", answer.error_class)
                       .set("message", mask_secrets(message)));
    router_.forget(name);
    failed_models_.insert(name);
    end.kind = TurnEnd::Kind::failed;
    end.reason = "model " + name + ": " + message;
    switch (after_model_error(answer.error_class)) {
        case AfterModelError::fail:
            return false;
        case AfterModelError::cancelled:
            end.kind = TurnEnd::Kind::cancelled;
            return false;
        case AfterModelError::next_model:
            break;
    }
    std::vector<ModelRefusal> refusals;
    auto next = router_.pick(models_, failed_models_, refusals);
    if (!next) {
        end.reason.clear();
        for (const Json& attempt : attempts_.items()) {
            end.reason += (end.reason.empty() ? "model " : "; model ") +
                          attempt["model"].as_string() + ": " + attempt["message"].as_string();
        }
        for (const ModelRefusal& refusal : refusals) {
            end.reason += "; model " + refusal.model + ": " + refusal.reason;
        }
        return false;
    }
    parts_.events.emit("progress",
                       about().set("text",
                                   "model " + name + " failed (" + answer.error_class +
                                       "): " + message + "; asking " + next->config->name));
    model_ = *next;
    window_ = router_.window_of(models_, model_);
    return true;
}

void Turn::emit_call(const ModelToolCall& call) {
    parts_.events.emit("tool_call",
                       about()
                           .set("call", call.id)
                           .set("tool", call.name)
                           .set("arguments", shown_arguments(call.arguments)));
}

void Turn::emit_result(const ModelToolCall& call, const ToolReport& report) {
    Json members = about();
    members.set("call", call.id)
        .set("tool", call.name)
        .set("status", report.status)
        .set("text", report.text);
    parts_.events.emit("tool_result", members.set("checkpoints", strings(report.checkpoints)));
}

Result<> Turn::run_calls(const ModelAnswer& answer, int round) {
    Json::Array shown;
    for (const ModelToolCall& call : answer.calls) {
        shown.push_back(Json::object()
                            .set("id", call.id)
                            .set("name", call.name)
                            .set("arguments", shown_arguments(call.arguments)));
    }
    live_.push_back(assistant_message(answer.text, std::move(shown)));
    bool first = true;
    for (const ModelToolCall& call : answer.calls) {
        if (parts_.interrupt.is_set()) {
            return {};  // the loop sees it; calls that were not made have no line
        }
        Json extra = Json::object();
        extra.set("call", call.id).set("tool", call.name).set("round", round);
        if (first && !answer.text.empty()) {
            extra.set("said", mask_secrets(answer.text));
        }
        first = false;
        if (auto added = parts_.sessions.append(
                {line("tool_call", Source::desk, mask_secrets(call.arguments), extra)}, false);
            !added) {
            return added;
        }
        emit_call(call);
        const ToolReport report = ToolCaller::report(tools_.call(call.name, call.arguments));
        if (report.is_cut) {
            // What of it the cut took away is not known: nothing counts as seen whole any more.
            scope_.shown.mark_all_partial();
        }
        extra = Json::object()
                    .set("call", call.id)
                    .set("tool", call.name)
                    .set("status", report.status)
                    .set("round", round);
        if (auto added = parts_.sessions.append(
                {line("tool_result", Source::tool, mask_secrets(report.text), extra)}, false);
            !added) {
            return added;
        }
        live_.push_back(tool_message(call.id, call.name, report.status, report.text));
        emit_result(call, report);
    }
    return {};
}

Result<> Turn::save_answer(const ModelAnswer& answer) {
    Json usage = Json::object();
    usage.set("input", input_tokens_).set("output", output_tokens_).set("exact", exact_);
    Json extra = Json::object();
    extra.set("model", model_.config->name)
        .set("trigger", trigger_.id)
        .set("usage", std::move(usage));
    if (!answer.backend_session.empty()) {
        extra.set("backend_session", answer.backend_session);
    }
    return parts_.sessions.append(
        {line("answer", Source::desk, mask_secrets(answer.text), std::move(extra))}, true);
}

void Turn::keep_backend_session(const ModelAnswer& answer) {
    const DeskState& now = parts_.sessions.state();
    const auto known = now.backend_sessions.find(model_.config->name);
    const bool changed =
        !answer.backend_session.empty() &&
        (known == now.backend_sessions.end() || known->second != answer.backend_session);
    if (!changed) {
        return;
    }
    DeskState state = now;
    state.backend_sessions[model_.config->name] = answer.backend_session;
    state.last_model = model_.config->name;
    state.context_tokens = std::max<std::int64_t>(input_tokens_, 0);
    state.next_turn = parts_.next_turn;
    if (auto saved = parts_.sessions.save_state(std::move(state)); !saved) {
        // The answer's line holds it too; the next start reads it from there.
        parts_.services.log(kLogError, saved.error().message() + " desk=" + parts_.config.name);
    }
}

TurnEnd Turn::complete(const ModelAnswer& answer) {
    TurnEnd end;
    if (auto saved = save_answer(answer); !saved) {
        end.kind = TurnEnd::Kind::failed;
        end.reason = "the answer could not be saved: " + saved.error().message();
        return finish(std::move(end), "");
    }
    keep_backend_session(answer);
    end.kind = TurnEnd::Kind::completed;
    return finish(std::move(end), answer.text);
}

TurnEnd Turn::finish(TurnEnd end, const std::string& text) {
    end.model = model_.config->name;
    end.context_tokens = std::max<std::int64_t>(input_tokens_, 0);
    end.window = window_;
    const bool completed = end.kind == TurnEnd::Kind::completed;
    if (!completed && parts_.interrupt.is_stopping()) {
        // As a crash would leave it: the next start runs it again, or tells what it had already
        // done.
        end.kind = TurnEnd::Kind::waiting;
        parts_.events.emit("turn_end",
                           about().set("outcome", "interrupted").set("error", end.reason));
        return end;
    }
    if (!completed) {
        auto closed = parts_.sessions.append(
            {line("interrupted", Source::host, mask_secrets(end.reason), Json::object())}, true);
        if (!closed) {
            parts_.services.log(kLogError,
                                closed.error().message() + " desk=" + parts_.config.name);
        }
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        parts_.services.clock.steady() - begun_);
    Json tokens = Json::object();
    tokens.set("input", input_tokens_).set("output", output_tokens_).set("exact", exact_);
    Json data = Json::object();
    data.set("trigger", trigger_.id).set("kind", name_of(trigger_.kind)).set("model", end.model);
    data.set("outcome", outcome_name(end.kind)).set("tokens", std::move(tokens));
    data.set("ms", std::int64_t{took.count()}).set("left_out", strings(left_out_));
    if (!attempts_.items().empty()) {
        data.set("attempts", attempts_);
    }
    if (!completed) {
        data.set("error", mask_secrets(end.reason));
    }
    Json told = about().set("session", scope_.session).set("text", text);
    for (const auto& [name, value] : data.members()) {
        told.set(name, value);
    }
    auto record = parts_.journal.append(
        DeskParts::entry("turn_end", scope_.session, scope_.turn, std::move(data)));
    if (!record) {
        // The trigger is not settled on disk. When the answer's line is there, the next start
        // completes the record from it.
        parts_.services.log(
            kLogError,
            record.error().message() + " desk=" + parts_.config.name + " turn=" + scope_.turn);
        told.set("error", record.error().message());
    }
    parts_.events.emit("turn_end", told);
    return end;
}

}  // namespace daybook
