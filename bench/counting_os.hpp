// An Os that counts flushes on their way to the one behind it, and can leave them out: for filling
// a home with a past that need not survive a power cut. Thread: as the Os behind it, counts from
// one thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/os/os.hpp"

namespace daybook::bench {

class CountingOs final : public Os {
  public:
    enum class Flushes { pass, leave_out };
    explicit CountingOs(Os& real, Flushes flushes = Flushes::pass)
        : real_(real), passes_(flushes == Flushes::pass) {}

    /// data_sync and full_sync together.
    [[nodiscard]] std::uint64_t flushes() const noexcept { return flushes_; }

    Result<UniqueFd> open_root(const std::filesystem::path& path) override {
        return real_.open_root(path);
    }
    Result<UniqueFd> open_beneath(int dir,
                                  std::string_view path,
                                  OpenMode mode,
                                  unsigned permissions) override {
        return real_.open_beneath(dir, path, mode, permissions);
    }
    Result<struct stat> stat_of(int fd) override { return real_.stat_of(fd); }
    Result<struct stat> stat_beneath(int dir, std::string_view path) override {
        return real_.stat_beneath(dir, path);
    }
    Result<std::string> read_all(int fd, std::size_t max_bytes) override {
        return real_.read_all(fd, max_bytes);
    }
    Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t max_bytes) override {
        return real_.read_at(fd, offset, max_bytes);
    }
    Result<> write_all(int fd, std::string_view bytes) override {
        return real_.write_all(fd, bytes);
    }
    Result<> data_sync(int fd) override {
        ++flushes_;
        return passes_ ? real_.data_sync(fd) : Result<>();
    }
    Result<> full_sync(int fd) override {
        ++flushes_;
        return passes_ ? real_.full_sync(fd) : Result<>();
    }
    Result<> truncate(int fd, std::uint64_t bytes) override { return real_.truncate(fd, bytes); }
    Result<> set_mode(int fd, unsigned permissions) override {
        return real_.set_mode(fd, permissions);
    }
    Result<> exchange(int dir, std::string_view a, std::string_view b) override {
        return real_.exchange(dir, a, b);
    }
    Result<> rename_new(int dir, std::string_view from, std::string_view to) override {
        return real_.rename_new(dir, from, to);
    }
    Result<> rename_over(int dir, std::string_view from, std::string_view to) override {
        return real_.rename_over(dir, from, to);
    }
    Result<> remove(int dir, std::string_view path) override { return real_.remove(dir, path); }
    Result<> make_directory(int dir, std::string_view path, unsigned permissions) override {
        return real_.make_directory(dir, path, permissions);
    }
    Result<std::vector<DirectoryEntry>> list(int dir, std::string_view path) override {
        return real_.list(dir, path);
    }
    Result<> lock(int fd) override { return real_.lock(fd); }
    Result<std::uint64_t> free_bytes(int dir) override { return real_.free_bytes(dir); }

  private:
    Os& real_;
    bool passes_;
    std::uint64_t flushes_ = 0;
};

}  // namespace daybook::bench
