// The summary of a day's session: written by a model, and written again by one when the host had to
// extract it (docs/turns.md, "The day's end"). Thread: [desk].
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/session/session_store.hpp"
#include "host/turn/model_router.hpp"

namespace daybook {

/// Quoted whole in the next session's opening line.
inline constexpr std::size_t kMaxDaySummary = 32UL * 1024;

/// The summary by the first ready model, whose name `model` gets. Errors: unavailable (no model is
/// ready, or its reason), cancelled, and those of the journal.
[[nodiscard]] Result<std::string> write_day_summary(DeskParts& parts,
                                                    ModelRouter& router,
                                                    DeskDate day,
                                                    const std::string& session,
                                                    const std::vector<SessionRecord>& lines,
                                                    std::string& model);

/// The summary that stands for what was before the view's lines. An opening line that quotes an
/// extract gives way to what the day's file says now.
[[nodiscard]] std::string current_summary(const SessionStore& sessions);

/// Lets a model write an extracted summary of the last days again.
class SummaryRedo {
  public:
    enum class Outcome {
        none,  ///< no summary of the last days is an extract
        done,  ///< one was written again; there may be another
        interrupted,
        failed,  ///< no model is ready, or it wrote none; everything is as it was
    };

    /// Borrowed; outlives this.
    SummaryRedo(DeskParts& parts, ModelRouter& router) : parts_(parts), router_(router) {}

    /// The newest extract first. The journal holds the former text before it is replaced; what was
    /// changed since it was read is not replaced.
    Outcome run();

  private:
    Result<std::optional<SummaryPart>> find() const;
    Result<> replace(const SummaryPart& former, const std::string& model, const std::string& text);

    DeskParts& parts_;
    ModelRouter& router_;
};

}  // namespace daybook
