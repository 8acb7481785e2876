// A plugin's private folder for one desk, scratch/<plugin>/<desk>/: made, looked through, measured
// and emptied by the host. Nothing of record lies there; the runner of profile scratch writes below
// it and nowhere else.
//
// The kernel bounds a single file only (RLIMIT_FSIZE). The total is looked at by the host, before a
// start, with every scratch/1 verb and while a call runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <daybook/result.hpp>

namespace daybook {

struct ScratchBounds {
    std::uint64_t max_bytes = 2UL << 30U;  ///< blocks of all files together, and of the largest
    std::uint64_t max_files = 20000;       ///< files and folders
    std::uint64_t reserve_bytes = 0;       ///< the filesystem must keep so much free
};

/// Thread: [desk]; never followed through a link, never used for what lies outside.
class ScratchFolder {
  public:
    /// `state` is the state folder, absolute.
    ScratchFolder(std::filesystem::path state,
                  const std::string& plugin,
                  const std::string& desk,
                  ScratchBounds bounds);

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] const ScratchBounds& bounds() const noexcept { return bounds_; }

    /// Before a start: makes the folder where it is missing, and refuses it, by name, when a link,
    /// a file with a second link, a device, a socket or a fifo lies in it. One that is over its
    /// bounds is emptied. Returns a sentence for the log, or "". Errors: refused, io.
    Result<std::string> prepare();
    /// Bytes on the disk below it. Errors: full (over its bounds), io.
    [[nodiscard]] Result<std::uint64_t> measure() const;
    /// While a call runs: also whether the filesystem keeps its reserve. Errors: full, io.
    [[nodiscard]] Result<> check() const;

  private:
    std::filesystem::path state_;
    std::filesystem::path path_;
    std::string shown_;  ///< "scratch/search/main"
    ScratchBounds bounds_;
};

}  // namespace daybook
