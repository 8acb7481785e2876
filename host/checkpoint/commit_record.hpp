// A checkpoint's commit as bytes: git's header, a line for people, and trailers for the host
// (docs/formats.md, "Checkpoints"). Text from outside cannot forge a trailer: every value is one
// line. No I/O. Thread: [any].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/os/clock.hpp"

namespace daybook {

struct CommitRecord {
    GitId tree;
    std::optional<GitId> parent;
    Timestamp at{};            ///< whole seconds on disk
    std::string subject;       ///< one line; cut and made printable when encoded
    std::uint64_t number = 0;  ///< of `Checkpoint: c-<n>`; 0 = not a checkpoint
    std::uint64_t written =
        0;  ///< of `Written: c-<n>`: this commit holds what that checkpoint's write left
    std::string kind;
    CheckpointReason why;
    std::string file;                            ///< raw path
    std::optional<std::string> base_sha256;      ///< "" = the file did not exist
    std::optional<std::string> intended_sha256;  ///< "" = the file is to go
    std::optional<std::string> left_sha256;      ///< of a Written commit; "" = the file is gone
    std::vector<std::string> skipped;
    std::vector<std::string> empty_folders;  ///< raw paths; git has no empty folders
    std::vector<std::string> modes;  ///< "0660 notes/x.md": what git's one bit does not hold

    [[nodiscard]] std::string encode() const;
    /// Parent of several: the first. A commit that is not ours parses with number and written 0.
    /// Errors: corrupt (not a commit's bytes).
    static Result<CommitRecord> parse(std::string_view bytes);

    /// As listed; without `commit` and `written_commit`.
    [[nodiscard]] Checkpoint to_checkpoint() const;
};

/// A path in one line: as it is when it is plain UTF-8, else in quotes with C escapes, like git's
/// own output.
[[nodiscard]] std::string quote_path(std::string_view path);
/// nullopt for text that quote_path did not make.
std::optional<std::string> unquote_path(std::string_view text);

}  // namespace daybook
