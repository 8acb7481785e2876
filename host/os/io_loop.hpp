// The I/O thread's loop: Boost.Asio behind a small door, so that one file compiles it.
//
// Callbacks run on the I/O thread, one at a time, and must be short: decode, post, return. Thread:
// [any] unless said.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace daybook {

/// Stops the watch or timer when it goes; safe from any thread. A callback that is running on the
/// I/O thread is waited for (unless the watch goes inside it), so hold no mutex that the callback
/// takes. Must not outlive its loop.
class Watch {
  public:
    Watch() = default;
    virtual ~Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    Watch(Watch&&) = delete;
    Watch& operator=(Watch&&) = delete;
};

class IoLoop {
  public:
    IoLoop();
    ~IoLoop();
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;
    IoLoop(IoLoop&&) = delete;
    IoLoop& operator=(IoLoop&&) = delete;

    /// Runs callbacks on the calling thread until stop(). That thread is the I/O thread.
    void run();
    void stop();
    void post(std::function<void()> task);
    /// Whether the caller is on the I/O thread.
    [[nodiscard]] bool on_loop_thread() const noexcept;

    enum class Ready { read, write };
    /// Calls back each time the descriptor is ready, until the watch goes. The descriptor must
    /// outlive the watch. It is watched through a duplicate of its own, so one descriptor may have
    /// a watch for reading and one for writing. A descriptor that cannot be watched (closed, a
    /// regular file) is called back once, so that its user meets the error.
    [[nodiscard]] std::unique_ptr<Watch> watch(int fd, Ready what, std::function<void()> callback);
    /// Calls back once after the time.
    [[nodiscard]] std::unique_ptr<Watch> after(std::chrono::nanoseconds delay,
                                               std::function<void()> callback);
    /// Calls back for each of the signals (SIGTERM, SIGHUP, ...).
    [[nodiscard]] std::unique_ptr<Watch> on_signals(std::vector<int> signals,
                                                    std::function<void(int)> callback);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace daybook
