#include "host/turn/turn.hpp"

#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/turn/compression.hpp"
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

/// A turn of the host's own has no trigger that was accepted.
Json id_or_null(const Trigger& trigger) {
    return trigger.id.empty() ? Json() : Json(trigger.id);
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
    auto compressed = Compressor(parts_, router_)
                          .before_turn(model_, window_, trigger_, scope_.day, context_left_out_);
    if (!compressed) {
        waiting.reason = compressed.error().message();
        return waiting;
    }
    return begin_and_loop();
}

TurnEnd Turn::run_flush(const ModelChoice& model, std::int64_t window) {
    begun_ = parts_.services.clock.steady();
    model_ = model;
    window_ = window;
    return begin_and_loop();
}

TurnEnd Turn::begin_and_loop() {
    scope_.turn = parts_.new_turn();
    if (auto begun = begin(trigger_); !begun) {
        TurnEnd waiting;
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
        .set("trigger", id_or_null(trigger))
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
    take_over();
    refresh_fixed_part();
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
            if (answer.error_class == "overflow" &&
                compress_now("overflow", window_or_assumed(window_))) {
                continue;
            }
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

Result<> Turn::save_answer(const ModelAnswer& answer) {
    Json usage = Json::object();
    usage.set("input", input_tokens_).set("output", output_tokens_).set("exact", exact_);
    if (input_tokens_ > 0) {
        usage.set("bytes", counted_bytes_);
    }
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
    end.context_tokens = parts_.meter.used(end.model, counted_bytes_ + text.size());
    end.window = window_;
    end.turn = scope_.turn;
    end.text = text;
    end.notes = notes_;
    end.edits = edits_;
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
    const Clock& clock = parts_.services.clock;
    // On a replayed clock no time passes within a turn: the same day gives the same record.
    const auto took =
        clock.is_replayed()
            ? std::chrono::milliseconds(0)
            : std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady() - begun_);
    Json tokens = Json::object();
    tokens.set("input", input_tokens_).set("output", output_tokens_).set("exact", exact_);
    Json data = Json::object();
    data.set("trigger", id_or_null(trigger_)).set("kind", name_of(trigger_.kind));
    data.set("model", end.model);
    data.set("outcome", outcome_name(end.kind)).set("tokens", std::move(tokens));
    data.set("ms", std::int64_t{took.count()}).set("left_out", strings(left_out_));
    if (!attempts_.items().empty()) {
        data.set("attempts", attempts_);
    }
    if (trigger_.kind == TurnKind::flush) {
        data.set("notes", notes_).set("edits", edits_);
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
