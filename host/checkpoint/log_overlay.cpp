#include "host/checkpoint/log_overlay.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <tuple>

#include "host/checkpoint/folder_tree.hpp"
#include "host/checkpoint/record_log.hpp"
#include "host/checkpoint/record_replay.hpp"
#include "host/checkpoint/staged_objects.hpp"

namespace daybook {
namespace {

constexpr std::array<const char*, 2> kFiles = {"daybook.records", "daybook.records-wal"};
constexpr std::size_t kMaxFile = 1024UL * 1024 * 1024;

/// A folder of our own that goes with this.
class CopyFolder {
  public:
    static Result<CopyFolder> make(Os& os) {
        std::error_code error;
        const auto root = std::filesystem::temp_directory_path(error);
        if (error) {
            return Error(Errc::io, "find the folder for temporary files: " + error.message());
        }
        auto root_fd = os.open_root(root);
        if (!root_fd) {
            return root_fd.error();
        }
        CopyFolder made;
        const std::string name = "daybook-" + random_hex(8);
        if (auto done = os.make_directory(root_fd->get(), name, 0700); !done) {
            return done.error();
        }
        made.path_ = root / name;
        auto fd = os.open_root(made.path_);
        if (!fd) {
            return fd.error();
        }
        made.fd_ = std::move(*fd);
        return made;
    }
    ~CopyFolder() {
        std::error_code ignored;
        if (!path_.empty()) {
            std::filesystem::remove_all(path_, ignored);
        }
    }
    CopyFolder(CopyFolder&& other) noexcept
        : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)) {}
    CopyFolder& operator=(CopyFolder&&) = delete;
    CopyFolder(const CopyFolder&) = delete;
    CopyFolder& operator=(const CopyFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] int fd() const { return fd_.get(); }

  private:
    CopyFolder() = default;
    std::filesystem::path path_;
    UniqueFd fd_;
};

/// What changes when the file does; zeros when it is not there.
using Mark = std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;

Result<std::array<Mark, 2>> marks_of(Os& os, int folder_fd) {
    std::array<Mark, 2> marks{};
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
        auto status = os.stat_beneath(folder_fd, kFiles[i]);
        if (!status && status.error().code() != Errc::not_found) {
            return status.error();
        }
        if (status) {
            marks[i] = {
                status->st_ino, status->st_size, status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
        }
    }
    return marks;
}

Result<> copy_files(Os& os, int from, int to) {
    for (const char* name : kFiles) {
        if (auto gone = os.remove(to, name); !gone && gone.error().code() != Errc::not_found) {
            return gone;
        }
        auto bytes = read_file(os, from, name, kMaxFile);
        if (!bytes && bytes.error().code() == Errc::not_found) {
            continue;
        }
        if (!bytes) {
            return bytes.error();
        }
        auto file = os.open_beneath(to, name, OpenMode::append, 0600);
        if (!file) {
            return file.error();
        }
        if (auto written = os.write_all(file->get(), *bytes); !written) {
            return written;
        }
    }
    return {};
}

/// Both files as they were at one instant. False: they changed at every look.
Result<bool> copy_of_one_instant(Os& os, int from, int to) {
    constexpr int kLooks = 8;
    for (int look = 0; look < kLooks; ++look) {
        auto before = marks_of(os, from);
        auto copied = before ? copy_files(os, from, to) : Result<>(before.error());
        auto after = copied ? marks_of(os, from) : copied.error();
        if (!after) {
            return after.error();
        }
        if (*before == *after) {
            return true;
        }
    }
    return false;
}

Result<RecordLog::Left> read_copy(Os& os, int folder_fd) {
    auto there = os.stat_beneath(folder_fd, kFiles[0]);
    if (!there) {
        return there.error().code() == Errc::not_found ? Result<RecordLog::Left>(RecordLog::Left())
                                                       : there.error();
    }
    auto copy = CopyFolder::make(os);
    if (!copy) {
        return copy.error();
    }
    auto is_still = copy_of_one_instant(os, folder_fd, copy->fd());
    if (!is_still || !*is_still) {
        return is_still ? Result<RecordLog::Left>(RecordLog::Left()) : is_still.error();
    }
    RecordLog log(os, copy->path(), copy->fd());
    return log.read_all();
}

Result<> replay_into(GitObjects& objects, const RecordLog::Left& left, LogOverlay& overlay) {
    auto parent = parent_of_records(left.records);
    if (!parent || !*parent) {
        return parent ? Result<>() : Result<>(parent.error());
    }
    auto bytes = objects.read(**parent, GitType::commit);
    auto commit = bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
    auto tree = commit ? FolderTree::load(objects, commit->tree)
                       : Result<FolderTree>(Error(Errc::corrupt, commit.error().message()));
    if (!tree) {
        return tree.error().during("read the commit that the record log stands on");
    }
    for (const auto& [path, file] : tree->files()) {
        if (is_of_one_commit(path)) {
            tree->remove(path);
        }
    }
    RecordReplay replay(objects, *tree);
    std::optional<GitId> at = *parent;
    for (const LogRecord& record : left.records) {
        auto made = replay.apply(record, at);
        if (!made) {
            return made.error();
        }
        at = *made ? (*made)->id : at;
    }
    overlay.tip = at;
    return {};
}

}  // namespace

Result<LogOverlay> read_log_overlay(Os& os,
                                    const std::filesystem::path& repository,
                                    int folder_fd) {
    const std::string doing = "read the record log of " + repository.string();
    LogOverlay overlay;
    overlay.staged = std::make_shared<StagedObjects>();
    auto left = read_copy(os, folder_fd);
    if (!left) {
        return left.error().during(doing);
    }
    overlay.records = left->records.size();
    overlay.is_unclean = left->is_unclean;
    if (left->records.empty()) {
        return overlay;
    }
    auto fd = os.open_beneath(folder_fd, "objects", OpenMode::directory);
    if (!fd) {
        return fd.error().during(doing);
    }
    auto objects = GitObjects::open(os, repository / "objects", fd->get(), overlay.staged);
    if (!objects) {
        return objects.error().during(doing);
    }
    (*objects)->set_staging(true);
    if (auto done = replay_into(**objects, *left, overlay); !done) {
        return done.error().during(doing);
    }
    return overlay;
}

}  // namespace daybook
