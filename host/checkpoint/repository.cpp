#include "host/checkpoint/repository.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <sys/stat.h>
#include <system_error>

#include "host/checkpoint/loose_object.hpp"

namespace daybook {
namespace {

constexpr std::string_view kTip = "daybook.tip";
constexpr std::string_view kRef = "refs/heads/checkpoints";
constexpr std::string_view kNewRef =
    "daybook.ref~";  // not below refs/: there git would take it for a ref
constexpr std::string_view kHead = "ref: refs/heads/checkpoints\n";
constexpr unsigned kFolderMode =
    0770;  // the owner's group reads; a setgid folder hands its group down
constexpr unsigned kFileMode = 0660;
constexpr std::size_t kIdDigits = 40;
constexpr std::size_t kMaxTip = 64UL * 1024;  // longer at the start: shortened to its last line
constexpr std::size_t kMaxTipEver = 256UL * 1024 * 1024;  // a line a commit while the host runs
constexpr std::size_t kMaxPackedRefs = 1024UL * 1024;

/// For the owner's git; the host reads none of it.
constexpr std::string_view kConfig =
    "[core]\n"
    "\trepositoryformatversion = 0\n"
    "\tfilemode = true\n"
    "\tbare = true\n"
    "\tlogAllRefUpdates = false\n"
    "\tfsync = all\n"
    "[gc]\n"
    "\tauto = 0\n";

bool is_lock_file(std::string_view name) {
    return name.ends_with(".lock") && name != "daybook.lock";
}

bool is_object_leftover(std::string_view name) {
    return name.starts_with("tmp_object_git2_") || name.starts_with("pack_git2_") ||
           name == kNewLooseObject || is_lock_file(name);
}

bool is_anything(std::string_view /*name*/) {
    return true;
}

bool is_our_leftover(std::string_view name) {
    return is_lock_file(name) || name == kNewRef || name.ends_with(".daybook~");
}

/// Opens the folder, making it and what is missing above it.
Result<UniqueFd> open_or_make(Os& os, const std::filesystem::path& folder) {
    auto fd = os.open_root(folder);
    if (fd || fd.error().code() != Errc::not_found) {
        return fd;
    }
    std::filesystem::path above = folder.parent_path();
    auto base = os.open_root(above);
    while (!base && base.error().code() == Errc::not_found && above.has_relative_path()) {
        above = above.parent_path();
        base = os.open_root(above);
    }
    if (!base) {
        return base.error();
    }
    const std::string missing = folder.lexically_relative(above).generic_string();
    if (auto made = make_directories(os, base->get(), missing, kFolderMode); !made) {
        return made.error();
    }
    return os.open_beneath(base->get(), missing, OpenMode::directory);
}

std::optional<GitId> id_of_line(std::string_view line) {
    return line.size() == kIdDigits ? GitId::from_hex(line) : std::nullopt;
}

/// The id in the last line that has its newline and is an id.
std::optional<GitId> last_id(std::string_view lines) {
    while (!lines.empty()) {
        const std::size_t end = lines.rfind('\n');
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        const std::size_t before = end == 0 ? std::string_view::npos : lines.rfind('\n', end - 1);
        const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
        if (auto id = id_of_line(lines.substr(start, end - start))) {
            return id;
        }
        lines = lines.substr(0, start);
    }
    return std::nullopt;
}

/// The ref's line in `packed-refs`.
std::optional<GitId> packed_id(std::string_view packed) {
    while (!packed.empty()) {
        const std::size_t end = std::min(packed.find('\n'), packed.size());
        const std::string_view line = packed.substr(0, end);
        packed.remove_prefix(std::min(end + 1, packed.size()));
        if (line.size() == kIdDigits + 1 + kRef.size() && line.ends_with(kRef)) {
            return id_of_line(line.substr(0, kIdDigits));
        }
    }
    return std::nullopt;
}

/// A small file's text; "" when it is not there or not a plain file.
Result<std::string> read_small(Os& os, int dir, std::string_view name, std::size_t max_bytes) {
    auto text = read_file(os, dir, name, max_bytes);
    if (text || text.error().code() == Errc::io) {
        return text;
    }
    return std::string();
}

}  // namespace

Result<std::unique_ptr<Repository>> Repository::open(Os& os, const std::filesystem::path& folder) {
    const std::string doing = "open checkpoints " + folder.filename().string();
    auto fd = open_or_make(os, folder);
    if (!fd) {
        return fd.error().during(doing);
    }
    std::unique_ptr<Repository> repository(new Repository(os, folder, std::move(*fd)));
    for (const auto step : {&Repository::lock,
                            &Repository::make_layout,
                            &Repository::remove_leftovers,
                            &Repository::open_tip}) {
        if (auto done = (repository.get()->*step)(); !done) {
            return done.error().during(doing);
        }
    }
    auto objects_fd = os.open_beneath(repository->fd_.get(), "objects", OpenMode::directory);
    if (!objects_fd) {
        return objects_fd.error().during(doing);
    }
    repository->objects_fd_ = std::move(*objects_fd);
    auto objects = GitObjects::open(
        os, folder / "objects", repository->objects_fd_.get(), repository->staged_);
    if (!objects) {
        return objects.error().during(doing);
    }
    repository->objects_ = std::move(*objects);
    return repository;
}

Result<std::unique_ptr<GitObjects>> Repository::open_reader() const {
    return GitObjects::open(os_, folder_ / "objects", objects_fd_.get(), staged_);
}

Result<> Repository::lock() {
    auto fd = os_.open_beneath(fd_.get(), "daybook.lock", OpenMode::lock, kFileMode);
    if (!fd) {
        return fd.error();
    }
    lock_ = std::move(*fd);
    return os_.lock(lock_.get());
}

/// HEAD is made last: where it stands, everything else does.
Result<> Repository::make_layout() {
    const auto head = os_.stat_beneath(fd_.get(), "HEAD");
    if (head) {
        auto made = make_fan_out();  // an owner's `git gc` removes empty ones
        return made ? mend_head() : made;
    }
    if (head.error().code() != Errc::not_found) {
        return head.error();
    }
    for (const std::string_view folder :
         {"objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", "info"}) {
        if (auto made = os_.make_directory(fd_.get(), folder, kFolderMode); !made) {
            return made;
        }
    }
    if (auto made = make_fan_out(); !made) {
        return made;
    }
    if (auto written = write_file_durably(os_, fd_.get(), "config", kConfig, kFileMode); !written) {
        return written;
    }
    return write_file_durably(os_, fd_.get(), "HEAD", kHead, kFileMode);
}

/// Without a HEAD that it understands git takes the folder for no repository. The host itself reads
/// none.
Result<> Repository::mend_head() {
    auto text = read_small(os_, fd_.get(), "HEAD", kMaxTip);
    if (!text) {
        return text.error();
    }
    const std::string line = text->substr(0, text->find('\n'));
    return line.starts_with("ref: refs/") || id_of_line(line)
               ? Result<>()
               : write_file_durably(os_, fd_.get(), "HEAD", kHead, kFileMode);
}

/// All 256 folders for objects, with one sync: libgit2 would make them one by one and not sync
/// `objects` itself.
Result<> Repository::make_fan_out() {
    auto objects = os_.open_beneath(fd_.get(), "objects", OpenMode::directory);
    if (!objects) {
        return objects.error();
    }
    auto there = os_.list(fd_.get(), "objects");
    if (!there) {
        return there.error();
    }
    std::set<std::string, std::less<>> folders;
    for (DirectoryEntry& entry : *there) {
        if (entry.is_directory) {
            folders.insert(std::move(entry.name));
        }
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    bool made_one = false;
    for (const char high : kHex) {
        for (const char low : kHex) {
            const std::array<char, 3> name = {high, low, '\0'};
            if (folders.contains(std::string_view(name.data()))) {
                continue;
            }
            if (::mkdirat(objects->get(), name.data(), kFolderMode) == 0) {
                made_one = true;
            } else if (errno != EEXIST) {
                const int reason = errno;
                return Error(reason == ENOSPC || reason == EDQUOT ? Errc::full : Errc::io,
                             "make folder objects/" + std::string(name.data()) + ": " +
                                 std::generic_category().message(reason));
            }
        }
    }
    return made_one ? os_.full_sync(objects->get()) : Result<>();
}

Result<> Repository::remove_leftovers() {
    if (auto done = remove_leftovers_in("", is_our_leftover); !done) {
        return done;
    }
    if (auto done = remove_leftovers_in("refs/heads", is_lock_file); !done) {
        return done;
    }
    if (auto done = remove_leftovers_in("objects", is_object_leftover); !done) {
        return done;
    }
    if (auto done = remove_leftovers_in(std::string(kNewPackFolder), is_anything); !done) {
        return done;
    }
    return remove_leftovers_in("objects/pack", is_object_leftover);
}

Result<> Repository::remove_leftovers_in(const std::string& place,
                                         bool (*is_leftover)(std::string_view)) {
    auto entries = os_.list(fd_.get(), place);
    if (!entries) {
        return entries.error().code() == Errc::not_found ? Result<>() : Result<>(entries.error());
    }
    for (const DirectoryEntry& entry : *entries) {
        if (entry.is_directory || !is_leftover(entry.name)) {
            continue;
        }
        const std::string name = place.empty() ? entry.name : place + "/" + entry.name;
        if (auto gone = os_.remove(fd_.get(), name); !gone) {
            return gone;
        }
        removed_.push_back(name);
    }
    return {};
}

Result<> Repository::open_tip() {
    auto text = read_small(os_, fd_.get(), kTip, kMaxTipEver);
    if (!text) {
        return text.error();
    }
    // Replaced as a whole when it is new (its folder must be synced), long, torn or unreadable.
    const auto id = last_id(*text);
    if (text->empty() || text->size() > kMaxTip || !id || !text->ends_with(id->hex() + "\n")) {
        const std::string line = id ? id->hex() + "\n" : "\n";
        if (auto written = write_file_durably(os_, fd_.get(), kTip, line, kFileMode); !written) {
            return written;
        }
    }
    auto fd = os_.open_beneath(fd_.get(), kTip, OpenMode::append, kFileMode);
    if (!fd) {
        return fd.error();
    }
    tip_ = std::move(*fd);
    return {};
}

Result<std::vector<GitId>> Repository::tip_candidates() {
    auto tip = read_small(os_, fd_.get(), kTip, kMaxTipEver);
    auto ref = read_small(os_, fd_.get(), kRef, kMaxTip);
    auto packed = read_small(os_, fd_.get(), "packed-refs", kMaxPackedRefs);
    for (const auto* text : {&tip, &ref, &packed}) {
        if (!*text) {
            return text->error();
        }
    }
    std::vector<GitId> candidates;
    for (const auto& id : {last_id(*tip), last_id(*ref), packed_id(*packed)}) {
        if (id && std::find(candidates.begin(), candidates.end(), *id) == candidates.end()) {
            candidates.push_back(*id);
        }
    }
    return candidates;
}

bool Repository::ref_is(const GitId& commit) {
    const auto ref = read_small(os_, fd_.get(), kRef, kMaxTip);
    return ref && *ref == commit.hex() + "\n";
}

Result<> Repository::append_tip(const GitId& commit) {
    const std::string line = (tip_is_torn_ ? "\n" : "") + commit.hex() + "\n";
    if (auto written = os_.write_all(tip_.get(), line); !written) {
        tip_is_torn_ = true;
        return written;
    }
    tip_is_torn_ = false;
    if (auto synced = os_.data_sync(tip_.get()); !synced) {
        note_failure(synced.error());
        return synced;
    }
    return {};
}

void Repository::note_failure(const Error& error) {
    const std::lock_guard lock(failure_mutex_);
    failure_ = error.message();
}

/// Not followed by a sync of its folder: what a power cut takes back here, the tip's line gives
/// again at the next start.
Result<> Repository::write_ref(const GitId& commit, RefSync sync) {
    auto file = os_.open_beneath(fd_.get(), kNewRef, OpenMode::create_new, kFileMode);
    if (!file && file.error().code() == Errc::conflict) {  // of a failed attempt
        if (auto gone = os_.remove(fd_.get(), kNewRef); !gone) {
            return gone;
        }
        file = os_.open_beneath(fd_.get(), kNewRef, OpenMode::create_new, kFileMode);
    }
    if (!file) {
        return file.error();
    }
    Result<> done = os_.write_all(file->get(), commit.hex() + "\n");
    if (done && sync == RefSync::yes) {
        done = os_.full_sync(file->get());
        if (!done && done.error().code() != Errc::full) {
            note_failure(done.error());
        }
    }
    if (done) {
        done = os_.rename_over(fd_.get(), kNewRef, kRef);
    }
    if (!done) {
        const Result<> ignored = os_.remove(fd_.get(), kNewRef);
    }
    return done;
}

Result<> Repository::move_tip(const GitId& commit, Moved* moved) {
    *moved = Moved::no;
    if (auto appended = append_tip(commit); !appended) {
        return appended.error().during("move the checkpoints' tip");
    }
    *moved = Moved::durable;
    if (auto written = write_ref(commit, RefSync::yes); !written) {
        return written.error().during("write the checkpoints' ref");
    }
    return {};
}

std::optional<std::string> Repository::failure() const {
    {
        const std::lock_guard lock(failure_mutex_);
        if (failure_) {
            return failure_;
        }
    }
    return objects_ && objects_->disk_failed()
               ? std::optional<std::string>("a checkpoint object could not be synced")
               : std::nullopt;
}

}  // namespace daybook
