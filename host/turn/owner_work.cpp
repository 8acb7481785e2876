#include "host/turn/owner_work.hpp"

#include "host/gate/content_rules.hpp"
#include "host/turn/tool_call.hpp"

namespace daybook {

Desk::ToolAnswer call_tool_for_owner(DeskParts& parts,
                                     DeskDate day,
                                     const std::string& tool,
                                     const std::string& arguments) {
    Desk::ToolAnswer answer;
    TurnScope scope;
    scope.kind = TurnKind::owner_call;
    scope.day = day;
    scope.session = parts.sessions.state().session;
    scope.turn = parts.new_turn();
    scope.trigger = parts.config.name + ":" + scope.turn;
    scope.allowance = TurnAllowance::of(TurnKind::owner_call, day);
    answer.turn = scope.turn;
    Json data = Json::object()
                    .set("kind", "owner_call")
                    .set("trigger", scope.trigger)
                    .set("tool", mask_secrets(tool));
    const SteadyTime begun = parts.services.clock.steady();
    if (auto record =
            parts.journal.append(DeskParts::entry("turn_start", scope.session, scope.turn, data));
        !record) {
        answer.result = record.error();
        return answer;
    }
    const Json about = Json::object()
                           .set("turn", scope.turn)
                           .set("trigger", scope.trigger)
                           .set("kind", "owner_call");
    parts.events.emit("turn_start", about);
    ToolCaller caller(parts, scope);
    CallOutcome outcome = caller.call(tool, arguments);
    const ToolReport report = ToolCaller::report(outcome);
    answer.checkpoints = report.checkpoints;
    answer.result = std::move(outcome.result);
    const Clock& clock = parts.services.clock;
    const auto took =
        clock.is_replayed()
            ? std::chrono::milliseconds(0)
            : std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady() - begun);
    data.set("outcome", answer.result ? "completed" : "failed")
        .set("ms", std::int64_t{took.count()});
    if (!answer.result) {
        data.set("error", mask_secrets(answer.result.error().message()));
    }
    auto record =
        parts.journal.append(DeskParts::entry("turn_end", scope.session, scope.turn, data));
    if (!record && answer.result) {
        answer.result = record.error().during("the tool succeeded, its end was not journalled");
    }
    Json told = about;
    told.set("tool", tool).set("outcome", data["outcome"]).set("text", report.text);
    parts.events.emit("turn_end", told);
    return answer;
}

Result<Json> restore_for_owner(DeskParts& parts,
                               const std::string& checkpoint,
                               const std::string& file) {
    auto from = parts.checkpoints.find(checkpoint);
    if (!from) {
        return from.error();
    }
    WriteContext context;
    context.session = parts.sessions.state().session;
    context.tool = "restore";
    auto report = parts.gate.restore(*from, file, context);
    if (!report) {
        return report.error();
    }
    Json told = report->to_json();
    parts.events.emit("restore",
                      Json::object()
                          .set("from", from->id)
                          .set("checkpoint", report->checkpoint)
                          .set("files", report->files.size()));
    return told;
}

Result<Json> undo_restore_for_owner(DeskParts& parts) {
    auto newest = newest_restore(parts.checkpoints);
    if (!newest) {
        return newest.error();
    }
    auto told = restore_for_owner(parts, newest->id, newest->file);
    return told ? told->set("undone", newest->id) : told;
}

Result<Checkpoint> newest_restore(const CheckpointStore& checkpoints) {
    constexpr std::size_t kPage = 200;
    std::uint64_t before = 0;
    while (true) {
        auto page = checkpoints.list(kPage, before);
        if (!page) {
            return page.error();
        }
        for (Checkpoint& each : *page) {
            if (each.kind == "restore" && !each.written_commit.empty()) {
                return std::move(each);
            }
        }
        if (page->size() < kPage) {
            return Error(Errc::not_found, "undo: nothing has been restored yet");
        }
        before = page->back().number;
    }
}

Result<Json> take_checkpoint_for_owner(DeskParts& parts, const std::string& reason) {
    auto taken = parts.checkpoints.take_manual(mask_secrets(reason));
    if (!taken) {
        return taken.error();
    }
    Json data = Json::object().set("checkpoint", taken->id).set("reason", taken->why.reason);
    auto record = parts.journal.append(
        DeskParts::entry("checkpoint", parts.sessions.state().session, "", std::move(data)));
    if (!record) {
        return record.error().during("checkpoint " + taken->id +
                                     " was taken, its record was not written");
    }
    return Json::object()
        .set("checkpoint", taken->id)
        .set("commit", taken->commit)
        .set("reason", taken->why.reason);
}

}  // namespace daybook
