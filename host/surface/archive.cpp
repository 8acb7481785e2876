#include "host/surface/archive.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "host/checkpoint/commit_record.hpp"
#include "host/format/sha256_stream.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;
constexpr unsigned kFolderMode = 0700;

Error system_error(const std::string& what) {
    const int reason = errno;
    return Error(reason == ENOSPC || reason == EDQUOT ? Errc::full
                 : reason == EEXIST                   ? Errc::conflict
                                                      : Errc::io,
                 what + ": " + std::generic_category().message(reason));
}

/// Splits "a/b" into "a" and "b"; "b" into "" and "b".
std::pair<std::string, std::string> split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::pair(std::string(), path)
                                      : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

class TarArchive final : public Archive {
  public:
    TarArchive(Os& os, UniqueFd folder, std::string name, UniqueFd file)
        : os_(os), folder_(std::move(folder)), name_(std::move(name)), file_(std::move(file)) {}
    ~TarArchive() override {
        if (!is_sealed_) {
            const Result<> ignored = os_.remove(folder_.get(), temporary());
        }
    }
    TarArchive(const TarArchive&) = delete;
    TarArchive& operator=(const TarArchive&) = delete;
    TarArchive(TarArchive&&) = delete;
    TarArchive& operator=(TarArchive&&) = delete;

    static Result<std::unique_ptr<Archive>> create(Os& os, const fs::path& place) {
        auto folder = os.open_root(place.has_parent_path() ? place.parent_path() : ".");
        if (!folder) {
            return folder.error();
        }
        const std::string name = place.filename().string();
        if (os.stat_beneath(folder->get(), name)) {
            return Error(Errc::conflict, place.string() + " is there already");
        }
        const Result<> ignored = os.remove(folder->get(), name + ".daybook~");  // of a stopped one
        auto file = os.open_beneath(folder->get(), name + ".daybook~", OpenMode::create_new, 0600);
        if (!file) {
            return file.error();
        }
        return std::unique_ptr<Archive>(
            new TarArchive(os, std::move(*folder), name, std::move(*file)));
    }

  protected:
    Result<> begin(const TarEntry& entry) override {
        auto head = tar_header(entry);
        return head ? os_.write_all(file_.get(), *head) : Result<>(head.error());
    }
    Result<> put(std::string_view bytes) override { return os_.write_all(file_.get(), bytes); }
    Result<> end(const TarEntry& entry) override {
        return entry.kind == 'f' ? os_.write_all(file_.get(), tar_padding(entry.bytes))
                                 : Result<>();
    }
    Result<> seal_content() override { return {}; }  // one file: all of it or nothing
    Result<> seal() override {
        Result<> done = os_.write_all(file_.get(), tar_end());
        done = done ? os_.full_sync(file_.get()) : done;
        done = done ? os_.rename_new(folder_.get(), temporary(), name_) : done;
        is_sealed_ = done.has_value();
        return done ? os_.full_sync(folder_.get()) : done;
    }

  private:
    [[nodiscard]] std::string temporary() const { return name_ + ".daybook~"; }
    Os& os_;
    UniqueFd folder_;
    std::string name_;
    UniqueFd file_;
    bool is_sealed_ = false;
};

class FolderArchive final : public Archive {
  public:
    FolderArchive(Os& os, UniqueFd folder) : os_(os), folder_(std::move(folder)) {}

    static Result<std::unique_ptr<Archive>> create(Os& os, const fs::path& place) {
        std::error_code error;
        if (::mkdir(place.c_str(), kFolderMode) != 0 && errno != EEXIST) {
            return system_error("make folder " + place.string());
        }
        if (!fs::is_empty(place, error) || error) {
            return Error(Errc::conflict, "the folder " + place.string() + " is not empty");
        }
        auto folder = os.open_root(place);
        return folder ? Result<std::unique_ptr<Archive>>(
                            std::make_unique<FolderArchive>(os, std::move(*folder)))
                      : folder.error();
    }

  protected:
    Result<> begin(const TarEntry& entry) override {
        const auto [above, name] = split(entry.path);
        if (!above.empty()) {
            if (auto made = make_directories(os_, folder_.get(), above, kFolderMode); !made) {
                return made;
            }
        }
        if (entry.kind == 'd') {
            return make_directories(os_, folder_.get(), entry.path, kFolderMode);
        }
        if (entry.kind == 'l') {
            auto dir =
                os_.open_beneath(folder_.get(), above.empty() ? "." : above, OpenMode::directory);
            if (!dir) {
                return dir.error();
            }
            return ::symlinkat(entry.link.c_str(), dir->get(), name.c_str()) == 0
                       ? Result<>()
                       : Result<>(system_error("link " + entry.path));
        }
        auto file = os_.open_beneath(folder_.get(), entry.path, OpenMode::create_new, 0600);
        if (!file) {
            return file.error();
        }
        file_ = std::move(*file);
        return {};
    }
    Result<> put(std::string_view bytes) override { return os_.write_all(file_.get(), bytes); }
    Result<> end(const TarEntry& entry) override {
        Result<> done;
        if (entry.kind == 'f') {
            done = os_.set_mode(file_.get(), entry.mode);
            done = done ? os_.full_sync(file_.get()) : done;
            file_.reset();
        }
        return done;
    }
    Result<> seal() override { return os_.full_sync(folder_.get()); }
    Result<> seal_content() override {
        return ::syncfs(folder_.get()) == 0 ? Result<>()
                                            : Result<>(system_error("sync the backup"));
    }

  private:
    Os& os_;
    UniqueFd folder_;
    UniqueFd file_;
};

class TarFileReader final : public ArchiveReader {
  public:
    TarFileReader(Os& os, UniqueFd file) : os_(os), file_(std::move(file)) {}

    Result<bool> next(TarEntry& entry) override {
        for (;;) {
            auto block = os_.read_at(file_.get(), at_, kTarBlock);
            if (!block) {
                return block.error();
            }
            at_ += kTarBlock;
            auto wants = reader_.take(*block);
            if (!wants) {
                return wants.error();
            }
            if (*wants == TarReader::Wants::end) {
                return false;
            }
            if (*wants == TarReader::Wants::content) {
                entry = reader_.entry();
                left_ = entry.kind == 'f' ? entry.bytes : 0;
                padding_ = tar_padding(left_).size();
                return true;
            }
        }
    }
    Result<std::string> read() override {
        if (left_ == 0) {
            at_ += std::exchange(padding_, 0);
            return std::string();
        }
        constexpr std::uint64_t kPiece = 1UL << 20;
        auto piece = os_.read_at(
            file_.get(), at_, static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, left_)));
        if (piece && piece->empty()) {
            return Error(Errc::corrupt, "the archive ends in the middle");
        }
        if (piece) {
            at_ += piece->size();
            left_ -= piece->size();
        }
        return piece;
    }

  private:
    Os& os_;
    UniqueFd file_;
    TarReader reader_;
    std::uint64_t at_ = 0;
    std::uint64_t left_ = 0;
    std::size_t padding_ = 0;
};

/// Walks the folder; the manifest comes last, as in a file.
class FolderReader final : public ArchiveReader {
  public:
    FolderReader(Os& os, fs::path place, UniqueFd folder)
        : os_(os),
          place_(std::move(place)),
          folder_(std::move(folder)),
          walk_(place_, fs::directory_options::none) {}

    Result<bool> next(TarEntry& entry) override {
        std::error_code error;
        for (; !error && walk_ != fs::recursive_directory_iterator(); walk_.increment(error)) {
            const std::string path = walk_->path().lexically_relative(place_).string();
            if (path != kManifestName) {
                auto opened = take(path, entry);
                walk_.increment(error);
                return opened ? Result<bool>(true) : opened.error();
            }
        }
        if (error) {
            return Error(Errc::io, "read " + place_.string() + ": " + error.message());
        }
        if (std::exchange(gave_manifest_, true)) {
            return false;
        }
        auto opened = take(std::string(kManifestName), entry);
        return opened ? Result<bool>(true) : opened.error();
    }
    Result<std::string> read() override {
        constexpr std::size_t kPiece = 1UL << 20;
        if (!file_) {
            return std::string();
        }
        auto piece = os_.read_at(file_.get(), at_, kPiece);
        at_ += piece ? piece->size() : 0;
        return piece;
    }

  private:
    Result<> take(const std::string& path, TarEntry& entry) {
        auto status = os_.stat_beneath(folder_.get(), path);
        if (!status) {
            return status.error();
        }
        entry = TarEntry();
        entry.path = path;
        entry.mode = status->st_mode & 07777U;
        entry.modified = status->st_mtim.tv_sec;
        file_.reset();
        at_ = 0;
        if (S_ISDIR(status->st_mode)) {
            entry.kind = 'd';
            return {};
        }
        if (S_ISLNK(status->st_mode)) {
            std::error_code error;
            entry.kind = 'l';
            entry.link = fs::read_symlink(place_ / path, error).string();
            return error ? Result<>(Error(Errc::io, "read link " + path)) : Result<>();
        }
        auto file = os_.open_beneath(folder_.get(), path, OpenMode::read);
        if (!file) {
            return file.error();
        }
        entry.bytes = static_cast<std::uint64_t>(status->st_size);
        file_ = std::move(*file);
        return {};
    }

    Os& os_;
    fs::path place_;
    UniqueFd folder_;
    UniqueFd file_;
    fs::recursive_directory_iterator walk_;
    std::uint64_t at_ = 0;
    bool gave_manifest_ = false;
};

}  // namespace

Result<std::unique_ptr<Archive>> Archive::create(Os& os, const fs::path& place) {
    std::error_code error;
    const bool is_folder = fs::is_directory(place, error) || !place.has_filename();
    const fs::path named = place.has_filename() ? place : place.parent_path();
    auto made = is_folder ? FolderArchive::create(os, named) : TarArchive::create(os, named);
    return made ? std::move(made) : made.error().during("back up to " + named.string());
}

Result<> Archive::add_file(const TarEntry& entry, const Pull& pull) {
    if (auto begun = begin(entry); !begun) {
        return begun;
    }
    Sha256Stream hash;
    std::uint64_t left = entry.bytes;
    while (left > 0) {
        auto piece = pull();
        if (!piece) {
            return piece.error();
        }
        if (piece->empty()) {
            return Error(Errc::corrupt, entry.path + " got shorter while it was copied");
        }
        if (piece->size() > left) {
            piece->resize(left);
        }
        hash.add(*piece);
        if (auto done = put(*piece); !done) {
            return done;
        }
        left -= piece->size();
    }
    bytes_ += entry.bytes;
    files_.push(Json::array({quote_path(entry.path),
                             static_cast<std::int64_t>(entry.bytes),
                             hash.finish(),
                             static_cast<std::int64_t>(entry.mode)}));
    return end(entry);
}

Result<> Archive::add_text(TarEntry entry, std::string_view text) {
    entry.bytes = text.size();
    return add_file(entry, [text]() -> Result<std::string> { return std::string(text); });
}

Result<> Archive::add_folder(const TarEntry& entry) {
    folders_.push(Json::array({quote_path(entry.path), static_cast<std::int64_t>(entry.mode)}));
    auto begun = begin(entry);
    return begun ? end(entry) : begun;
}

Result<> Archive::add_link(const TarEntry& entry) {
    auto begun = begin(entry);
    return begun ? end(entry) : begun;
}

Result<> Archive::finish(Json manifest) {
    manifest.set("folders", std::exchange(folders_, Json::array()));
    manifest.set("files", std::exchange(files_, Json::array()));
    const std::string text = manifest.dump() + "\n";
    TarEntry entry;
    entry.path = std::string(kManifestName);
    if (auto synced = seal_content(); !synced) {
        return synced;
    }
    auto added = add_text(entry, text);
    return added ? seal() : added;
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(Os& os, const fs::path& place) {
    std::error_code error;
    const std::string doing = "read the backup " + place.string();
    if (!fs::is_directory(place, error)) {
        auto folder = os.open_root(place.has_parent_path() ? place.parent_path() : ".");
        auto file = folder
                        ? os.open_beneath(folder->get(), place.filename().string(), OpenMode::read)
                        : Result<UniqueFd>(folder.error());
        if (!file) {
            return file.error().during(doing);
        }
        return std::unique_ptr<ArchiveReader>(new TarFileReader(os, std::move(*file)));
    }
    if (!fs::exists(place / kManifestName, error)) {
        return Error(Errc::corrupt, doing + ": it has no manifest, so it is no whole backup");
    }
    auto folder = os.open_root(place);
    if (!folder) {
        return folder.error().during(doing);
    }
    return std::unique_ptr<ArchiveReader>(new FolderReader(os, place, std::move(*folder)));
}

}  // namespace daybook
