// Serves the verbs of a call, each checked against the call's leash; a file a group (host_*.cpp).
// Thread: [desk].
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/format/calendar.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal.hpp"
#include "host/plugin/call.hpp"
#include "host/plugin/host_http.hpp"
#include "host/plugin/host_process.hpp"

namespace daybook {

class ScratchFolder;

/// A trigger that a plugin hands its desk. Never a message: words of the owner come from the owner.
struct HandOver {
    enum class Kind { fill, alert, job };
    Kind kind = Kind::job;
    std::string key;  ///< begins with the plugin's name
    std::string name;
    std::string text;
    const Leash& leash;  ///< of the call that hands it over
};

/// The desk's past, for history/1 (turn/history_feed.hpp).
class HistorySource {
  public:
    HistorySource() = default;
    virtual ~HistorySource() = default;
    HistorySource(const HistorySource&) = delete;
    HistorySource& operator=(const HistorySource&) = delete;
    HistorySource(HistorySource&&) = delete;
    HistorySource& operator=(HistorySource&&) = delete;
    /// One batch as JSON (sdk/include/daybook/ext/history.h). A cursor that means nothing here
    /// begins anew and says so. Errors: io.
    virtual Result<std::string> read(const std::string& cursor,
                                     std::size_t max_records,
                                     std::size_t max_bytes) = 0;
};

/// What the verbs of one turn work on. Borrowed; outlives the calls.
struct VerbContext {
    WriteGate& gate;
    Journal& journal;
    const Clock& clock;
    const Zone& zone;
    const Calendar& calendar;
    TurnAllowance& allowance;
    ShownFiles& shown;
    std::string session;
    std::string turn;
    DeskDate day;
    /// Calls another tool under a leash narrower than `parent` (turn/tool_call.hpp). Returns its
    /// JSON result.
    std::function<Result<std::string>(
        Leash& parent, const std::string& tool, const std::string& arguments, CallOutcome& outcome)>
        call_tool;
    HistorySource* history = nullptr;  ///< null = not served
    /// Durable when it returns, with the receipt. Errors: invalid, full, unavailable. Empty = not
    /// served.
    std::function<Result<Json>(const HandOver&)> hand_over = {};
    /// The plugin's folder, null when its profile has none.
    std::function<const ScratchFolder*(const std::string& plugin)> scratch_of = {};
    HttpAccess http{};        ///< what http/1 may reach in this call
    ProcessAccess process{};  ///< what process/1 may start in this call
};

/// The verbs of one call.
class HostCalls final : public VerbServer {
  public:
    explicit HostCalls(VerbContext context) : context_(std::move(context)) {}
    Result<std::string> serve(Leash& leash,
                              std::string_view verb,
                              const std::vector<std::string>& arguments,
                              CallOutcome& outcome) override;
    bool serve_later(Leash& leash,
                     std::string_view verb,
                     const std::vector<std::string>& arguments,
                     CallOutcome& outcome,
                     Reply reply) override;
    void give_up(const Error& why) override;

  private:
    VerbContext context_;
    /// What the call read of the file that it may write: for its own use, the model has not seen
    /// it.
    ShownFiles own_shown_;
    std::unique_ptr<HostHttp> http_;        ///< from the first request on
    std::unique_ptr<HostProcess> process_;  ///< from the first start on
};

}  // namespace daybook
