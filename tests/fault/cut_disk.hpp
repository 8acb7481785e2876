// A disk that can lose its power: an ext4 file system in an image of memory, mounted through a loop
// device. What the file system has written so far is what stands in the image; cut() keeps that and
// drops the rest, as a power cut would. Mounts are of this process's own and end with it.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace daybook::test {

class CutDisk {
  public:
    /// `options` are mount options beside "loop", such as "commit=1".
    explicit CutDisk(const std::string& megabytes = "64", const std::string& options = "");
    ~CutDisk();
    CutDisk(const CutDisk&) = delete;
    CutDisk& operator=(const CutDisk&) = delete;
    CutDisk(CutDisk&&) = delete;
    CutDisk& operator=(CutDisk&&) = delete;

    /// Empty: the disk is there; else why this machine does not allow it.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }
    /// Where it is mounted.
    [[nodiscard]] std::filesystem::path place() const { return folder_ / "disk"; }

    /// Keeps what has reached the disk. Whoever writes must stand still: the image is copied until
    /// two copies agree. False: they never did.
    bool cut();
    /// Takes the disk out and puts the kept image in its place.
    void power_on();

  private:
    void mount_image();
    void unmount();

    TempFolder folder_;
    std::string options_;
    std::string why_not_;
    bool has_memory_ = false;
    bool is_mounted_ = false;
};

}  // namespace daybook::test
