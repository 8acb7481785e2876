// A host of the kit's own for one plugin: the real daybook-runner with its walls, or (for a
// debugger) the runner's code in a thread of this process, and the verbs answered from memory.
// Thread: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/manifest.hpp"
#include "host/os/process.hpp"
#include "host/os/unique_fd.hpp"
#include "host/plugin/channel.hpp"

namespace daybook::check {

/// What a check is about.
struct Subject {
    std::filesystem::path file;    ///< absolute
    std::filesystem::path runner;  ///< daybook-runner
    std::filesystem::path work;    ///< a folder of the kit's: desk/, probe, scratch/
    std::string config = "{}";
    std::string isolation = "required";
    std::uint64_t seed = 1;
    int rounds = 100;  ///< of each tool's arguments
    bool in_process = false;
    std::string bytes;  ///< of the file
    Manifest manifest;
};

/// The runner's command line for the subject.
[[nodiscard]] std::vector<std::string> runner_arguments(const Subject& subject);

struct CallEnd {
    enum class How { result, failure, died, silent } how = How::silent;
    std::string text;                              ///< result, failure's message, or how it died
    std::int64_t status = 0;                       ///< of a failure
    std::vector<std::vector<std::string>> events;  ///< name and values
    std::vector<std::string> verbs;                ///< asked, in order
    std::chrono::milliseconds took{0};
    [[nodiscard]] bool is_orderly() const { return how == How::result || how == How::failure; }
};

struct CallAsk {
    std::string kind = "tool";
    std::string name;
    std::string arguments = "{}";
    std::chrono::milliseconds deadline{0};  ///< 0 = none is told
    std::optional<std::chrono::milliseconds> cancel_after;
    std::chrono::milliseconds patience{10000};  ///< then it counts as silent
    bool verbs_fail = false;                    ///< every verb is refused
};

class CheckHost {
  public:
    /// Starts and opens it. Errors: refused (step and reason, as the runner says them), deadline,
    /// io.
    static Result<std::unique_ptr<CheckHost>> start(const Subject& subject);
    ~CheckHost() = default;
    CheckHost(const CheckHost&) = delete;
    CheckHost& operator=(const CheckHost&) = delete;
    CheckHost(CheckHost&&) = delete;
    CheckHost& operator=(CheckHost&&) = delete;

    CallEnd call(const CallAsk& ask);
    /// What the process printed until now, on stdout and stderr.
    std::string printed();
    /// drain, close, end: "" or what did not happen in two seconds.
    std::string end();
    /// Resident bytes of the process; 0 when they cannot be read.
    [[nodiscard]] std::uint64_t resident_bytes() const;
    [[nodiscard]] const std::string& walls() const noexcept { return walls_; }

  private:
    CheckHost() = default;
    Result<> open(const Subject& subject);
    Result<> spawn(const Subject& subject);
    /// The next message; nullopt: none in time, or the channel ended (is_gone_).
    std::optional<channel::Message> next(std::chrono::milliseconds patience);
    void answer_verb(const channel::Message& message, bool refuse, CallEnd& end);
    bool send(channel::MessageType type, channel::CallId call, std::string payload = {});
    [[nodiscard]] std::string how_it_ended();

    UniqueFd socket_;
    std::optional<ChildProcess> child_;
    channel::Assembler assembler_;
    channel::CallId next_call_ = 1;
    bool is_gone_ = false;
    std::string printed_, walls_;
    std::string broken_;  ///< how the channel's rules were broken
    std::map<std::string, std::string> files_;
    int writes_ = 0;
};

}  // namespace daybook::check
