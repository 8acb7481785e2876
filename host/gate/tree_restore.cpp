#include "host/gate/tree_restore.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/file_scan.hpp"
#include "host/format/sha256.hpp"
#include "host/os/folders.hpp"

namespace daybook {
namespace {

constexpr std::size_t kSyncedOneByOne = 32;  // more: one flush of the whole file system
constexpr int kMaxExchanges = 1000;
constexpr unsigned kUnfinishedMode = 0200;
constexpr unsigned kFolderMode = 0770;
constexpr unsigned kPermissionBits = 07777;

constexpr std::string_view kHeldByNone = "what is there no checkpoint holds";
constexpr std::string_view kEdited = "somebody else changed it meanwhile; their version stands";

std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

TreeRestore::TreeRestore(Os& os,
                         const DeskPlaces& places,
                         const GitObjects& objects,
                         Trash& trash,
                         std::string checkpoint)
    : os_(os),
      places_(places),
      objects_(objects),
      trash_(trash),
      checkpoint_(std::move(checkpoint)) {}

std::string TreeRestore::staged(std::size_t step) const {
    return places_.repository + "/stage/" + std::to_string(step);
}

std::string TreeRestore::in_desk(const std::string& path) const {
    return places_.desk + "/" + path;
}

Result<std::optional<TreeRestore::Seen>> TreeRestore::look(const std::string& place) {
    auto status = os_.stat_beneath(places_.root, place);
    if (!status) {
        return status.error().code() == Errc::not_found ? Result<std::optional<Seen>>(std::nullopt)
                                                        : status.error();
    }
    Seen seen;
    seen.inode = status->st_ino;
    if (S_ISLNK(status->st_mode)) {
        auto text = read_link(os_, places_.root, place);
        if (!text) {
            return text.error();
        }
        seen.is_plain = true;
        seen.file = {TreeFile{kModeLink, GitObjects::id_of(GitType::blob, *text)}, 0};
        return std::optional<Seen>(std::move(seen));
    }
    if (!S_ISREG(status->st_mode) || static_cast<std::uint64_t>(status->st_size) > kMaxStoredFile) {
        return std::optional<Seen>(std::move(seen));
    }
    auto fd = os_.open_beneath(places_.root, place, OpenMode::read);
    auto content = fd ? os_.read_all(fd->get(), kMaxStoredFile) : Result<std::string>(fd.error());
    if (!content) {
        return content.error();
    }
    FileOnDisk file{std::move(*content), status->st_mode & kPermissionBits};
    seen.is_plain = true;
    seen.file = {TreeFile{file.tree_mode(), GitObjects::id_of(GitType::blob, file.content)},
                 file.permissions};
    seen.content = std::move(file.content);
    return std::optional<Seen>(std::move(seen));
}

/// Owner and group are those of the file that is replaced, or of the desk's folder, as far as the
/// system allows it.
Result<> TreeRestore::fill(int fd, const RestoreStep& step, const std::string& content) {
    if (auto written = os_.write_all(fd, content); !written) {
        return written;
    }
    const auto model = os_.stat_beneath(places_.root, in_desk(step.path));
    const auto folder = os_.stat_beneath(places_.root, places_.desk);
    if (model || folder) {
        const struct stat& look = model ? *model : *folder;
        if (::fchown(fd, look.st_uid, look.st_gid) != 0) {
            [[maybe_unused]] const int ignored = ::fchown(fd, static_cast<uid_t>(-1), look.st_gid);
        }
    }
    return os_.set_mode(fd, step.after->permissions);
}

Result<> TreeRestore::stage_one(std::size_t index, const RestoreStep& step) {
    auto content = objects_.read(step.after->file.id, GitType::blob);
    if (!content) {
        return content.error();
    }
    const std::string place = staged(index);
    if (auto gone = os_.remove(places_.root, place);
        !gone && gone.error().code() != Errc::not_found) {
        return gone;
    }
    if (step.after->is_link()) {
        return make_link(os_, places_.root, place, *content);
    }
    auto fd = os_.open_beneath(places_.root, place, OpenMode::create_new, kUnfinishedMode);
    return fd ? fill(fd->get(), step, *content) : Result<>(fd.error());
}

Result<> TreeRestore::stage(const std::vector<RestoreStep>& steps) {
    if (auto made = make_directories(os_, places_.root, places_.repository + "/stage"); !made) {
        return made;
    }
    if (auto cleared = clear_stage(); !cleared) {
        return cleared;
    }
    std::vector<std::size_t> made;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].kind != RestoreStep::Kind::put_file) {
            continue;
        }
        if (auto done = stage_one(i, steps[i]); !done) {
            const Result<> ignored = clear_stage();
            return done.error().during("make " + quote_path(steps[i].path));
        }
        made.push_back(i);
    }
    if (made.size() > kSyncedOneByOne) {
        return sync_file_system(os_, places_.root);
    }
    for (const std::size_t i : made) {
        if (steps[i].after->is_link()) {
            continue;
        }
        // Written through another descriptor: fsync is of the file, not of the descriptor.
        auto fd = os_.open_beneath(places_.root, staged(i), OpenMode::append);
        auto synced = fd ? os_.full_sync(fd->get()) : Result<>(fd.error());
        if (!synced) {
            return synced;
        }
    }
    auto folder =
        os_.open_beneath(places_.root, places_.repository + "/stage", OpenMode::directory);
    return folder ? os_.full_sync(folder->get()) : Result<>(folder.error());
}

Result<> TreeRestore::clear_stage() {
    const std::string stage = places_.repository + "/stage";
    auto entries = os_.list(places_.root, stage);
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<>() : Result<>(entries.error());
    }
    for (const DirectoryEntry& entry : *entries) {
        if (auto gone = os_.remove(places_.root, stage + "/" + entry.name); !gone) {
            return gone;
        }
    }
    return {};
}

/// Into the trash: a replaced file for a while, a removed one until the owner empties it.
Result<> TreeRestore::retire(const std::string& from, const RestoreStep& step, const Seen& what) {
    TrashEntry entry;
    entry.kind = step.after ? TrashEntry::Kind::replaced : TrashEntry::Kind::removed;
    entry.path = step.path;
    entry.checkpoint = checkpoint_;
    entry.sha256 = what.file.is_link() ? "" : sha256_hex(what.content);
    entry.bytes = what.content.size();
    if (step.after && what.file.is_link()) {
        return os_.remove(places_.root, from);  // nobody writes to a link
    }
    auto taken = trash_.take_in(from, std::move(entry));
    return taken ? Result<>() : Result<>(taken.error());
}

/// `theirs` is in the stage; what we put last, `ours`, in the file's place, unless the owner has
/// saved again. Exchanges the two until what we put comes out.
Result<> TreeRestore::swap_back(
    std::size_t index, const RestoreStep& step, Seen theirs, ino_t ours, Outcome& outcome) {
    const std::string place = staged(index);
    outcome.skipped.push_back({step.path, std::string(kEdited)});
    ino_t in_place = ours;
    ino_t moving = theirs.inode;
    for (int count = 0; count < kMaxExchanges; ++count) {
        auto moved = os_.exchange(places_.root, place, in_desk(step.path));
        if (!moved && moved.error().code() == Errc::not_found) {
            return os_.rename_new(places_.root, place, in_desk(step.path));  // they removed ours
        }
        if (!moved) {
            return moved;
        }
        auto out = look(place);
        if (!out || !*out) {
            return out ? Result<>() : Result<>(out.error());
        }
        if ((*out)->inode == in_place) {
            const bool is_ours = (*out)->is_plain && (*out)->file == *step.after;
            if (!is_ours) {
                outcome.superseded.emplace_back(step.path, (*out)->content);
            }
            return os_.remove(places_.root, place);
        }
        in_place = moving;
        moving = (*out)->inode;
    }
    return Error(Errc::io,
                 "it is saved again and again; a version stays in the repository's stage");
}

bool TreeRestore::is(const std::optional<Seen>& seen, const std::optional<StoredFile>& file) {
    return seen.has_value() == file.has_value() &&
           (!seen || (seen->is_plain && seen->file == *file));
}

/// Done before a crash; what it replaced may still be in the stage.
Result<> TreeRestore::finish_put(std::size_t index,
                                 const RestoreStep& step,
                                 std::optional<Seen> in_stage,
                                 ino_t ours,
                                 Outcome& outcome) {
    if (in_stage && !is(in_stage, step.after) && !is(in_stage, step.before)) {
        return swap_back(index, step, std::move(*in_stage), ours, outcome);
    }
    outcome.done.push_back(step);
    return in_stage && is(in_stage, step.before) ? retire(staged(index), step, *in_stage)
                                                 : Result<>();
}

Result<> TreeRestore::put_file(std::size_t index, const RestoreStep& step, Outcome& outcome) {
    const std::string place = staged(index);
    const std::string target = in_desk(step.path);
    auto in_place = look(target);
    auto in_stage = in_place ? look(place) : Result<std::optional<Seen>>(in_place.error());
    if (!in_stage) {
        return in_stage.error();
    }
    if (is(*in_place, step.after)) {
        return finish_put(index, step, std::move(*in_stage), (*in_place)->inode, outcome);
    }
    if (!is(*in_place, step.before)) {
        const bool is_kept_out = *in_place && !(*in_place)->is_plain;
        outcome.skipped.push_back({step.path, std::string(is_kept_out ? kHeldByNone : kEdited)});
        return {};
    }
    if (!is(*in_stage, step.after)) {
        auto made = stage_one(index, step);
        in_stage = made ? look(place) : Result<std::optional<Seen>>(made.error());
        if (!in_stage || !*in_stage) {
            return in_stage ? Result<>(Error(Errc::io, "the new content is not in the stage"))
                            : Result<>(in_stage.error());
        }
    }
    const auto moved = step.before ? os_.exchange(places_.root, place, target)
                                   : os_.rename_new(places_.root, place, target);
    if (!moved) {
        const Errc code = moved.error().code();
        const bool was_there =
            code == Errc::conflict || (code == Errc::not_found && step.before.has_value());
        if (was_there) {
            outcome.skipped.push_back({step.path, std::string(kEdited)});
        }
        return was_there ? Result<>() : moved;
    }
    if (!step.before) {
        outcome.done.push_back(step);
        return {};
    }
    auto out = look(place);
    if (!out || !*out) {
        return out ? Result<>(Error(Errc::io, "what was replaced is not in the stage"))
                   : Result<>(out.error());
    }
    if (!is(*out, step.before)) {
        return swap_back(index, step, std::move(**out), (*in_stage)->inode, outcome);
    }
    outcome.done.push_back(step);
    return retire(place, step, **out);
}

/// By way of the stage, so that what came out can be looked at and go back.
Result<> TreeRestore::remove_file(std::size_t index, const RestoreStep& step, Outcome& outcome) {
    const std::string place = staged(index);
    const std::string target = in_desk(step.path);
    auto in_stage = look(place);
    auto in_place = in_stage ? look(target) : Result<std::optional<Seen>>(in_stage.error());
    if (!in_place) {
        return in_place.error();
    }
    if (!*in_stage) {
        if (!*in_place) {
            outcome.done.push_back(step);
            return {};
        }
        if (!is(*in_place, step.before)) {
            outcome.skipped.push_back({step.path, std::string(kEdited)});
            return {};
        }
        auto moved = os_.rename_new(places_.root, target, place);
        in_stage = moved ? look(place) : Result<std::optional<Seen>>(moved.error());
        if (!in_stage || !*in_stage) {
            return in_stage ? Result<>() : Result<>(in_stage.error());
        }
    }
    if (is(*in_stage, step.before)) {
        outcome.done.push_back(step);
        return retire(place, step, **in_stage);
    }
    outcome.skipped.push_back({step.path, std::string(kEdited)});
    auto back = os_.rename_new(places_.root, place, target);
    if (!back && back.error().code() == Errc::conflict) {  // saved twice: the newer one stands
        outcome.superseded.emplace_back(step.path, (*in_stage)->content);
        return os_.remove(places_.root, place);
    }
    return back;
}

Result<> TreeRestore::make_folder(const RestoreStep& step) {
    const std::string target = in_desk(step.path);
    const auto there = os_.stat_beneath(places_.root, target);
    const bool is_new = !there;
    unsigned permissions = step.permissions;
    if (permissions == 0) {
        if (!is_new) {
            return {};
        }
        const auto parent = os_.stat_beneath(places_.root, folder_of(target));
        permissions = parent ? parent->st_mode & kPermissionBits : kFolderMode;
    }
    if (is_new) {
        if (auto made = make_directories(os_, places_.root, target, kFolderMode); !made) {
            return made;
        }
    }
    auto folder = os_.open_beneath(places_.root, target, OpenMode::directory);
    return folder ? os_.set_mode(folder->get(), permissions) : Result<>(folder.error());
}

Result<> TreeRestore::apply_one(std::size_t index, const RestoreStep& step, Outcome& outcome) {
    switch (step.kind) {
        case RestoreStep::Kind::remove_file:
            return remove_file(index, step, outcome);
        case RestoreStep::Kind::put_file:
            return put_file(index, step, outcome);
        case RestoreStep::Kind::make_folder:
            return make_folder(step);
        case RestoreStep::Kind::remove_folder:
            break;
    }
    auto gone = remove_empty_folder(os_, places_.root, in_desk(step.path));
    return gone || gone.error().code() == Errc::not_found ? Result<>() : gone;
}

Result<TreeRestore::Outcome> TreeRestore::apply(const std::vector<RestoreStep>& steps) {
    Outcome outcome;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const RestoreStep& step = steps[i];
        auto done = apply_one(i, step, outcome);
        if (done) {
            continue;
        }
        const bool is_file = step.before.has_value() || step.after.has_value();
        std::erase_if(outcome.done,
                      [&](const RestoreStep& each) { return each.path == step.path; });
        (is_file ? outcome.skipped : outcome.folders)
            .push_back({step.path, done.error().message()});
    }
    if (auto synced = sync_file_system(os_, places_.root); !synced) {
        return synced.error();
    }
    return outcome;
}

}  // namespace daybook
