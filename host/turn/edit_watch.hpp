// When to look for the owner's edits of an open desk: soon after the folder watcher told of one,
// when the editor is done.
//
// A look comes 300 ms after the last event. A file that somebody has written to and not closed is
// waited for, at most 30 s from the first event on; a desk whose files change without end is looked
// at every 5 s. Promptness only: the scan at a turn's start finds what is never told here.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "host/os/clock.hpp"
#include "host/os/folder_watcher.hpp"
#include "host/os/io_loop.hpp"

namespace daybook {

class EditWatch {
  public:
    struct Times {
        std::chrono::milliseconds quiet{300};
        std::chrono::milliseconds busy{5000};
        std::chrono::milliseconds open{30000};
    };
    struct Seen {
        bool everything = false;
        std::map<std::string, bool> paths;  ///< raw path; whether its mode changed
        SteadyTime first{};                 ///< when the first was told
        bool is_last_wait = false;          ///< an open file is waited for no longer
    };

    /// `look` runs on the I/O thread and must only post. The loop outlives the watch.
    EditWatch(IoLoop& loop, std::function<void()> look)
        : EditWatch(loop, std::move(look), Times()) {}
    EditWatch(IoLoop& loop, std::function<void()> look, Times times);
    ~EditWatch();  ///< [any] but [io]; no look comes afterwards
    EditWatch(const EditWatch&) = delete;
    EditWatch& operator=(const EditWatch&) = delete;
    EditWatch(EditWatch&&) = delete;
    EditWatch& operator=(EditWatch&&) = delete;

    void note(const FolderEvent& event);  ///< [io]
    /// What was told since the last call. Thread: [desk].
    Seen take();
    /// It is too early for `seen`: looks again. Thread: [desk].
    void put_back(const Seen& seen);

  private:
    static constexpr std::size_t kMostPaths = 64;  // more are looked at as a whole
    void arm(std::chrono::milliseconds delay);
    void on_timer();
    void add_path(const std::string& path, bool mode);

    IoLoop& loop_;
    const std::function<void()> look_;
    const Times times_;
    std::mutex mutex_;  // guards all below
    Seen seen_;
    std::map<std::string, bool> open_;  ///< written to and not closed
    std::optional<SteadyTime> first_, last_;
    bool armed_ = false;
    bool closed_ = false;
    std::unique_ptr<Watch> timer_;  ///< never released under the mutex
};

}  // namespace daybook
