// Copies parts of a state folder into an archive: files and folders as they are, files of lines up
// to a length that was noted before. Nothing is followed. Thread: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/os.hpp"
#include "host/surface/archive.hpp"

namespace daybook {

/// Paths are relative to the state folder. Errors of all: io, full, and as said.
class HomeCopier {
  public:
    /// `state` is `place`, opened; both outlive this, and so does the archive.
    HomeCopier(Os& os, std::filesystem::path place, int state, Archive& archive)
        : os_(os), place_(std::move(place)), state_(state), archive_(archive) {}

    /// Notes how far each `*.jsonl` of the folder goes: whole lines, on the disk. No such folder is
    /// fine.
    Result<> note_lengths(const std::string& folder);
    /// The noted files, up to there.
    Result<> add_lines(const std::string& folder);
    /// All but the files of lines. No such folder is fine.
    Result<> add_small(const std::string& folder);
    /// The folder by itself. Errors: not_found.
    Result<> add_folder(const std::string& path);
    /// A file, a link or a folder with all below it. An owner's file that cannot be read is left
    /// out. Errors: not_found.
    Result<> add_path(const std::string& path);
    void leave_out(const std::string& path, std::string_view why);

    /// What is not in the archive, with the reason, for people.
    [[nodiscard]] const std::vector<std::string>& left_out() const noexcept { return left_out_; }
    /// A name that a write or a lock has while it lasts.
    [[nodiscard]] static bool is_temporary(std::string_view name);

  private:
    Result<std::uint64_t> whole_lines(const std::string& path);
    Result<> add_regular(const std::string& path, std::uint64_t most);

    Os& os_;
    std::filesystem::path place_;
    int state_;
    Archive& archive_;
    std::map<std::string, std::uint64_t> lengths_;
    std::vector<std::string> left_out_;
};

}  // namespace daybook
