// history/1: the desk's past as a feed with a cursor, read from the files of record.
//
// Exchanges and journal are append-only, so a reader's place is a file and an offset; documents
// (history_documents.hpp) are given again, group by group, when they have changed. Nothing is kept
// between two readings, and a batch is all that is in memory. Shape: sdk/include/daybook/ext/
// history.h. Thread: [desk].
#pragma once

#include <string>

#include <daybook/result.hpp>

#include "host/journal/journal.hpp"
#include "host/os/os.hpp"
#include "host/plugin/host_calls.hpp"
#include "host/session/session_store.hpp"

namespace daybook {

class HistoryFeed final : public HistorySource {
  public:
    /// Borrowed, outlives it. `home` is the state folder, `desk_dir` the desk's.
    HistoryFeed(
        Os& os, int home, int desk_dir, std::string desk, Journal& journal, SessionStore& sessions);

    Result<std::string> read(const std::string& cursor,
                             std::size_t max_records,
                             std::size_t max_bytes) override;

  private:
    Os& os_;
    int home_;
    int desk_dir_;
    const std::string desk_;
    Journal& journal_;
    SessionStore& sessions_;
};

}  // namespace daybook
