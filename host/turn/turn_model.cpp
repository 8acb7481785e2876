// A turn's dealings with its model: the request, what follows a failed model, the backend's own
// session.
#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/turn.hpp"

namespace daybook {
namespace {

std::size_t bytes_of(const Json::Array& messages) {
    std::size_t bytes = 0;
    for (const Json& message : messages) {
        bytes += message.dump().size() + 1;
    }
    return bytes;
}

}  // namespace

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
