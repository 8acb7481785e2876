#include "host/turn/day_summary.hpp"

#include "host/format/sha256.hpp"
#include "host/gate/content_rules.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/conversation_view.hpp"
#include "host/turn/model_summary.hpp"
#include "host/turn/tool_call.hpp"

namespace daybook {
namespace {

constexpr std::size_t kLookBack = 7;  // days with a summary
constexpr std::size_t kDigits = 12;

}  // namespace

Result<std::string> write_day_summary(DeskParts& parts,
                                      ModelRouter& router,
                                      DeskDate day,
                                      const std::string& session,
                                      const std::vector<SessionRecord>& lines,
                                      std::string& model) {
    TurnScope scope;
    scope.kind = TurnKind::summary;
    scope.day = day;
    scope.session = session;
    scope.allowance = TurnAllowance::of(TurnKind::summary, day);
    ToolCaller no_tools(parts, scope);
    ModelCaller caller(parts, no_tools);
    std::vector<ModelRefusal> refusals;
    const auto choice = router.pick(caller, {}, refusals);
    if (!choice) {
        std::string reasons;
        for (const ModelRefusal& refusal : refusals) {
            reasons += (reasons.empty() ? "" : "; ") + refusal.model +
                       (refusal.model.empty() ? "" : ": ") + refusal.reason;
        }
        return Error(Errc::unavailable, "no model is ready: " + reasons);
    }
    model = choice->config->name;
    const ConversationView view = view_of(lines);
    SummaryTask task;
    task.session = session;
    task.day = day;
    task.task = day_task();
    // A day that was compressed begins with its last summary. What the opening carries is the day
    // before's: not this one's to tell.
    task.so_far = view.compress == nullptr ? std::string_view() : view.summary;
    task.lines = view.lines;
    Summary summary = write_summary(parts, *choice, router.window_of(caller, *choice), task);
    if (!summary.text) {
        router.forget(model);
    }
    return std::move(summary.text);
}

Result<std::optional<SummaryPart>> SummaryRedo::find() const {
    auto days = parts_.sessions.summary_days();
    if (!days) {
        return days.error();
    }
    const std::size_t oldest = days->size() - std::min(days->size(), kLookBack);
    for (std::size_t i = days->size(); i-- > oldest;) {
        auto parts = parts_.sessions.summary_parts((*days)[i]);
        if (!parts) {
            return parts.error();
        }
        for (auto part = parts->rbegin(); part != parts->rend(); ++part) {
            if (part->text.starts_with(kExtractedMark)) {
                return std::optional(std::move(*part));
            }
        }
    }
    return std::optional<SummaryPart>();
}

Result<> SummaryRedo::replace(const SummaryPart& former,
                              const std::string& model,
                              const std::string& text) {
    const std::string sha256 = sha256_hex(text);
    Json data = Json::object();
    data.set("day", former.day.str())
        .set("session", former.session)
        .set("step", "summary_redone")
        .set("why", "a model is ready")
        .set("model", model)
        .set("bytes", text.size())
        .set("sha256", sha256)
        .set("former", mask_secrets(former.text));
    JournalEntry entry = DeskParts::entry("rollover", former.session, "", data);
    entry.key = "rollover:" + former.session + ":summary_redone:" + sha256.substr(0, kDigits);
    // The former text is on record before it goes. A crash between the two leaves the extract in
    // its place, and it is written again.
    if (auto record = parts_.journal.append(std::move(entry)); !record) {
        return record.error().during("journal the summary");
    }
    if (auto replaced = parts_.sessions.replace_summary(former, text); !replaced) {
        return replaced;
    }
    data.set("former", Json());
    parts_.events.emit("rollover", std::move(data));
    return {};
}

SummaryRedo::Outcome SummaryRedo::run() {
    const auto failed = [this](const Error& error) {
        parts_.services.log(
            kLogWarn, "write a summary again: " + error.message() + " desk=" + parts_.config.name);
        return Outcome::failed;
    };
    auto former = find();
    if (!former) {
        return failed(former.error());
    }
    if (!*former) {
        return Outcome::none;
    }
    auto lines = parts_.sessions.read((**former).session);
    if (!lines) {
        return failed(lines.error());
    }
    std::string model;
    auto text =
        write_day_summary(parts_, router_, (**former).day, (**former).session, *lines, model);
    if (!text) {
        return parts_.interrupt.is_set() ? Outcome::interrupted : failed(text.error());
    }
    const std::string shown(cut_text(mask_secrets(*text), kMaxDaySummary));
    auto replaced = replace(**former, model, shown);
    return replaced ? Outcome::done : failed(replaced.error());
}

std::string current_summary(const SessionStore& sessions) {
    const ConversationView view = view_of(sessions.conversation());
    std::string summary(view.summary);
    const auto& lines = sessions.conversation();
    if (view.compress != nullptr || lines.empty() ||
        summary.find(kExtractedMark) == std::string::npos) {
        return summary;
    }
    const auto day = DeskDate::parse(lines.front().extra["summary_of"].as_string());
    auto now = day ? sessions.read_summary(*day) : Result<std::optional<std::string>>(summary);
    return now && *now ? std::move(**now) : summary;
}

}  // namespace daybook
