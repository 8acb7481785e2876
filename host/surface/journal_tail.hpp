// Follows a journal for one asker: the newest lines, then each line after it is synced.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/surface/reply.hpp"

namespace daybook {

class Host;
class Journal;
struct JournalRecord;

/// The record as its line has it. Thread: [any].
[[nodiscard]] Json record_json(const JournalRecord& record);
/// Whether the type is asked for; an empty list asks for all.
[[nodiscard]] bool is_wanted(const JournalRecord& record, const std::vector<std::string>& types);

struct TailRequest {
    std::vector<std::string> types;
    std::size_t last = 10;  ///< newest lines to begin with
    bool follow = true;     ///< else the outcome comes after those
};

/// Events {"event":"record","record":{…}} until the asker goes. `owner`
/// keeps the journal while it is followed. Thread: [worker].
void follow_journal(Host& host,
                    const Journal& journal,
                    TailRequest request,
                    const std::shared_ptr<Reply>& reply,
                    std::shared_ptr<const void> owner = {});

}  // namespace daybook
