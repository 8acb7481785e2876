// A read lease on a file (fcntl F_SETLEASE): whether somebody has it open for writing, and while
// the lease is held the next one who wants to waits until it is given back.
//
// Only on local file systems and for the file's owner (or CAP_LEASE): where the kernel refuses, the
// state is `unknown` and nothing is held. A bonus, never a guarantee. Thread: [any].
#pragma once

namespace daybook {

class FileLease {
  public:
    enum class State { held, open_for_writing, unknown };

    /// `fd` is open for reading only, and outlives the lease.
    static FileLease take(int fd) noexcept;
    FileLease(FileLease&& other) noexcept;
    FileLease& operator=(FileLease&&) = delete;
    FileLease(const FileLease&) = delete;
    FileLease& operator=(const FileLease&) = delete;
    ~FileLease();

    [[nodiscard]] State state() const noexcept { return state_; }

  private:
    FileLease(int fd, State state) noexcept : fd_(fd), state_(state) {}
    int fd_;
    State state_;
};

}  // namespace daybook
