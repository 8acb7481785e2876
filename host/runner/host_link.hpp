// The runner's end of the channel: whole messages out from any thread, and requests to the host
// that wait for an answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/daybook.h>
#include <daybook/result.hpp>

#include "host/plugin/channel.hpp"
#include "host/runner/call_table.hpp"

namespace daybook::runner {

class ChannelReader;

/// Thread: [any] unless said.
class HostLink {
  public:
    /// Borrows the socket, which outlives it.
    explicit HostLink(int socket) : socket_(socket) {}

    /// From now on a verb's answer is read by the thread that waits for it, where that may read.
    /// Before any plugin runs.
    void read_answers_with(ChannelReader& reader) { reader_ = &reader; }

    struct Reply {
        daybook_status status = DAYBOOK_OK;
        std::string body;  ///< what the plugin's sink gets
    };

    /// Sends a whole message; blocks while the host does not read. Errors: unavailable (the host is
    /// gone), full.
    Result<> send(const channel::Message& message);
    /// Sends a message of a call, unless the call's last one is out: the host ends a runner that
    /// speaks of a call that is over, and a thread of the plugin must not bring that about by
    /// asking a moment too late. Errors: also not_found.
    Result<> send_of(const LiveCall& call, const channel::Message& message);
    /// Sends the last message of a call.
    Result<> send_last(LiveCall& call, const channel::Message& message);
    /// Asks a verb of the host for a call and waits for the answer. The wait ends with the answer,
    /// with the call, or with the process: the host answers every request of a live call, and kills
    /// a runner past its deadline.
    Reply ask(const LiveCall& call,
              std::string_view verb,
              std::initializer_list<std::string_view> arguments);
    /// Hands the host's answer to whoever waits for it; an answer to a call that is over is
    /// dropped.
    void answer(std::int64_t request, Reply reply);
    /// Ends every wait of a call that is over with NOT_FOUND.
    void abandon(channel::CallId call);

    /// {"error":"not_found","message":"…"} with that status.
    static Reply refusal(daybook_status status, std::string_view message);

  private:
    struct Waiting {
        channel::CallId call = 0;
        std::optional<Reply> reply;
    };

    [[nodiscard]] bool is_answered(std::int64_t request);

    int socket_;
    ChannelReader* reader_ = nullptr;
    std::mutex send_mutex_;  // guards the socket and LiveCall::over: one message's frames follow
                             // each other
    std::mutex mutex_;       // guards waiting_ and next_request_
    std::condition_variable answered_;
    std::map<std::int64_t, Waiting> waiting_;
    std::int64_t next_request_ = 1;
};

}  // namespace daybook::runner
