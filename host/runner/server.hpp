// Serves the host: one thread, the worker, runs the plugin's functions in the order of their calls;
// another stands by while it does (channel_reader.hpp).
//
// The standby never enters the plugin but for model->cancel, which returns at once; so a plugin
// that hangs still gets its answers and its cancel, and the end of the channel still ends the
// process.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>
#include <daybook/result.hpp>

#include "host/plugin/channel.hpp"
#include "host/runner/call_table.hpp"
#include "host/runner/channel_reader.hpp"
#include "host/runner/host_link.hpp"
#include "host/runner/host_stub.hpp"

namespace daybook::runner {

class Server {
  public:
    /// Borrows the socket and the descriptor. `wants` are the manifest's groups.
    Server(int socket,
           HostLink& link,
           const daybook_plugin& plugin,
           std::vector<std::string> wants);

    /// Reads until the channel ends or breaks the protocol. Never returns: the process ends with
    /// exit code 0 after `close` or the end of the channel, else with one of the codes of
    /// exit_codes.hpp.
    [[noreturn]] void run();

  private:
    struct Work {
        channel::Message message;
        std::shared_ptr<LiveCall> call;  ///< of a call, else null
    };

    // Whoever reads.
    /// Errors: plugin_protocol (a message of the wrong shape).
    Result<> take(channel::Message message);
    Result<> take_call(channel::Message message);
    Result<> take_reply(const channel::Message& message);
    void cancel(channel::CallId id);
    void enqueue(Work work);
    std::optional<Work> take_queued();

    // Worker.
    [[noreturn]] void work();
    void run(Work& work);
    void open(const channel::Message& message);
    void run_call(Work& work);
    daybook_status run_tool(const std::string& name, const std::string& arguments, LiveCall& call);
    daybook_status run_maintenance(const std::string& kind, LiveCall& call);
    daybook_status run_model(const std::string& kind,
                             const std::string& name,
                             const std::string& arguments,
                             LiveCall& call);
    daybook_status enter_model(const std::string& kind,
                               const daybook_model& model,
                               const std::string& arguments,
                               LiveCall& call);
    daybook_status fail(LiveCall& call, daybook_status status, const std::string& message);
    void succeed(LiveCall& call, const std::string& json);
    void drain();
    [[noreturn]] void close();

    HostLink& link_;
    const daybook_plugin& plugin_;
    CallTable calls_;
    StubContext context_;
    daybook_instance* instance_ = nullptr;  // worker only
    bool is_open_ = false;                  // worker only
    std::mutex mutex_;                      // guards queue_
    std::deque<Work> queue_;
    ChannelReader reader_;
};

}  // namespace daybook::runner
