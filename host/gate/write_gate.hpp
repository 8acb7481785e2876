// The write gate: the only code that changes a desk's own files.
//
// In this order, each step's failure stopping the next (docs/leash.md):
//   1 leash   2 content rules and base   3 checkpoint (durable)   4 write (temporary, fsync, exchange, fsync of the folder)
//   5 journal, and what was written committed. The receipt carries the checkpoint's id.
// A refusal at 1 or 2 is journalled as write_refused. Thread: [desk].
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/gate/leash.hpp"
#include "host/journal/journal.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Content of files last shown to a turn, by hash: what a write must be based on. One for each turn.
class ShownFiles {
  public:
    /// `sha256` "" = shown as absent.
    void remember(const DeskPath& path, std::string sha256) { shown_[path.str()] = std::move(sha256); }
    [[nodiscard]] std::optional<std::string> find(const DeskPath& path) const;

  private:
    std::map<std::string, std::string> shown_;
};

struct WriteRequest {
    DeskPath path;
    FileOperation operation = kAppend;
    std::string base_sha256;  ///< "" = what was last shown to this turn
    std::string text;         ///< appended text, whole new content, or the new text of an edit
    std::string old_text;     ///< edit: must occur exactly once
    std::string reason;
};

struct WriteReceipt {
    std::string path;
    std::string checkpoint;  ///< "c-12"
    std::string sha256;      ///< of the file now
    std::uint64_t bytes_before = 0;
    std::uint64_t bytes = 0;
    std::string journal;     ///< id of the journal line
    [[nodiscard]] Json to_json() const;
};

/// Where the write belongs, for trailers and the journal.
struct WriteContext {
    std::string session, turn, tool, call, plugin;
    Json leash = Json::object();  ///< the leash in force
};

class WriteGate {
  public:
    /// Everything is borrowed and outlives the gate. `desk_dir` is the desk's folder.
    WriteGate(Os& os, const Clock& clock, int desk_dir, std::string desk, CheckpointStore& checkpoints, Journal& journal);

    /// Completes what a crash left between write and journal, and removes temporary files. Call once, before the first
    /// write. Errors: io, no_checkpoint.
    Result<> recover();

    /// Errors: refused, conflict (both versions are kept; the message names where), invalid (edit text missing or not
    /// unique), no_checkpoint, io, full, not_found (edit of no file), deadline.
    Result<WriteReceipt> write(Leash& leash, TurnAllowance& allowance, ShownFiles& shown, const WriteContext& context,
                               const WriteRequest& request);

    /// Reads an own file or one of the owner's in the desk's folder and remembers own ones as shown.
    /// Errors: not_found, refused (kind of file, outside), full (over kMaxOtherFile), io.
    Result<std::string> read(ShownFiles& shown, const DeskPath& path);
    /// Every file below the folder, sorted: path, bytes, whether it is an own file. At most 2,000.
    struct Listed {
        std::string path;
        std::uint64_t bytes = 0;
        bool own = false;
    };
    Result<std::vector<Listed>> list(std::string_view folder);

    /// The owner's: puts one file back as the checkpoint holds it (removes it when it did not exist then), taking a
    /// checkpoint first. Errors: not_found, conflict, no_checkpoint, io.
    Result<WriteReceipt> restore_file(const Checkpoint& from, const DeskPath& path, const WriteContext& context);

    /// False after a failed sync: every write is refused until the next start, with the reason.
    [[nodiscard]] std::optional<std::string> read_only_reason() const;

  private:
    struct Planned;
    Result<Planned> plan(const ShownFiles& shown, const WriteRequest& request);
    Result<> put(const DeskPath& path, const std::optional<std::string>& expected, std::string_view content);
    Error refuse(const WriteContext& context, const WriteRequest& request, std::string_view rule, Error error);

    Os& os_;
    const Clock& clock_;
    int desk_dir_;
    std::string desk_;
    CheckpointStore& checkpoints_;
    Journal& journal_;
    std::optional<std::string> read_only_;
};

}  // namespace daybook
