// An Os that fails where a test wants it to.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/os/os.hpp"

namespace daybook::test {

/// Counts every call of the Os behind it and makes the nth fail (from 1), without doing it. A
/// failed write does half of its bytes first, as a full disk does. Thread: [any].
class FaultOs final : public Os {
  public:
    explicit FaultOs(Os& real) : real_(real) {}

    /// The nth call from now fails with `code`, once.
    void fail_call(std::uint64_t nth, Errc code = Errc::io) {
        calls_ = 0;
        fails_at_ = nth;
        until_ = nth;
        code_ = code;
    }
    /// Every call from the nth on fails.
    void fail_from(std::uint64_t nth, Errc code = Errc::io) {
        fail_call(nth, code);
        until_ = std::numeric_limits<std::uint64_t>::max();
    }
    /// Every data_sync and full_sync fails.
    void fail_syncs(bool on) { fail_syncs_ = on; }
    /// Every write, and every file that would be made, fails with `full`.
    void fill_disk(bool on) { disk_full_ = on; }
    /// Syncs succeed at once without reaching the disk: for tests of many rounds that are about
    /// something else.
    void skip_syncs(bool on) { skip_syncs_ = on; }
    /// Somebody else's doing right before and right after the next exchange.
    void around_exchange(std::function<void()> before, std::function<void()> after) {
        before_exchange_ = std::move(before);
        after_exchange_ = std::move(after);
    }
    void heal() {
        fails_at_ = 0;
        until_ = 0;
        fail_syncs_ = false;
        disk_full_ = false;
    }
    [[nodiscard]] std::uint64_t calls() const { return calls_; }
    [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
    /// Whether the call to fail was reached.
    [[nodiscard]] bool struck() const { return fails_at_ != 0 && calls_ >= fails_at_; }

    Result<UniqueFd> open_root(const std::filesystem::path& path) override {
        return struck_now() ? Result<UniqueFd>(error("open")) : real_.open_root(path);
    }
    Result<UniqueFd> open_beneath(int dir,
                                  std::string_view path,
                                  OpenMode mode,
                                  unsigned permissions) override {
        if (struck_now()) {
            return error("open");
        }
        if (disk_full_ && mode == OpenMode::create_new) {
            return Error(Errc::full, "open: injected: no space");
        }
        return real_.open_beneath(dir, path, mode, permissions);
    }
    Result<struct stat> stat_of(int fd) override {
        return struck_now() ? Result<struct stat>(error("stat")) : real_.stat_of(fd);
    }
    Result<struct stat> stat_beneath(int dir, std::string_view path) override {
        return struck_now() ? Result<struct stat>(error("stat")) : real_.stat_beneath(dir, path);
    }
    Result<std::string> read_all(int fd, std::size_t max_bytes) override {
        return struck_now() ? Result<std::string>(error("read")) : real_.read_all(fd, max_bytes);
    }
    Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t max_bytes) override {
        return struck_now() ? Result<std::string>(error("read"))
                            : real_.read_at(fd, offset, max_bytes);
    }
    Result<> write_all(int fd, std::string_view bytes) override {
        const bool struck = struck_now();
        if (!struck && !disk_full_) {
            return real_.write_all(fd, bytes);
        }
        const Result<> half = real_.write_all(fd, bytes.substr(0, bytes.size() / 2));
        return struck ? error("write") : Error(Errc::full, "write: injected: no space");
    }
    Result<> data_sync(int fd) override {
        ++syncs_;
        if (struck_now() || fail_syncs_) {
            return error("sync");
        }
        return skip_syncs_ ? Result<>() : real_.data_sync(fd);
    }
    Result<> full_sync(int fd) override {
        ++syncs_;
        if (struck_now() || fail_syncs_) {
            return error("sync");
        }
        return skip_syncs_ ? Result<>() : real_.full_sync(fd);
    }
    Result<> truncate(int fd, std::uint64_t bytes) override {
        return struck_now() ? Result<>(error("cut")) : real_.truncate(fd, bytes);
    }
    Result<> set_mode(int fd, unsigned permissions) override {
        return struck_now() ? Result<>(error("set mode")) : real_.set_mode(fd, permissions);
    }
    Result<> exchange(int dir, std::string_view a, std::string_view b) override {
        if (struck_now()) {
            return error("exchange");
        }
        if (before_exchange_) {
            std::exchange(before_exchange_, nullptr)();
        }
        auto done = real_.exchange(dir, a, b);
        if (after_exchange_) {
            std::exchange(after_exchange_, nullptr)();
        }
        return done;
    }
    Result<> rename_new(int dir, std::string_view from, std::string_view to) override {
        return struck_now() ? Result<>(error("rename")) : real_.rename_new(dir, from, to);
    }
    Result<> rename_over(int dir, std::string_view from, std::string_view to) override {
        return struck_now() ? Result<>(error("rename")) : real_.rename_over(dir, from, to);
    }
    Result<> remove(int dir, std::string_view path) override {
        return struck_now() ? Result<>(error("remove")) : real_.remove(dir, path);
    }
    Result<> make_directory(int dir, std::string_view path, unsigned permissions) override {
        if (struck_now()) {
            return error("make folder");
        }
        if (disk_full_ && !real_.stat_beneath(dir, path)) {
            return Error(Errc::full, "make folder: injected: no space");
        }
        return real_.make_directory(dir, path, permissions);
    }
    Result<std::vector<DirectoryEntry>> list(int dir, std::string_view path) override {
        return struck_now() ? Result<std::vector<DirectoryEntry>>(error("list"))
                            : real_.list(dir, path);
    }
    Result<> lock(int fd) override {
        return struck_now() ? Result<>(error("lock")) : real_.lock(fd);
    }
    Result<std::uint64_t> free_bytes(int dir) override {
        return struck_now() ? Result<std::uint64_t>(error("free space")) : real_.free_bytes(dir);
    }

  private:
    bool struck_now() {
        const std::uint64_t call = ++calls_;
        const std::uint64_t first = fails_at_;
        return first != 0 && call >= first && call <= until_;
    }
    [[nodiscard]] Error error(std::string_view operation) const {
        return Error(code_.load(), std::string(operation) + ": injected failure");
    }

    std::function<void()> before_exchange_, after_exchange_;
    Os& real_;
    std::atomic<std::uint64_t> calls_{0};
    std::atomic<std::uint64_t> syncs_{0};
    std::atomic<std::uint64_t> fails_at_{0};
    std::atomic<std::uint64_t> until_{0};
    std::atomic<Errc> code_{Errc::io};
    std::atomic<bool> fail_syncs_{false};
    std::atomic<bool> skip_syncs_{false};
    std::atomic<bool> disk_full_{false};
};

}  // namespace daybook::test
