// Where a reader of history/1 stands, as the opaque text that it keeps
// (host/turn/history_feed.hpp).
//
// JSON, since it is read again by a later version of this host; what does not parse, or is another
// desk's, begins anew. It is bounded: a session, a journal day, and one fingerprint a month of
// notes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"

namespace daybook {

/// A place in a file that only grows: how far it was read, and what stands right before that.
struct GrowthPosition {
    std::string name;  ///< "2026-10-19-1" or "2026-10-19"; "" = before the first
    std::uint64_t offset = 0;
    std::string tail;  ///< hash of the last bytes before the offset; "" at 0
};

struct HistoryCursor {
    std::string desk;
    /// The journal's end when this reading began: a record of a forget behind it means that files
    /// were rewritten after they were read.
    std::string born_day;
    std::uint64_t born_seq = 0;
    GrowthPosition session, journal;
    std::map<std::string, std::string> documents;  ///< group -> fingerprint of what was given
    /// A group that is not given whole yet.
    std::string group, fingerprint;
    std::uint64_t given = 0;  ///< records of it

    [[nodiscard]] std::string to_text() const;
    /// nullopt: no cursor of this desk.
    static std::optional<HistoryCursor> parse(std::string_view text, std::string_view desk);
};

}  // namespace daybook
