// What the model is given: the fixed part under its budgets, then the conversation (docs/turns.md).
// No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/format/config.hpp"
#include "host/format/session_record.hpp"
#include "host/gate/leash.hpp"
#include "host/os/clock.hpp"
#include "host/plugin/registry.hpp"

namespace daybook {

/// Bytes of each part.
inline constexpr std::size_t kInstructionsBudget = 8UL * 1024;
inline constexpr std::size_t kSkillsBudget = 4UL * 1024;
inline constexpr std::size_t kMemoryBudget = 24UL * 1024;
inline constexpr std::size_t kNotesBudget = 12UL * 1024;
inline constexpr std::size_t kSummaryBudget = 8UL * 1024;

/// The fixed part's sources, as read for this turn.
struct FixedSources {
    std::string instructions;  ///< the desk's own; "" = default_instructions()
    std::vector<const SkillManifest*> skills;
    std::optional<std::string> memory, notes;  ///< nullopt = the file does not exist
    std::string summary;
};

struct FixedPart {
    Json parts = Json::array();
    std::vector<std::string> left_out;
    bool memory_is_whole = true;
    bool notes_are_whole = true;
};

[[nodiscard]] FixedPart build_fixed_part(const FixedSources& sources);

/// Used when the desk's configuration has none.
[[nodiscard]] std::string default_instructions(std::string_view desk, std::string_view zone);

/// Memory.md without its <!-- comments -->. An unclosed comment hides nothing.
[[nodiscard]] std::string without_comments(std::string_view markdown);

/// The tools as the request lists them. A tool whose schema is no JSON object gets an empty one.
[[nodiscard]] Json describe_tools(std::span<const ToolOffer> tools);

/// What stands around the messages of one request.
struct RequestFrame {
    std::string desk, turn, session, kind, now, model;
    DeskDate day;
    Json config = Json::object();
    std::int64_t window = 0;
    std::string resume;  ///< the backend's own session id, "" = none
    const FixedPart* fixed = nullptr;
    Json tools = Json::array();
};

/// The request. `history` is dropped from its oldest message block by block (see render_history)
/// before it comes here; `live` are the messages of this turn: when they alone pass `budget`, whole
/// rounds go, oldest first, never the trigger.
[[nodiscard]] Json build_request(const RequestFrame& frame,
                                 const Json::Array& history,
                                 const Json::Array& live,
                                 std::size_t budget,
                                 std::vector<std::string>& left_out);

}  // namespace daybook
