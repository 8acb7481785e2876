// An Os that ends its own process (SIGKILL) at one named step of its work.
#pragma once

#include <csignal>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <unistd.h>

#include "host/os/os.hpp"

namespace daybook::test {

/// Where to die: before or right after the first call of this name whose text holds `text`.
struct KillStep {
    std::string call;  ///< "write" (text: the bytes), "rename" (text: the new name), "sync" (of
                       ///< what was written last)
    std::string text;
    bool after = false;
};

/// Thread: [any].
class KillOs final : public Os {
  public:
    explicit KillOs(Os& real) : real_(real) {}

    void arm(KillStep step) {
        const std::lock_guard lock(mutex_);
        step_ = std::move(step);
        armed_ = true;
    }

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
        {
            const std::lock_guard lock(mutex_);
            written_ = bytes;
        }
        return at("write", bytes, [&] { return real_.write_all(fd, bytes); });
    }
    Result<> data_sync(int fd) override {
        return at("sync", last_written(), [&] { return real_.data_sync(fd); });
    }
    Result<> full_sync(int fd) override {
        return at("sync", last_written(), [&] { return real_.full_sync(fd); });
    }
    Result<> truncate(int fd, std::uint64_t bytes) override { return real_.truncate(fd, bytes); }
    Result<> set_mode(int fd, unsigned permissions) override {
        return real_.set_mode(fd, permissions);
    }
    Result<> exchange(int dir, std::string_view a, std::string_view b) override {
        return at("rename", b, [&] { return real_.exchange(dir, a, b); });
    }
    Result<> rename_new(int dir, std::string_view from, std::string_view to) override {
        return at("rename", to, [&] { return real_.rename_new(dir, from, to); });
    }
    Result<> rename_over(int dir, std::string_view from, std::string_view to) override {
        return at("rename", to, [&] { return real_.rename_over(dir, from, to); });
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
    template <class Call>
    Result<> at(std::string_view name, std::string_view text, const Call& call) {
        bool dies = false;
        bool after = false;
        {
            const std::lock_guard lock(mutex_);
            dies = armed_ && step_.call == name && text.find(step_.text) != std::string_view::npos;
            after = step_.after;
        }
        if (dies && !after) {
            ::kill(::getpid(), SIGKILL);
        }
        Result<> done = call();
        if (dies) {
            ::kill(::getpid(), SIGKILL);
        }
        return done;
    }
    std::string last_written() {
        const std::lock_guard lock(mutex_);
        return written_;
    }

    Os& real_;
    std::mutex mutex_;  // guards all below
    bool armed_ = false;
    KillStep step_;
    std::string written_;
};

}  // namespace daybook::test
