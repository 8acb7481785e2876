// One conversation a trading day: sessions/<desk>/<day>-<n>.jsonl, state.json and
// summaries/<day>.md.
//
// Session files are append-only for ever. state.json is a convenience: lost or corrupt, it is set
// aside and rebuilt from the files. Thread: [desk]; the reading functions marked [any] only read
// files.
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
#include "host/session/session_file.hpp"

namespace daybook {

struct SessionInfo {
    std::string id;  ///< "2026-10-19-1"
    DeskDate day;
    int number = 1;
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
};

/// What summaries/<day>.md says of one session.
struct SummaryPart {
    DeskDate day;
    std::string session, text;
};

class SessionStore {
  public:
    /// What opening found and put right; each is a sentence for journal and log.
    struct Repairs {
        std::vector<std::string> sentences;
    };

    /// `folder` = "sessions/<desk>" beneath `state_dir`, made when missing. Errors: io, corrupt.
    static Result<std::unique_ptr<SessionStore>> open(Os& os,
                                                      const Clock& clock,
                                                      int state_dir,
                                                      std::string folder);

    [[nodiscard]] const Repairs& repairs() const noexcept { return repairs_; }
    /// The state was rebuilt from the files: what only stood there (the turn's number) must come
    /// from the journal.
    [[nodiscard]] bool was_rebuilt() const noexcept { return rebuilt_; }
    [[nodiscard]] const DeskState& state() const noexcept { return state_; }
    /// Durable replacement of state.json. Errors: io, full.
    Result<> save_state(DeskState state);

    /// Makes the next session file of the day with its opening line, and names it in the state
    /// (saved); a rollover that waits for its fresh session is marked as opened in the same save.
    /// Returns its id. Errors: io, full.
    Result<std::string> open_session(DeskDate day, std::string_view opening_text, Json extra);
    /// Appends lines to the open session; seq and ts are filled in. A line over kMaxSessionLine is
    /// cut and says so (session_line.hpp). `sync`: durable when it
    /// returns. On an error none of these lines counts as said (after a failed sync they may still
    /// be found at the next start). Errors: unavailable (no open session; after a failed sync,
    /// until the next start), io, full.
    Result<> append(std::vector<SessionRecord> records, bool sync);
    /// Why nothing may be appended any more, until the next start.
    [[nodiscard]] const std::optional<std::string>& broken() const noexcept { return broken_; }
    /// Makes everything appended so far durable.
    Result<> sync();

    /// The lines of a session, oldest first; bad lines are skipped and counted. Of a file over
    /// kMaxHeldSession the opening and the newest turns. [any]
    [[nodiscard]] Result<std::vector<SessionRecord>> read(std::string_view session,
                                                          std::size_t* bad_lines = nullptr) const;
    /// Bytes of the open session's file that are known to be on the disk.
    [[nodiscard]] std::uint64_t durable_bytes() const noexcept { return durable_bytes_; }
    [[nodiscard]] bool has_unsynced() const noexcept { return durable_bytes_ != file_bytes_; }
    /// Lines of the open session, kept in memory: its opening and the newest turns, at most
    /// kMaxHeldSession or one turn. An append may drop the oldest turns.
    [[nodiscard]] const std::vector<SessionRecord>& conversation() const noexcept {
        return conversation_;
    }
    /// All sessions, oldest first. [any]
    [[nodiscard]] Result<std::vector<SessionInfo>> list() const;

    /// Closes the open session's file and forgets its conversation. The caller has saved a state
    /// without it.
    void close_session();

    /// summaries/<day>.md: written durably; a later session of the same day is added below what is
    /// there. A session that has a summary keeps it.
    Result<> write_summary(DeskDate day, std::string_view session, std::string_view text);
    /// Whether the session has its summary. [any]
    [[nodiscard]] Result<bool> has_summary(DeskDate day, std::string_view session) const;
    [[nodiscard]] Result<std::optional<std::string>> read_summary(DeskDate day) const;  ///< [any]
    /// The parts of a day's summary, a session each, in the file's order. [any]
    [[nodiscard]] Result<std::vector<SummaryPart>> summary_parts(DeskDate day) const;
    /// Puts a text in the place of a session's part, durably. Errors: conflict (the part is not as
    /// it was), io, full.
    Result<> replace_summary(const SummaryPart& former, std::string_view text);
    /// Days that have a summary, oldest first. [any]
    [[nodiscard]] Result<std::vector<DeskDate>> summary_days() const;
    /// Newest day that has a summary.
    [[nodiscard]] Result<std::optional<DeskDate>> last_summary_day() const;  ///< [any]

  private:
    SessionStore(Os& os, const Clock& clock, UniqueFd folder)
        : os_(os), clock_(clock), folder_(std::move(folder)) {}
    Result<> load();
    Result<std::optional<DeskState>> load_state(bool any_session);
    Result<DeskState> rebuild(const std::vector<SessionName>& names);
    Result<> adopt_newer(const std::vector<SessionName>& names);
    Result<> load_session();
    Result<> mend_tail(const SessionLines& lines);
    Result<> set_aside_state(const std::string& why);
    Result<> write_lines(std::string_view lines, bool sync);
    void remember(std::vector<SessionRecord> records);

    Os& os_;
    const Clock& clock_;
    UniqueFd folder_;
    UniqueFd file_;  // the open session, for appending
    DeskState state_;
    std::vector<SessionRecord> conversation_;
    Repairs repairs_;
    std::uint64_t next_seq_ = 1;
    std::uint64_t file_bytes_ = 0;       // of the open session, up to its last whole line
    std::uint64_t durable_bytes_ = 0;    // of them, synced
    std::size_t held_bytes_ = 0;         // of conversation_
    std::optional<std::string> broken_;  // why nothing may be appended any more
    bool rebuilt_ = false;
};

}  // namespace daybook
