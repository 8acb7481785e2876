// Who reads the channel, so that a call wakes one thread of the runner and not two.
//
// Two threads share the reading. The worker, which runs the plugin, reads while it has nothing to
// run and while a verb that it asked is out: what it waits for then wakes it itself. The standby
// takes the reading over when the worker has been inside the plugin for a while, so that a plugin
// that computes or hangs still gets its cancel and its other threads their answers, and the end of
// the channel ends the process; it gives it back when the worker comes out.
#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/unique_fd.hpp"
#include "host/plugin/channel.hpp"

namespace daybook::runner {

class ChannelReader {
  public:
    /// Takes one whole message; runs on the worker or on the standby, one at a time. An error ends
    /// the process.
    using Take = std::function<Result<>(channel::Message)>;

    /// Borrows the socket. Makes its descriptors here: ends the process with kExitProtocol when
    /// there are none.
    ChannelReader(int socket, Take take);

    /// Reads on the calling thread until `done`, which is looked at after each message. The end of
    /// the channel and a broken protocol end the process. Thread: the worker, outside the plugin.
    void read_until(const std::function<bool()>& done);
    /// The same inside the plugin; false when the standby is reading, or the caller is another
    /// thread: whoever waits then is to wait otherwise. Thread: [any].
    bool try_read_until(const std::function<bool()>& done);
    /// Before and after the plugin's code. Thread: the worker.
    void enter_plugin();
    void leave_plugin();
    /// Runs the task on the standby soon, whoever reads. Thread: whoever takes a message.
    void run_on_standby(std::function<void()> task);
    /// The standby's loop. The thread that calls it is the standby; any other is not.
    [[noreturn]] void stand_by();

  private:
    void read_one();
    void run_tasks();
    void wake_standby_after(long nanoseconds) const;
    void read_for_worker();

    int socket_;
    Take take_;
    UniqueFd timer_;      ///< wakes the standby
    UniqueFd give_up_;    ///< an eventfd: the worker wants the channel back
    std::mutex reading_;  // guards assembler_ and the receiving end of the socket
    channel::Assembler assembler_;
    std::mutex state_;  // guards what follows; taken after reading_, never before it
    bool is_worker_away_ = false;
    bool is_standby_reading_ = false;
    std::vector<std::function<void()>> tasks_;
    std::thread::id worker_;
};

}  // namespace daybook::runner
