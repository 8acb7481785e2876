// One record of the record log as bytes (docs/formats.md, "Record log"): a commit that git may not
// hold yet, with everything that is needed to make its objects again, and the write that it
// announces. No I/O. Thread: [any].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/folder_tree.hpp"

namespace daybook {

/// One path of a commit's tree that differs from its parent's.
struct LoggedChange {
    std::string path;                  ///< raw bytes
    std::optional<TreeFile> file;      ///< nullopt: it is gone
    std::optional<std::string> bytes;  ///< the blob, unless an earlier record has it
};

/// A write that is about to happen, with its bytes: what a power cut takes of it is done again.
struct LoggedWrite {
    std::string path;
    std::string base_sha256;             ///< "" = there was no such file
    std::string intended_sha256;         ///< "" = the file is to go
    std::optional<std::string> content;  ///< nullopt: not known, or the file is to go
    std::uint64_t base_inode = 0;        ///< of the file as it was
    std::int64_t base_modified = 0;      ///< nanoseconds since 1970
    [[nodiscard]] bool can_be_redone() const {
        return content.has_value() || intended_sha256.empty();
    }
};

struct LogRecord {
    std::uint64_t sequence = 0;         ///< given by the log, rising
    std::string commit;                 ///< the commit's bytes; "" = only says that a write is over
    std::vector<LoggedChange> changes;  ///< against the parent's tree
    std::optional<LoggedWrite> write;
    /// Number of the checkpoint whose write is over: done, or known not to have happened.
    std::uint64_t settles = 0;

    [[nodiscard]] std::string encode() const;  ///< without the sequence
    /// Errors: corrupt.
    static Result<LogRecord> decode(std::string_view bytes);
};

}  // namespace daybook
