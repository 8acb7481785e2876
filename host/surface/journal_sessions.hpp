// The part of `journal verify` that holds the session files and the summaries against the journal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/session_record.hpp"
#include "host/os/os.hpp"
#include "host/surface/journal_proof.hpp"
#include "host/surface/journal_turns.hpp"

namespace daybook {

class JournalSessions {
  public:
    /// `folder` is "sessions/<desk>", `dir` that folder, opened. All borrowed.
    JournalSessions(
        Os& os, int dir, std::string folder, const JournalTurns& journal, JournalProof& proof)
        : os_(os), dir_(dir), folder_(std::move(folder)), journal_(journal), proof_(proof) {}

    /// Reads every session file and every summary. Errors: io.
    Result<> run();

  private:
    /// What of one session is compared.
    struct Session {
        std::string id;
        std::string file;
        std::uint64_t triggers = 0;
        std::map<std::string, std::vector<std::uint64_t>> answers;  ///< turn -> lines
        std::map<std::uint64_t, std::string> compressions;          ///< line -> outcome
        std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>
            flushes;  ///< flush turn -> its first and last line
    };

    Result<> read_session(const std::string& id);
    void take(const SessionRecord& record, std::uint64_t line, Session& session);
    void compare_turns(const Session& session);
    void compare_compressions(const Session& session);
    Result<> compare_summaries();
    Result<> check_summary(const std::string& day);

    Os& os_;
    int dir_;
    const std::string folder_;
    const JournalTurns& journal_;
    JournalProof& proof_;
    std::map<std::string, Session> sessions_;
};

}  // namespace daybook
