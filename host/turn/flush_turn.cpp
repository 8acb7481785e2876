#include "host/turn/flush_turn.hpp"

#include <exception>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/conversation_view.hpp"
#include "host/turn/turn.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxWhy = 300;

constexpr const char* kFlushWords =
    "The host is about to shorten this conversation: what is not saved now you will have only as "
    "a summary. Save what you will need later and what stands neither in memory nor in today's "
    "notes yet: add_note for a lesson or a number of the day, edit_file on Memory.md for what "
    "lasts. No other tool works here and nothing reaches outside. Then say in one sentence what "
    "you saved, or why there was nothing to save.";

std::string_view name_of(FlushOutcome::Kind kind) noexcept {
    switch (kind) {
        case FlushOutcome::Kind::done:
            return "completed";
        case FlushOutcome::Kind::failed:
            return "failed";
        case FlushOutcome::Kind::unfit:
            return "not possible";
        case FlushOutcome::Kind::stopping:
            break;
    }
    return "interrupted";
}

/// What keeps every write away at this moment.
std::string unfit_now(const DeskParts& parts, DeskDate day) {
    if (auto fit = check_flush(parts.tools, day); !fit) {
        return fit.error().message();
    }
    if (const auto reason = parts.gate.read_only_reason()) {
        return "the desk's files are read-only: " + *reason;
    }
    return {};
}

}  // namespace

Json FlushOutcome::to_json() const {
    Json json = Json::object();
    json.set("turn", turn.empty() ? Json() : Json(turn)).set("outcome", name_of(kind));
    json.set("notes", notes).set("edits", edits);
    if (!why.empty()) {
        json.set("why", why);
    }
    return json;
}

Result<> check_flush(const std::map<std::string, ToolOffer>& tools, DeskDate day) {
    const auto tool = tools.find("add_note");
    if (tool == tools.end()) {
        return Error(Errc::not_found,
                     "a flush can save nothing: no plugin of the desk offers the tool add_note");
    }
    const TurnAllowance allowance = TurnAllowance::of(TurnKind::flush, day);
    auto leash = derive_leash(allowance,
                              *tool->second.tool,
                              tool->second.plugin->groups,
                              Json::object(),
                              SteadyTime::max());
    if (!leash) {
        return leash.error().during("a flush can save nothing");
    }
    const std::string notes = "notes/" + day.str() + ".md";
    const bool reaches = leash->file && leash->file->path.str() == notes &&
                         (leash->file->operations & kAppend) != 0 &&
                         (leash->groups & kDeskFiles) != 0;
    return reaches ? Result<>()
                   : Result<>(Error(Errc::refused,
                                    "a flush can save nothing: the leash of add_note from plugin " +
                                        tool->second.plugin->config.name +
                                        " does not let it append to " + notes));
}

FlushOutcome run_flush(DeskParts& parts,
                       ModelRouter& router,
                       const ModelChoice& model,
                       std::int64_t window,
                       DeskDate day,
                       const CompressHistory& history) {
    FlushOutcome outcome;
    if (!history.flush_turn.empty()) {
        outcome.kind = FlushOutcome::Kind::done;
        outcome.turn = history.flush_turn;
        outcome.notes = static_cast<std::size_t>(history.flush_notes);
        outcome.edits = static_cast<std::size_t>(history.flush_edits);
        outcome.why =
            outcome.notes + outcome.edits == 0 ? printable(history.flush_words, kMaxWhy) : "";
        return outcome;
    }
    outcome.why = unfit_now(parts, day);
    if (!outcome.why.empty()) {
        outcome.kind = FlushOutcome::Kind::unfit;
        return outcome;
    }
    Trigger trigger;
    trigger.kind = TurnKind::flush;
    trigger.source = Source::host;
    trigger.text = kFlushWords;
    Turn turn(parts, router, trigger, day);
    TurnEnd end;
    try {
        end = turn.run_flush(model, window);
    } catch (const std::exception&) {
        end = turn.fail(Error(Errc::internal, "a fault of the host itself"));
    }
    outcome.turn = end.turn;
    outcome.notes = end.notes;
    outcome.edits = end.edits;
    if (end.kind == TurnEnd::Kind::completed) {
        outcome.kind = FlushOutcome::Kind::done;
        outcome.why = end.notes + end.edits == 0 ? printable(mask_secrets(end.text), kMaxWhy) : "";
    } else {
        outcome.kind = parts.interrupt.is_stopping() ? FlushOutcome::Kind::stopping
                                                     : FlushOutcome::Kind::failed;
        outcome.why = printable(mask_secrets(end.reason), kMaxWhy);
    }
    return outcome;
}

}  // namespace daybook
