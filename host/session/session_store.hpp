// One conversation a trading day: sessions/<desk>/<day>-<n>.jsonl, state.json and summaries/<day>.md.
//
// Session files are append-only for ever. state.json is a convenience: lost or corrupt, it is set aside and rebuilt from
// the files. Thread: [desk]; the reading functions marked [any] only read files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/desk_state.hpp"
#include "host/format/session_record.hpp"
#include "host/os/os.hpp"

namespace daybook {

struct SessionInfo {
    std::string id;          ///< "2026-10-19-1"
    DeskDate day;
    int number = 1;
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
};

class SessionStore {
  public:
    /// What opening found and put right; each is a sentence for journal and log.
    struct Repairs {
        std::vector<std::string> sentences;
    };

    /// `folder` = "sessions/<desk>" beneath `state_dir`, made when missing. Errors: io, corrupt.
    static Result<std::unique_ptr<SessionStore>> open(Os& os, const Clock& clock, int state_dir, std::string folder);

    [[nodiscard]] const Repairs& repairs() const noexcept { return repairs_; }
    [[nodiscard]] const DeskState& state() const noexcept { return state_; }
    /// Durable replacement of state.json. Errors: io, full.
    Result<> save_state(DeskState state);

    /// Makes the next session file of the day with its opening line, and names it in the state (saved). Returns its id.
    Result<std::string> open_session(DeskDate day, std::string_view opening_text, Json extra);
    /// Appends lines to the open session; seq and ts are filled in. `sync`: durable when it returns.
    Result<> append(std::vector<SessionRecord> records, bool sync);
    /// Makes everything appended so far durable.
    Result<> sync();

    /// The lines of a session, oldest first; bad lines are skipped and counted. [any]
    [[nodiscard]] Result<std::vector<SessionRecord>> read(std::string_view session, std::size_t* bad_lines = nullptr) const;
    /// Lines of the open session, kept in memory.
    [[nodiscard]] const std::vector<SessionRecord>& conversation() const noexcept { return conversation_; }
    /// All sessions, oldest first. [any]
    [[nodiscard]] Result<std::vector<SessionInfo>> list() const;

    /// summaries/<day>.md: written durably; a later session of the same day is added below what is there.
    Result<> write_summary(DeskDate day, std::string_view session, std::string_view text);
    [[nodiscard]] Result<std::optional<std::string>> read_summary(DeskDate day) const;  ///< [any]
    /// Newest day that has a summary.
    [[nodiscard]] Result<std::optional<DeskDate>> last_summary_day() const;  ///< [any]

  private:
    SessionStore(Os& os, const Clock& clock, UniqueFd folder) : os_(os), clock_(clock), folder_(std::move(folder)) {}
    Result<> load();
    Result<DeskState> rebuild();

    Os& os_;
    const Clock& clock_;
    UniqueFd folder_;
    UniqueFd file_;  // the open session, for appending
    DeskState state_;
    std::vector<SessionRecord> conversation_;
    Repairs repairs_;
};

}  // namespace daybook
