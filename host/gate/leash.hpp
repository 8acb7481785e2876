// The leash: what one call may do. Fixed before the call starts, only ever narrower on the way
// down, gone with the call.
//
// It is the host's own; a plugin never sees it. Paths are compared as exact bytes. Thread: [desk].
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/format/manifest.hpp"
#include "host/os/clock.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {

/// Groups of verbs, a bit each.
enum Group : unsigned {
    kDeskFiles = 1,
    kHistory = 2,
    kScratch = 4,
    kTools = 8,
    kHttp = 16,
    kProcess = 32,
    kJournal = 64,
    kTriggers = 128,
    kClock = 256,
};
inline constexpr unsigned kExternalGroups = kHttp | kProcess | kJournal | kTriggers;
inline constexpr unsigned kAllGroups = 511;
/// "daybook.desk-files/1" -> kDeskFiles. nullopt for an id this host does not serve.
std::optional<unsigned> group_of(std::string_view extension_id) noexcept;
/// "desk-files/1, clock/1"; "none".
[[nodiscard]] std::string names_of_groups(unsigned groups);

enum class TurnKind {
    message,
    job,
    alert,
    fill,
    owner_call,
    note_worker,
    flush,
    summary,
    fold,
    curator
};
[[nodiscard]] std::string_view name_of(TurnKind kind) noexcept;
/// Quiet turns cause no effect outside the desk.
[[nodiscard]] bool is_quiet(TurnKind kind) noexcept;

/// What a whole turn may do: the table of design section 5. May hold patterns; a call's leash never
/// does.
class TurnAllowance {
  public:
    static TurnAllowance of(TurnKind kind, DeskDate day);

    [[nodiscard]] TurnKind kind() const noexcept { return kind_; }
    [[nodiscard]] DeskDate day() const noexcept { return day_; }
    /// Operations allowed on the file, 0 = none.
    [[nodiscard]] unsigned operations_on(const DeskPath& path) const;
    [[nodiscard]] unsigned groups() const noexcept { return groups_; }
    [[nodiscard]] bool allows_tool(std::string_view tool) const;
    /// For messages: "notes/2026-10-19.md (append), Memory.md, memory/**, skills/**".
    [[nodiscard]] std::string describe() const;
    /// For messages: "add_note, edit_file only".
    [[nodiscard]] std::string describe_tools() const;
    /// Notes that the turn may still write; counted down by the write gate. Negative = no limit.
    int notes_left = -1;
    bool skips_meters = false;

  private:
    struct Pattern {
        std::string prefix;  ///< a folder with "/" at its end, or a whole path
        bool is_folder = false;
        unsigned operations = 0;
    };
    TurnKind kind_ = TurnKind::owner_call;
    DeskDate day_{};
    unsigned groups_ = 0;
    std::vector<Pattern> patterns_;
    std::vector<std::string> only_tools_;  ///< empty = every tool, unless no_tools_
    bool no_tools_ = false;
};

struct FileGrant {
    DeskPath path;
    unsigned operations = 0;
};

struct Leash {
    std::uint64_t call = 0;
    std::string desk, plugin, tool, turn;
    std::string label;              ///< for records: "t-42.3", the turn's third call
    std::optional<FileGrant> file;  ///< at most one, exact
    unsigned groups = 0;
    std::int64_t bytes_left = 0;  ///< bytes that may still be written
    int writes_left = 0;
    int calls_left = 0;     ///< nested tool calls
    int triggers_left = 0;  ///< triggers it may hand to the desk
    SteadyTime deadline{};
    int depth = 1;            ///< 1 = called by the model or the owner; at most kMaxCallDepth
    Leash* parent = nullptr;  ///< budgets are charged along the chain

    [[nodiscard]] bool is_external() const noexcept { return (groups & kExternalGroups) != 0; }
    /// For the journal: {"file","ops","groups","bytes","writes","calls","deadline_ms"}.
    [[nodiscard]] Json to_json(SteadyTime now) const;
};

inline constexpr int kMaxCallDepth = 4;
/// "append, edit"; "nothing".
[[nodiscard]] std::string names_of_operations(unsigned operations);

/// What a tool's call may cause at most, from its verbs and never from a label of its own:
/// "external" (it has a group that reaches outside), "desk_write" (it writes a file), "read".
[[nodiscard]] std::string_view effect_of_tool(const ToolManifest& tool, unsigned plugin_groups);

/// Derives a call's leash from the manifest, the arguments and the turn's allowance, before the
/// call starts. The path argument of a `writes: {arg}` tool must parse as a DeskPath. Errors:
/// invalid (the path argument), refused (turn forbids the tool or the file: names file, rule, what
/// is allowed).
Result<Leash> derive_leash(const TurnAllowance& allowance,
                           const ToolManifest& tool,
                           unsigned plugin_groups,
                           const Json& arguments,
                           SteadyTime deadline);

/// Narrows `wanted` to what `parent` allows. Errors: refused (wants more than the parent has,
/// depth, no calls left).
Result<Leash> attenuate(Leash& parent, Leash wanted);

/// May this call write so many bytes to this file with this operation now? Does not charge.
/// Errors: refused (file, operation, bytes, count, group), deadline. The message names file, rule
/// and what was allowed.
Result<> check_write(const Leash& leash,
                     const DeskPath& path,
                     FileOperation operation,
                     std::size_t bytes,
                     SteadyTime now);
/// Charges a write along the chain.
void charge_write(Leash& leash, std::size_t bytes);
/// May this call hand the desk one more trigger? Charges it along the chain. Errors: refused.
Result<> charge_trigger(Leash& leash);
/// May this call use a verb of the group? Errors: refused, deadline.
Result<> check_group(const Leash& leash, Group group, SteadyTime now);

}  // namespace daybook
