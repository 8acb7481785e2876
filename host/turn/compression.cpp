#include "host/turn/compression.hpp"

#include <algorithm>
#include <limits>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/day_summary.hpp"
#include "host/turn/handover.hpp"
#include "host/turn/turn_inputs.hpp"

namespace daybook {
namespace {

/// A conversation of less than so many percent of the window is not worth a summary.
constexpr std::int64_t kLeastConversation = 10;
/// From so many percent on a backend is asked for its own count, before the first turn told one.
constexpr std::int64_t kAskForCount = 50;
constexpr std::size_t kMaxError = 500;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

constexpr const char* kCompactWords =
    "Keep every instruction and preference of the owner that still holds, every price, level, "
    "quantity, order and fill with its symbol and time, what was decided and why, and what is "
    "still open.";

std::string full_sentence(std::int64_t used, std::int64_t window, std::string_view why) {
    return "context: " + grouped(static_cast<std::size_t>(used)) + " of " +
           grouped(static_cast<std::size_t>(window_or_assumed(window))) + " tokens used; " +
           std::string(why);
}

Json extra_of(const CompressReport& report, const ModelChoice& model, std::int64_t window) {
    Json extra = Json::object();
    extra.set("outcome", report.error.empty() ? "completed" : "failed").set("by", report.by);
    extra.set("mark", report.mark).set("model", model.config->name).set("window", window);
    Json tokens = Json::object().set("before", report.tokens_before);
    if (report.error.empty()) {
        tokens.set("after", report.tokens_after);
    }
    extra.set("tokens", std::move(tokens));
    if (report.to > 0) {
        extra.set("from", std::size_t{report.from}).set("to", std::size_t{report.to});
    }
    if (report.keeps > 0) {
        extra.set("keeps", std::size_t{report.keeps});
    }
    if (report.bytes > 0) {
        extra.set("bytes", report.bytes);
    }
    if (report.flush) {
        extra.set("flush", report.flush->to_json());
    } else {
        extra.set("flush", Json())
            .set("no_flush",
                 report.mark == "auto" ? "the backend compacted by itself"
                                       : "in the middle of a turn");
    }
    extra.set("summary_turn", report.summary_turn.empty() ? Json() : Json(report.summary_turn));
    if (!report.error.empty()) {
        extra.set("error", report.error);
    }
    return extra;
}

void set_range(CompressReport& report, const LineList& lines) {
    if (!lines.empty()) {
        report.from = lines.front()->seq;
        report.to = lines.back()->seq;
    }
}

}  // namespace

JournalEntry compress_entry(const std::string& session, const SessionRecord& line) {
    Json data = line.extra;
    data.set("line", std::size_t{line.seq});
    JournalEntry entry = DeskParts::entry("compress", session, line.turn, std::move(data));
    entry.key = "compress:" + session + ":" + std::to_string(line.seq);
    return entry;
}

Result<> complete_compress_record(Journal& journal, const SessionStore& sessions) {
    const auto& lines = sessions.conversation();
    const auto newest = std::find_if(lines.rbegin(), lines.rend(), [](const SessionRecord& line) {
        return line.kind == "compress";
    });
    if (newest == lines.rend()) {
        return {};
    }
    auto record = journal.append(compress_entry(sessions.state().session, *newest));
    return record ? Result<>() : Result<>(record.error().during("journal a compression"));
}

/// What the next turn's request would be.
struct Compressor::Next {
    ConversationView view;
    std::size_t bytes = 0, conversation = 0;
    std::int64_t used = 0;
};

Compressor::Next Compressor::look_ahead(const ModelChoice& model,
                                        std::int64_t window,
                                        const Trigger& next,
                                        DeskDate day) {
    TurnScope scope;
    scope.kind = next.kind;
    scope.day = day;
    scope.session = parts_.sessions.state().session;
    scope.allowance = TurnAllowance::of(next.kind, day);
    const FixedPart fixed = gather_fixed_part(parts_, scope);
    RequestFrame frame = make_frame(parts_, scope, model, window);
    frame.fixed = &fixed;
    frame.tools = gather_tools(parts_, scope);
    SessionRecord said;
    said.kind = "trigger";
    said.source = next.source;
    said.text = next.text;
    Next ahead;
    ahead.view = view_of(parts_.sessions.conversation());
    std::vector<std::string> unused;
    const Json::Array history = render_history(ahead.view.lines, parts_.zone, kNoLimit, unused);
    const Json request =
        build_request(frame, history, {trigger_message(said, parts_.zone)}, kNoLimit, unused);
    ahead.conversation = content_bytes(history);
    ahead.bytes = content_bytes(request);
    const std::string& name = model.config->name;
    ahead.used = parts_.meter.used(name, ahead.bytes);
    if (!parts_.meter.is_counted(name) && is_over(ahead.used, window, kAskForCount)) {
        ToolCaller no_tools(parts_, scope);
        if (auto counted = ModelCaller(parts_, no_tools).count(model, request)) {
            parts_.meter.measure(name, counted->tokens, ahead.bytes, counted->exact);
            ahead.used = parts_.meter.used(name, ahead.bytes);
        }
    }
    return ahead;
}

Result<> Compressor::before_turn(const ModelChoice& model,
                                 std::int64_t window,
                                 const Trigger& next,
                                 DeskDate day,
                                 std::vector<std::string>& left_out) {
    const Next ahead = look_ahead(model, window, next, day);
    if (!is_over(ahead.used, window, kCompressAt)) {
        return {};
    }
    const std::int64_t said = parts_.meter.estimate(model.config->name, ahead.conversation);
    if (!is_over(said, window, kLeastConversation)) {
        left_out.push_back(full_sentence(
            ahead.used, window, "mostly by its fixed part, which no compression shortens"));
        return {};
    }
    const CompressHistory history = compress_history(parts_.sessions.conversation());
    if (must_wait(history)) {
        left_out.push_back(full_sentence(
            ahead.used, window, "a compression failed and is tried again at a later turn"));
        return {};
    }
    CompressReport report;
    report.mark = std::to_string(kCompressAt);
    report.tokens_before = ahead.used;
    report.flush = run_flush(parts_, router_, model, window, day, history);
    if (report.flush->kind == FlushOutcome::Kind::stopping) {
        return Error(Errc::cancelled, "compress the conversation: " + parts_.interrupt.why());
    }
    const bool failed = report.flush->kind == FlushOutcome::Kind::failed;
    if (failed && (parts_.interrupt.is_set() || !is_over(ahead.used, window, kCompressNow))) {
        report.error = "the flush before it did not complete: " + report.flush->why;
        finish(model, window, std::move(report), "");
        return {};
    }
    if (compact_backend(model, ahead, report)) {
        finish(model, window, std::move(report), "");
        return {};
    }
    const LineList lines = view_of(parts_.sessions.conversation()).lines;
    set_range(report, lines);
    summarise(model, window, day, lines, report);
    return parts_.interrupt.is_stopping()
               ? Result<>(
                     Error(Errc::cancelled, "compress the conversation: " + parts_.interrupt.why()))
               : Result<>();
}

/// A backend that keeps the conversation shortens it itself; the host's view stays as it is. False:
/// it does not, so the host does.
bool Compressor::compact_backend(const ModelChoice& model,
                                 const Next& next,
                                 CompressReport& report) {
    if (!may_resume(parts_.sessions, router_.holder(), model.config->name)) {
        return false;  // it keeps none, or one that another model has left behind
    }
    TurnScope scope;
    scope.kind = TurnKind::summary;
    scope.session = parts_.sessions.state().session;
    scope.allowance = TurnAllowance::of(TurnKind::summary, scope.day);
    ToolCaller no_tools(parts_, scope);
    auto done = ModelCaller(parts_, no_tools).compact(model, kCompactWords);
    if (!done && done.error().code() == Errc::unsupported) {
        return false;
    }
    report.by = "backend";
    if (done) {
        report.tokens_before = done->before;
        report.tokens_after = done->after;
        report.bytes = next.bytes;
    } else {
        report.error = mask_secrets(printable(done.error().message(), kMaxError));
    }
    return true;
}

void Compressor::summarise(const ModelChoice& model,
                           std::int64_t window,
                           DeskDate day,
                           const LineList& lines,
                           CompressReport& report) {
    const std::string so_far = current_summary(parts_.sessions);
    SummaryTask task;
    task.session = parts_.sessions.state().session;
    task.day = day;
    task.task = compression_task();
    task.so_far = so_far;
    task.lines = lines;
    Summary summary = write_summary(parts_, model, window, task);
    report.summary_turn = summary.turn;
    if (!summary.text && parts_.interrupt.is_stopping()) {
        return;  // nothing was changed: the next start begins here again
    }
    std::vector<std::string> unused;
    const std::size_t gone =
        content_bytes(render_history(lines, parts_.zone, kNoLimit, unused)) + so_far.size();
    if (!summary.text) {
        router_.forget(model.config->name);
        report.error = printable(summary.text.error().message(), kMaxError);
    } else if (summary.text->size() >= gone) {
        report.error = "the summary is as long as what it should replace";
    } else {
        const std::int64_t freed =
            parts_.meter.estimate(model.config->name, gone - summary.text->size());
        report.tokens_after = std::max<std::int64_t>(report.tokens_before - freed, 1);
    }
    finish(model, window, std::move(report), summary.text ? std::move(*summary.text) : "");
}

void Compressor::finish(const ModelChoice& model,
                        std::int64_t window,
                        CompressReport report,
                        std::string summary) {
    SessionRecord line;
    line.kind = "compress";
    line.turn = report.turn;
    line.source = report.by == "host" && report.error.empty() ? Source::desk : Source::host;
    line.text = report.error.empty() ? std::move(summary) : "";
    line.extra = extra_of(report, model, window);
    const std::string session = parts_.sessions.state().session;
    const std::string about = " desk=" + parts_.config.name + " session=" + session;
    if (auto added = parts_.sessions.append({line}, true); !added) {
        parts_.services.log(kLogError, "compress: " + added.error().message() + about);
        return;
    }
    line = parts_.sessions.conversation().back();
    if (report.error.empty()) {
        parts_.meter.forget_count();
        if (report.by == "backend") {
            parts_.meter.measure(model.config->name, report.tokens_after, report.bytes, false);
        }
    } else {
        parts_.services.log(kLogWarn, "compress: " + report.error + about);
    }
    Json told = line.extra;
    parts_.events.emit("compress", told.set("session", session));
    if (auto record = parts_.journal.append(compress_entry(session, line)); !record) {
        // The next start writes it from the session's line.
        parts_.services.log(kLogError, record.error().message() + about);
    }
}

bool Compressor::in_turn(const ModelChoice& model,
                         std::int64_t window,
                         const TurnScope& scope,
                         std::string mark,
                         std::int64_t used) {
    const ConversationView view = view_of(parts_.sessions.conversation());
    std::int64_t newest = -1;
    for (const SessionRecord* line : view.lines) {
        if (line->turn == scope.turn && line->kind == "tool_call") {
            newest = std::max(newest, line->extra["round"].as_integer());
        }
    }
    const auto stays = std::find_if(view.lines.begin(), view.lines.end(), [&](const auto* line) {
        return line->turn == scope.turn &&
               (newest < 0 ||
                (line->kind == "tool_call" && line->extra["round"].as_integer() == newest));
    });
    CompressReport report;
    const LineList lines(view.lines.begin(), stays);
    const auto own = std::find_if(lines.begin(), lines.end(), [&](const auto* line) {
        return line->turn == scope.turn && line->kind == "trigger";
    });
    const std::size_t kept = own == lines.end() ? 0 : 1;
    if (lines.size() <= kept) {
        return false;  // nothing but the trigger and the newest round
    }
    report.mark = std::move(mark);
    report.turn = scope.turn;
    report.tokens_before = used;
    report.keeps = kept == 0 ? 0 : (*own)->seq;
    set_range(report, lines);
    const std::size_t before = parts_.sessions.conversation().size();
    summarise(model, window, scope.day, lines, report);
    const auto& now = parts_.sessions.conversation();
    return now.size() > before && now.back().kind == "compress" &&
           now.back().extra["outcome"].as_string() == "completed";
}

void Compressor::note_backend_compaction(const ModelChoice& model,
                                         const TurnScope& scope,
                                         const Compaction& compaction,
                                         std::size_t bytes) {
    CompressReport report;
    report.mark = "auto";
    report.by = "backend";
    report.turn = scope.turn;
    report.tokens_before = compaction.before;
    report.tokens_after = compaction.after;
    report.bytes = bytes;
    finish(model, 0, std::move(report), "");
}

}  // namespace daybook
