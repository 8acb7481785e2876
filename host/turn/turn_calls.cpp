// The tool calls of a turn: run one after the other, each with its line before and its result after
// it.
#include "host/gate/content_rules.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/turn.hpp"

namespace daybook {
namespace {

/// The arguments as the model gave them; text that is no JSON object is shown as it is.
Json shown_arguments(const std::string& text) {
    auto parsed = Json::parse(text.empty() ? "{}" : text);
    return parsed && parsed->is_object() ? std::move(*parsed)
                                         : Json::object().set("unreadable", text);
}

Json strings(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) {
        list.push(text);
    }
    return list;
}

}  // namespace

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

void Turn::count_writes(const CallOutcome& outcome) {
    for (const WriteReceipt& write : outcome.writes) {
        ++(write.path.starts_with("notes/") ? notes_ : edits_);
    }
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
        const CallOutcome outcome = tools_.call(call.name, call.arguments);
        count_writes(outcome);
        const ToolReport report = ToolCaller::report(outcome);
        if (report.is_cut) {
            // What of it the cut took away is not known: nothing counts as seen whole any more.
            scope_.shown.mark_all_partial();
        }
        extra = Json::object()
                    .set("call", call.id)
                    .set("tool", call.name)
                    .set("status", report.status)
                    .set("round", round);
        if (!outcome.leash.is_null()) {
            extra.set("leash", outcome.leash);
        }
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

}  // namespace daybook
