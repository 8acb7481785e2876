// Serves process/1 for one call: attaches to the desk's walled children and answers its verbs when
// there is something to answer. A change is posted to the desk's inbox and looked at there.
// Thread: [desk].
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/plugin/call.hpp"
#include "host/plugin/child_programs.hpp"

namespace daybook {

/// What process/1 works on in one call. Borrowed; outlives the call.
struct ProcessAccess {
    ChildPrograms* children = nullptr;  ///< nullptr: not served
    DeskInbox* inbox = nullptr;
    std::string plugin;
    const std::map<std::string, ProgramConfig>* programs = nullptr;  ///< as the owner wrote them
};

class HostProcess {
  public:
    static constexpr std::size_t kMaxOpen = 8;

    explicit HostProcess(ProcessAccess access);
    /// Lets go of what is shared, ends what is the call's own.
    ~HostProcess();
    HostProcess(const HostProcess&) = delete;
    HostProcess& operator=(const HostProcess&) = delete;
    HostProcess(HostProcess&&) = delete;
    HostProcess& operator=(HostProcess&&) = delete;

    /// `function` is "start", "send", "receive", "close_input", "signal" or "wait".
    void serve(std::string_view function,
               const std::vector<std::string>& arguments,
               VerbServer::Reply reply);
    void give_up(const Error& why);

  private:
    enum class OnCancel { keep, interrupt, end };
    struct Open {
        ChildPrograms::Attachment program;
        std::uint64_t listener = 0;
        OnCancel on_cancel = OnCancel::keep;
        Open() = default;
        ~Open();
        Open(Open&&) = default;
        Open& operator=(Open&&) = delete;
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;
    };
    /// A verb that waits.
    struct Waiting {
        std::int64_t process = 0;
        std::string function;
        std::vector<std::string> arguments;
        std::optional<SteadyTime> until;
        VerbServer::Reply reply;
        std::shared_ptr<Watch> timer;
    };

    /// Returns the id; the answer comes when the walls stand.
    Result<std::int64_t> start(const std::vector<std::string>& arguments);
    Result<const ProgramConfig*> approved(const std::string& name) const;
    /// nullopt: not yet.
    std::optional<Result<std::string>> try_answer(const Waiting& waiting);
    std::optional<Result<std::string>> try_start(Open& open, const Waiting& waiting);
    std::optional<Result<std::string>> try_receive(Open& open, const Waiting& waiting);
    std::optional<Result<std::string>> try_wait(Open& open, const Waiting& waiting);
    static Result<std::string> signal(Open& open, const std::string& which);
    void wait_for(Waiting waiting);
    void look();
    [[nodiscard]] std::function<void()> looker() const;

    ProcessAccess access_;
    std::optional<Error> over_;
    std::int64_t next_ = 1;
    std::map<std::int64_t, Open> open_;
    std::list<Waiting> waiting_;
    std::shared_ptr<HostProcess*> self_;  ///< what is posted to the inbox finds nothing afterwards
};

}  // namespace daybook
