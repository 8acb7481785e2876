// A backup as it is written: entries one after the other, into one tar file or into a folder.
//
// Nothing has the backup's name before it is whole: a file is written under a temporary name and
// renamed; a folder gets its manifest last, and what has none is no backup. Thread: one at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/format/tar.hpp"
#include "host/os/os.hpp"

namespace daybook {

inline constexpr std::string_view kManifestName = "manifest.json";

class Archive {
  public:
    /// A folder when one is there or `place` ends in "/", else a file. Errors: conflict (it is
    /// there already, or the folder holds something), io, full.
    static Result<std::unique_ptr<Archive>> create(Os& os, const std::filesystem::path& place);
    virtual ~Archive() = default;
    Archive() = default;
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;
    Archive(Archive&&) = delete;
    Archive& operator=(Archive&&) = delete;

    /// A file whose content comes from `pull` until it gives "" or `entry.bytes` have come; a
    /// content that ends early is an error (corrupt). Errors: those of `pull`; full, io.
    using Pull = std::function<Result<std::string>()>;
    Result<> add_file(const TarEntry& entry, const Pull& pull);
    Result<> add_text(TarEntry entry, std::string_view text);
    Result<> add_folder(const TarEntry& entry);
    Result<> add_link(const TarEntry& entry);
    /// Adds the manifest, makes all of it durable and gives it its name. Errors: full, io.
    Result<> finish(Json manifest);

    /// Files so far as the manifest has them: [path, bytes, sha256, mode].
    [[nodiscard]] const Json& files() const noexcept { return files_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  protected:
    virtual Result<> begin(const TarEntry& entry) = 0;
    virtual Result<> put(std::string_view bytes) = 0;
    virtual Result<> end(const TarEntry& entry) = 0;
    /// Before the manifest: what it speaks of is durable.
    virtual Result<> seal_content() = 0;
    virtual Result<> seal() = 0;

  private:
    Json files_ = Json::array();
    Json folders_ = Json::array();  ///< [path, mode]
    std::uint64_t bytes_ = 0;
};

/// A backup as it is read back.
class ArchiveReader {
  public:
    /// Errors: not_found, corrupt (a folder without a manifest), io.
    static Result<std::unique_ptr<ArchiveReader>> open(Os& os, const std::filesystem::path& place);
    virtual ~ArchiveReader() = default;
    ArchiveReader() = default;
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;
    ArchiveReader(ArchiveReader&&) = delete;
    ArchiveReader& operator=(ArchiveReader&&) = delete;

    /// False: there is none left. The content of the last one must have been read.
    /// Errors: corrupt, io.
    virtual Result<bool> next(TarEntry& entry) = 0;
    /// Of the entry's content; "" at its end. Errors: corrupt, io.
    virtual Result<std::string> read() = 0;
};

}  // namespace daybook
