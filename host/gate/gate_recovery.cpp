// WriteGate at start: what a crash left between write and journal, and temporary files beside the
// desk's own.
#include <algorithm>

#include "host/checkpoint/git_names.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal_reader.hpp"

namespace daybook {
namespace {

constexpr std::string_view kTemporaryEnding = ".daybook~";
constexpr int kMaxDepth = 16;

std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Result<> WriteGate::recover() {
    if (trash_) {
        if (auto opened = trash_->open(); !opened) {
            return opened;
        }
    }
    if (const auto& completed = checkpoints_.recovery().completed) {
        if (auto done = recover_journal(*completed); !done) {
            return done;
        }
    }
    for (const LostWrite& lost : checkpoints_.recovery().lost_writes) {
        if (auto done = redo(lost); !done) {
            return done.error().during("write " + lost.file + " again");
        }
    }
    if (const auto& doubtful = checkpoints_.recovery().doubtful) {
        if (auto done = settle_doubtful(*doubtful); !done) {
            return done.error().during("settle the write of " + doubtful->file);
        }
    }
    if (auto done = checkpoints_.finish_recovery(); !done) {
        return done;
    }
    if (ledger_ != nullptr) {
        checkpoints_.set_ledger(ledger_->text());
    }
    if (auto done = recover_restore(); !done) {
        return done.error().during("carry on a restore");
    }
    for (const std::string folder : {"", "memory", "notes", "skills"}) {
        if (auto done = recover_folder(folder, 0); !done) {
            return done.error().during("remove temporary files");
        }
    }
    return {};
}

/// The record is durable and holds the content; the rename was lost, or never came. What somebody
/// else has put there meanwhile stays.
Result<> WriteGate::redo(const LostWrite& lost) {
    auto path = DeskPath::parse(lost.file);
    if (!path) {
        return path.error();
    }
    auto leftover = swap_.find_leftover(*path);
    if (!leftover) {
        return leftover.error();
    }
    const bool lies_beside =
        *leftover && lost.content && (*leftover)->is_plain && (*leftover)->content == *lost.content;
    if (!lost.is_certain && !lies_beside) {
        return {};  // the owner has removed it
    }
    if (auto settled = settle_leftover(*path, true); !settled) {
        return settled;
    }
    swap_.set_folder_sync(true);
    auto done = lost.content ? swap_.replace(*path, lost.found_sha256, *lost.content)
                             : swap_.remove(*path, lost.found_sha256);
    keep_superseded(*path);
    if (!done) {
        const Errc code = done.error().code();
        const bool is_owners =
            code == Errc::conflict || code == Errc::refused || code == Errc::not_found;
        if (is_owners) {
            checkpoints_.not_written(lost.checkpoint);
        }
        return is_owners ? Result<>() : done;
    }
    if (lost.was_recorded) {
        return {};
    }
    if (auto recorded = checkpoints_.record_written(lost.checkpoint, *path, lost.content);
        !recorded) {
        return recorded;
    }
    return recover_journal(lost.checkpoint);
}

/// The journal's line is written after the rename: with it the write had happened, and what stands
/// there now came after it. Without it nobody was told.
Result<> WriteGate::settle_doubtful(const LostWrite& doubtful) {
    constexpr std::size_t kNewestDays = 3;  // as far back as a key counts
    const std::string key = write_key(doubtful.checkpoint);
    const JournalReader reader = JournalReader::of(journal_);
    auto days = reader.days();
    if (!days) {
        return days.error();
    }
    const std::size_t first = days->size() - std::min(days->size(), kNewestDays);
    for (std::size_t i = first; i < days->size(); ++i) {
        auto lines = reader.read_day((*days)[i]);
        if (!lines) {
            return lines.error();
        }
        for (const JournalRecord& record : lines->records) {
            if (record.entry.key != key) {
                continue;
            }
            auto path = DeskPath::parse(doubtful.file);
            return path ? checkpoints_.record_written(doubtful.checkpoint, *path, doubtful.content)
                        : Result<>(path.error());
        }
    }
    return {};
}

/// The write happened, and its line may be missing. The line's key keeps it from standing there
/// twice.
Result<> WriteGate::recover_journal(const Checkpoint& completed) {
    auto path = DeskPath::parse(completed.file);
    if (!path) {
        return path.error();
    }
    auto current = read_current(*path);
    if (!current) {
        return current.error();
    }
    auto before = checkpoints_.read(completed, *path);
    if (!before) {
        return before.error();
    }
    JournalEntry entry;
    entry.type = completed.kind == "restore"         ? "restore"
                 : path->str().starts_with("notes/") ? "note_written"
                                                     : "file_written";
    entry.turn = completed.why.turn;
    entry.key = write_key(completed);
    entry.data.set("path", path->str());
    entry.data.set("op", "unknown");
    entry.data.set("bytes_before", before->value_or("").size());
    entry.data.set("bytes", current->value_or("").size());
    entry.data.set("checkpoint", completed.id);
    entry.data.set("sha256_before", completed.base_sha256);
    entry.data.set("sha256", completed.intended_sha256);
    entry.data.set("reason", completed.why.reason);
    entry.data.set("tool", completed.why.tool);
    entry.data.set("call", completed.why.call);
    entry.data.set("recovered", true);
    auto written = journal_.append(std::move(entry));
    return written ? Result<>() : Result<>(written.error().during("complete the journal"));
}

/// Finds files with the temporary ending, and with it the files that they belong to.
Result<> WriteGate::recover_folder(const std::string& folder, int depth) {
    auto entries = os_.list(desk_dir_, folder);
    if (!entries) {
        const Errc code = entries.error().code();
        const bool is_none =
            code == Errc::not_found || code == Errc::refused;  // a link in a folder's place
        const auto status = os_.stat_beneath(desk_dir_, folder);
        return is_none || (status && !S_ISDIR(status->st_mode)) ? Result<>()
                                                                : Result<>(entries.error());
    }
    for (const DirectoryEntry& entry : *entries) {
        const std::string inside = folder.empty() ? entry.name : folder + "/" + entry.name;
        if (entry.is_directory && !folder.empty() && depth < kMaxDepth &&
            !is_git_folder_name(entry.name)) {
            if (auto done = recover_folder(inside, depth + 1); !done) {
                return done;
            }
            continue;
        }
        if (!entry.name.starts_with('.') || !entry.name.ends_with(kTemporaryEnding)) {
            continue;
        }
        std::vector<std::string> names = {
            entry.name.substr(1, entry.name.size() - 1 - kTemporaryEnding.size())};
        for (const DirectoryEntry& other : *entries) {
            names.push_back(other.name);  // a long name is shortened in its temporary's
        }
        for (const std::string& name : names) {
            auto path = DeskPath::parse(folder.empty() ? name : folder + "/" + name);
            if (!path || !path->is_own() || FileSwap::temporary_name(*path) != inside) {
                continue;
            }
            if (auto settled = settle_leftover(*path, true); !settled) {
                return settled;
            }
            break;
        }
    }
    return {};
}

/// The newest checkpoint before a write of the file, among the last few.
Result<std::optional<Checkpoint>> WriteGate::last_announced(const DeskPath& path) const {
    constexpr std::size_t kLookBack = 16;
    auto newest = checkpoints_.list(kLookBack);
    if (!newest) {
        return newest.error();
    }
    for (Checkpoint& checkpoint : *newest) {
        if (checkpoint.file == path.str() &&
            (checkpoint.kind == "write" || checkpoint.kind == "restore")) {
            return std::optional<Checkpoint>(std::move(checkpoint));
        }
    }
    return std::optional<Checkpoint>();
}

/// A whole temporary file is ours, or what an exchange had just taken out of the file's place. What
/// is known goes; a version of the owner's that nobody has read yet becomes a checkpoint, and at
/// start it goes back to its place when it is the newest.
Result<> WriteGate::settle_leftover(const DeskPath& path, bool at_start) {
    auto found = swap_.find_leftover(path);
    if (!found) {
        return found.error();
    }
    if (!*found) {
        return {};
    }
    const FileSwap::Leftover& leftover = **found;
    if (leftover.is_unfinished) {
        return swap_.remove_leftover(path);
    }
    if (!leftover.is_plain) {
        return Error(Errc::refused,
                     "the file beside it, " + FileSwap::temporary_name(path) +
                         ", is not a plain file; remove it");
    }
    const std::string hash = sha256_hex(leftover.content);
    auto announced = last_announced(path);
    if (!announced) {
        return announced.error();
    }
    const std::string intended = *announced ? (*announced)->intended_sha256 : "";
    const std::string base = *announced ? (*announced)->base_sha256 : "";
    if (hash == intended || hash == base || hash == checkpoints_.committed_sha256(path)) {
        return swap_.remove_leftover(path);
    }
    if (auto edits = checkpoints_.record_owner_edits(); !edits) {
        return edits.error();
    }
    const auto target = os_.stat_beneath(desk_dir_, path.str());
    const auto current = read_current(path);
    const bool is_ours = current && *current && sha256_hex(**current) == intended;
    const bool is_newer =
        !target || nanoseconds(leftover.status.st_mtim) > nanoseconds(target->st_mtim);
    CheckpointReason why;
    why.reason = "found beside " + path.str() + " after an interrupted write";
    auto kept = checkpoints_.keep_conflict(path, leftover.content, why);
    if (!kept) {
        return kept.error();
    }
    if (at_start && (is_ours || is_newer)) {
        if (auto back = swap_.exchange_with_leftover(path); !back) {
            return back;
        }
        if (auto edits = checkpoints_.record_owner_edits(); !edits) {
            return edits.error();
        }
    }
    return swap_.remove_leftover(path);
}

}  // namespace daybook
