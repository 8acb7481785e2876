// A turn's dealings with its model: the request, what follows a failed model, the backend's own
// session.
#include <algorithm>
#include <limits>
#include <optional>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/compression.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/turn.hpp"
#include "host/turn/turn_inputs.hpp"

namespace daybook {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

}  // namespace

struct Turn::Draft {
    Json::Array history;
    std::size_t live_budget = 0;  ///< bytes of this turn's own messages
    std::size_t bytes = 0;        ///< of the content, before anything was cut
    std::size_t fixed = 0;        ///< of these, its parts and tools
};

Turn::Draft Turn::draft(std::vector<std::string>& left_out) const {
    left_out = fixed_.left_out;
    left_out.insert(left_out.end(), context_left_out_.begin(), context_left_out_.end());
    LineList lines = view_of(parts_.sessions.conversation()).lines;
    // By the turn, not by a count: an append may drop the oldest turns.
    std::erase_if(lines, [&](const SessionRecord* line) { return line->turn == scope_.turn; });
    Draft draft;
    std::vector<std::string> nothing;
    draft.history = render_history(lines, parts_.zone, kNoLimit, nothing);
    const std::size_t live = content_bytes(live_);
    const std::size_t history = content_bytes(draft.history);
    draft.fixed = fixed_.parts.dump().size() + offered_tools_.dump().size();
    draft.bytes = draft.fixed + history + live;
    draft.live_budget = kNoLimit;
    const std::string& model = model_.config->name;
    const std::int64_t room = window_or_assumed(window_) - kAnswerTokens;
    const std::int64_t over = parts_.meter.used(model, draft.bytes) - room;
    if (over > 0) {
        // Only when no compression could help: what must go, goes by the estimate.
        const std::size_t surplus = parts_.meter.bytes_of(model, over);
        draft.live_budget = live + history - std::min(live + history, surplus);
        draft.history = render_history(
            lines, parts_.zone, draft.live_budget - std::min(draft.live_budget, live), left_out);
    }
    return draft;
}

void Turn::tell_handover() {
    if (!handover_) {
        return;
    }
    if (auto told = record_handover(parts_, *handover_, scope_.session, scope_.turn); !told) {
        // A journal that fails ends the turn at its next record.
        parts_.services.log(kLogError, told.error().message() + " desk=" + parts_.config.name);
    }
}

void Turn::take_over() {
    const std::string& model = model_.config->name;
    resumes_ = may_resume(parts_.sessions, router_.holder(), model);
    if (trigger_.kind == TurnKind::flush) {
        return;  // the turn behind it takes over
    }
    handover_ = handover_for(parts_.sessions, router_.holder(), model, scope_.turn);
    router_.set_holder(model);
    tell_handover();
}

void Turn::refresh_fixed_part() {
    fixed_ = gather_fixed_part(parts_, scope_);
    if (handover_) {
        add_handover(parts_, *handover_, scope_.session, scope_.turn, fixed_);
    }
}

bool Turn::compress_now(const std::string& mark, std::int64_t used) {
    if (compressed_ || trigger_.kind == TurnKind::flush) {
        return false;
    }
    compressed_ = true;
    if (!Compressor(parts_, router_).in_turn(model_, window_, scope_, mark, used)) {
        return false;
    }
    // What the summary stands for is gone from this turn's own messages too: all but the trigger
    // and the newest round. Memory.md and the notes are read anew.
    const auto newest = std::find_if(live_.rbegin(), live_.rend(), [](const Json& message) {
        return message["role"].as_string() == "assistant";
    });
    if (newest != live_.rend() && live_.size() > 1) {
        live_.erase(live_.begin() + 1, std::prev(newest.base()));
    }
    refresh_fixed_part();
    return true;
}

/// No compression helps a window that is smaller than the fixed part: the model is not asked.
std::optional<ModelAnswer> Turn::window_fault(const Draft& next) const {
    const std::string& model = model_.config->name;
    const std::int64_t fixed = parts_.meter.estimate(model, next.fixed);
    if (window_ <= 0 || fixed <= window_ || parts_.meter.used(model, next.bytes) <= window_) {
        return std::nullopt;
    }
    ModelAnswer answer;
    answer.error_class = "request_fault";
    answer.message = "the fixed part of the request takes about " +
                     grouped(static_cast<std::size_t>(fixed)) + " tokens, its window has " +
                     grouped(static_cast<std::size_t>(window_)) +
                     ": shorten Memory.md or the instructions, give the desk fewer tools, or take "
                     "a model with a larger window";
    return answer;
}

ModelAnswer Turn::ask(std::vector<std::string>& left_out) {
    Draft next = draft(left_out);
    const std::int64_t used = parts_.meter.used(model_.config->name, next.bytes);
    if (is_over(used, window_, kCompressNow) && compress_now(std::to_string(kCompressNow), used)) {
        next = draft(left_out);
    }
    if (auto too_small = window_fault(next)) {
        return std::move(*too_small);
    }
    RequestFrame frame = make_frame(parts_, scope_, model_, window_);
    const auto& resume = parts_.sessions.state().backend_sessions;
    if (const auto found = resume.find(model_.config->name); resumes_ && found != resume.end()) {
        frame.resume = found->second;
    }
    frame.fixed = &fixed_;
    frame.tools = offered_tools_;
    const Json request = build_request(frame, next.history, live_, next.live_budget, left_out);
    ModelAnswer answer = models_.turn(model_, request, [this](const ModelEvent& event) {
        parts_.events.emit(event.name, about().set("text", event.values[0]));
    });
    measure(answer, content_bytes(request));
    output_tokens_ += std::max<std::int64_t>(answer.output_tokens, 0);
    return answer;
}

void Turn::measure(const ModelAnswer& answer, std::size_t bytes) {
    counted_bytes_ = bytes;
    if (answer.compaction) {
        Compressor(parts_, router_)
            .note_backend_compaction(model_, scope_, *answer.compaction, bytes);
    }
    if (answer.input_tokens > 0) {
        input_tokens_ = answer.input_tokens;
        exact_ = answer.exact;
        parts_.meter.measure(model_.config->name, answer.input_tokens, bytes, answer.exact);
    }
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
    if (trigger_.kind == TurnKind::flush) {
        // The summary is to come from the same model; another one saves nothing for it.
        if (answer.error_class == "cancelled") {
            end.kind = TurnEnd::Kind::cancelled;
        }
        return false;
    }
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
    handover_ = Handover{Handover::Why::failed, name, model_.config->name, answer.error_class};
    resumes_ = false;  // what the failed model did is in no backend's session
    router_.set_holder(model_.config->name);
    tell_handover();
    refresh_fixed_part();
    return true;
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

}  // namespace daybook
