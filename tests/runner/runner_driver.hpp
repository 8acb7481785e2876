// Plays the host for one daybook-runner: starts it on a socket pair, sends messages, serves its
// verbs, sees it end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/unique_fd.hpp"
#include "host/plugin/channel.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

/// A desk, another desk and a key file, in a folder that every user may reach and write: only the
/// walls protect them.
class World {
  public:
    World();
    [[nodiscard]] std::filesystem::path desk() const { return folder_ / "desk"; }
    [[nodiscard]] std::filesystem::path memory() const { return desk() / "Memory.md"; }
    [[nodiscard]] std::filesystem::path other() const { return folder_ / "other" / "Memory.md"; }
    [[nodiscard]] std::filesystem::path key() const { return folder_ / "keys" / "key"; }
    [[nodiscard]] std::filesystem::path runner() const {
        return folder_ / "libexec" / "daybook-runner";
    }
    /// A copy of the fixture, where every user can read it.
    [[nodiscard]] std::filesystem::path module(const std::string& name) const;
    [[nodiscard]] const TempFolder& folder() const { return folder_; }
    /// Puts the four files back as they were.
    void restore() const;
    /// Every entry below the folder with its kind, mode, size, link count, modification time and
    /// content.
    [[nodiscard]] std::string snapshot() const;

  private:
    TempFolder folder_;
};

struct StartOptions {
    std::string isolation = "required";
    std::vector<std::string> arguments = {};  ///< further ones
    bool as_nobody = false;                   ///< uid and gid 65534
    int leaked_fd = -1;                       ///< stays open in the runner at start, under number 9
    std::vector<long> absent_calls = {};  ///< system calls that the kernel does not know (ENOSYS)
    bool plain_desk = true;               ///< --desk-dir and --probe-file of the World
};

/// How a call ended.
struct Ended {
    bool ok = false;
    std::string text;         ///< the result's JSON, or the failure's message
    std::int64_t status = 0;  ///< of a failure
    bool retryable = false;
    std::string detail;
};

using Fields = std::vector<std::string>;
/// Answers a verb: status and body.
using VerbAnswer = std::function<std::pair<std::int64_t, std::string>(const std::string& verb,
                                                                      const Fields& arguments)>;

class RunnerDriver {
  public:
    RunnerDriver(const World& world, const std::string& module, const StartOptions& options = {});
    ~RunnerDriver();  ///< kills and reaps
    RunnerDriver(const RunnerDriver&) = delete;
    RunnerDriver& operator=(const RunnerDriver&) = delete;
    RunnerDriver(RunnerDriver&&) = delete;
    RunnerDriver& operator=(RunnerDriver&&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] std::chrono::microseconds start_time() const noexcept { return ready_after_; }

    /// The next message; nullopt at the end of the channel. A wait of ten seconds fails the test.
    std::optional<channel::Message> receive();
    /// The first message after the start: ready or start_failed.
    channel::Message first();
    /// first() as ready, then open with this configuration; "" or what start_failed said.
    std::string open(const std::string& config = "{}");
    void send(channel::MessageType type, channel::CallId call = 0, std::string payload = {});
    /// Sends a call and returns its id.
    channel::CallId start_call(const std::string& kind,
                               const std::string& name,
                               const std::string& arguments,
                               std::int64_t deadline_ns = 0,
                               const std::string& key = {});
    /// Serves the runner until that call ends. Logs, progress and events are kept below. nullopt =
    /// the runner ended.
    std::optional<Ended> finish(channel::CallId call, const VerbAnswer& verbs = {});
    std::optional<Ended> call(const std::string& tool,
                              const std::string& arguments,
                              const VerbAnswer& verbs = {});

    /// Ends the channel as the host's death would.
    void close_channel() { socket_.reset(); }

    /// The runner's end: exit code, or minus the signal.
    int wait_end();

    std::vector<std::string> logs, progress;
    std::vector<Fields> events;
    std::string walls, descriptor;  ///< of the ready message

  private:
    void take(const channel::Message& message, const VerbAnswer& verbs);

    UniqueFd socket_;
    channel::Assembler assembler_;
    pid_t pid_ = -1;
    channel::CallId next_call_ = 1;
    std::optional<int> end_;
    std::chrono::steady_clock::time_point started_;
    std::chrono::microseconds ready_after_{0};
};

/// The whole file; "" when it cannot be read.
std::string contents_of(const std::filesystem::path& file);
/// The fields of a payload.
Fields fields_of(const std::string& payload);
/// A numeric field.
std::int64_t number_of(const std::string& field);

}  // namespace daybook::test
