// A summary written by a model: one call in a fresh conversation, without tools, from a transcript
// (docs/turns.md, "The transcript"). Used for a day's end and for a compression. Thread: [desk].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/turn/conversation.hpp"
#include "host/turn/model_call.hpp"

namespace daybook {

/// Longest transcript that a model is given.
inline constexpr std::size_t kMaxTranscript = 256UL * 1024;

struct SummaryTask {
    std::string session;
    DeskDate day;
    std::string_view task;    ///< words of the part `task`
    std::string_view so_far;  ///< the summary of what came before the lines
    LineList lines;
};

struct Summary {
    Result<std::string> text = Error(Errc::internal, "not asked");
    std::string turn;  ///< the quiet turn that wrote it; "" = it was not begun
};

/// What the two summaries are asked to keep.
[[nodiscard]] std::string_view day_task() noexcept;
[[nodiscard]] std::string_view compression_task() noexcept;

/// Asks the model. Journals the quiet turn's start and end. The text is never empty, never cut and
/// never a tool call in disguise. Errors in `text`: unavailable (the model's reason), io and others
/// of the journal, cancelled (the turn was interrupted or the host stops).
[[nodiscard]] Summary write_summary(DeskParts& parts,
                                    const ModelChoice& model,
                                    std::int64_t window,
                                    const SummaryTask& task);

}  // namespace daybook
