#include "tests/escape/trial.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include <daybook/json.hpp>

#include "host/format/json.hpp"
#include "host/plugin/channel.hpp"

namespace daybook::escape {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kChannel = 3;
constexpr int kLeak = 9;
constexpr int kFarAway = 100;
constexpr milliseconds kPatience{20000};
constexpr milliseconds kShort{250};  // for those that never answer
constexpr milliseconds kSlice{20};
constexpr std::uint32_t kLandlockCall = 444;
constexpr const char* kNeverAnswer[] = {
    "d06_infinite_loop", "d09_close_channel", "d10_ignore_sigterm"};

/// Makes the kernel look as if it had no Landlock. [child, before exec]
void hide_landlock() {
    std::array<sock_filter, 4> code{{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                     {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, kLandlockCall},
                                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
                                     {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
    const sock_fprog program{code.size(), code.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        ::_exit(97);
    }
}

std::vector<std::string> command_of(const EscapeWorld& world, const TrialSettings& settings) {
    const bool is_absent = settings.landlock == "absent";
    std::vector<std::string> words{world.at("libexec/daybook-runner"),
                                   "--module",
                                   world.at("modules/escape.so"),
                                   "--desk-dir",
                                   world.at("desk"),
                                   "--plugin",
                                   "escape",
                                   "--desk",
                                   "main",
                                   "--profile",
                                   settings.profile,
                                   "--probe-file",
                                   world.at("desk/Memory.md"),
                                   "--isolation",
                                   is_absent ? "seccomp-only" : "required"};
    if (!is_absent) {
        words.insert(words.end(), {"--landlock-cap", settings.landlock});
    }
    if (settings.profile == "scratch") {
        words.insert(words.end(),
                     {"--scratch-dir", world.at("scratch/own"), "--scratch-max", "16777216"});
    }
    return words;
}

/// The child's side, after fork; this process has one thread.
[[noreturn]] void become_runner(std::vector<std::string> words,
                                int channel,
                                int leak,
                                const TrialSettings& settings) {
    channel = ::fcntl(channel, F_DUPFD_CLOEXEC, kFarAway);  // 3 or 9 may be one of the two already
    leak = ::fcntl(leak, F_DUPFD_CLOEXEC, kFarAway);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {0, 1, 2}) {
        ::dup2(null, standard);
    }
    ::dup2(channel, kChannel);
    ::dup2(leak, kLeak);
    if (settings.landlock == "absent") {
        hide_landlock();
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    std::vector<std::string> variables{"PATH=/usr/bin", "MALLOC_ARENA_MAX=2"};
    if (!settings.gap.empty()) {
        variables.push_back("DAYBOOK_ESCAPE_GAP=" + settings.gap);
    }
    if (settings.gap == "environment") {
        variables.emplace_back("DAYBOOK_ESCAPE_SECRET=sk-secret");
    }
    std::vector<char*> environment;
    for (std::string& variable : variables) {
        environment.push_back(variable.data());
    }
    environment.push_back(nullptr);
    ::execve(arguments.front(), arguments.data(), environment.data());
    ::_exit(98);
}

std::string exe_of(pid_t pid) {
    std::array<char, PATH_MAX> text{};
    const std::string link = "/proc/" + std::to_string(pid) + "/exe";
    const ssize_t bytes = ::readlink(link.c_str(), text.data(), text.size());
    return bytes < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(bytes));
}

std::string errno_name(int error) {
    const char* const name = ::strerrorname_np(error);
    return name == nullptr ? "errno " + std::to_string(error) : name;
}

}  // namespace

/// A runner that was started for one attempt.
class Trials::Runner final : public TrialSubject {
  public:
    Runner(const EscapeWorld& world, const TrialSettings& settings) : world_(world) {
        std::array<int, 2> pair{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) {
            throw std::runtime_error("make a channel");
        }
        socket_.reset(pair[0]);
        const UniqueFd theirs(pair[1]);
        const UniqueFd leak(
            ::open(world.at("desk/Memory.md").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
        const auto words = command_of(world, settings);
        pid_ = ::fork();
        if (pid_ == 0) {
            become_runner(words, theirs.get(), leak.get(), settings);
        }
        if (pid_ < 0) {
            throw std::runtime_error("start a runner");
        }
    }
    ~Runner() override { end(); }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;
    Runner(Runner&&) = delete;
    Runner& operator=(Runner&&) = delete;

    std::string end() override {
        if (pid_ <= 0) {
            return {};
        }
        int status = 0;
        const bool by_itself = ended_within(kShort, status);
        if (!by_itself) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, &status, 0);
        }
        pid_ = -1;
        if (!by_itself) {
            return {};
        }
        return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                   : "exit " + std::to_string(WEXITSTATUS(status));
    }
    void kill_now() override {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = -1;
        }
    }

    std::string open() override {
        auto message = receive(kPatience);
        if (message && message->type == channel::MessageType::ready) {
            channel::FieldWriter fields;
            fields.add("{}").add("main").add("0.1.0").add("pure");
            send(channel::MessageType::open, fields.take());
            message = receive(kPatience);
        }
        if (!message) {
            return failed_.empty() ? "ended" : failed_;
        }
        if (message->type == channel::MessageType::opened) {
            return {};
        }
        channel::FieldReader reader(message->payload);
        const std::string step(reader.next().value_or("?"));
        reader.next();
        return step + ": " + std::string(reader.next().value_or("?"));
    }

    std::optional<std::string> attempt(const std::string& arguments,
                                       milliseconds patience) override {
        return call("attempt", arguments, patience);
    }
    /// The tool's answer; nullopt when there is none, and then `failed()` says why.
    std::optional<std::string> call(const std::string& tool,
                                    const std::string& arguments,
                                    milliseconds patience) {
        channel::FieldWriter fields;
        fields.add("tool").add(tool).add(arguments).add_number(0).add("");
        send(channel::MessageType::call, fields.take());
        const auto message = receive(patience);
        if (!message) {
            return std::nullopt;
        }
        channel::FieldReader reader(message->payload);
        if (message->type == channel::MessageType::result) {
            return std::string(reader.next().value_or(""));
        }
        reader.next();
        reader.next();
        failed_ = "failed: " + std::string(reader.next().value_or("?"));
        return std::nullopt;
    }
    [[nodiscard]] const std::string& failed() const noexcept override { return failed_; }

  private:
    void send(channel::MessageType type, std::string payload) {
        static_cast<void>(channel::send_blocking(socket_.get(), {type, 1, std::move(payload)}));
    }

    bool ended_within(milliseconds time, int& status) const {
        const Clock::time_point until = Clock::now() + time;
        do {
            if (::waitpid(pid_, &status, WNOHANG) == pid_) {
                return true;
            }
            ::poll(nullptr, 0, 1);
        } while (Clock::now() < until);
        return false;
    }

    /// nullopt and failed_ when nothing comes that counts as a message.
    std::optional<channel::Message> receive(milliseconds patience) {
        const Clock::time_point until = Clock::now() + patience;
        pollfd wait{socket_.get(), POLLIN, 0};
        while (::poll(&wait, 1, static_cast<int>(kSlice.count())) <= 0) {
            const std::string exe = exe_of(pid_);
            if (!exe.empty() && exe != world_.at("libexec/daybook-runner") && is_started_) {
                failed_ = "program";
                return std::nullopt;
            }
            if (Clock::now() >= until) {
                failed_ = "killed";
                return std::nullopt;
            }
        }
        is_started_ = true;
        auto message = channel::receive_blocking(socket_.get(), assembler_);
        if (message) {
            return *std::move(message);
        }
        failed_ = message.error().code() == Errc::unavailable ? "channel closed" : "bad frame";
        return std::nullopt;
    }

    const EscapeWorld& world_;
    UniqueFd socket_;
    channel::Assembler assembler_;
    pid_t pid_ = -1;
    bool is_started_ = false;
    std::string failed_;
};

Trials::Trials(const EscapeWorld& world, HostBait& bait, TrialSettings settings)
    : world_(world), bait_(bait), settings_(std::move(settings)) {}

std::string Trials::verdict(const std::string& attempt) {
    const std::string except = settings_.profile == "pure" ? "" : "scratch/own";
    const std::string before = world_.snapshot(except);
    const std::unique_ptr<TrialSubject> subject = settings_.profile.starts_with("child")
                                                      ? start_child(world_, settings_)
                                                      : std::make_unique<Runner>(world_, settings_);
    TrialSubject& runner = *subject;
    if (const std::string reason = runner.open(); !reason.empty()) {
        return "no start: " + reason;
    }
    const bool is_silent = std::find(std::begin(kNeverAnswer), std::end(kNeverAnswer), attempt) !=
                           std::end(kNeverAnswer);
    const auto answer = runner.attempt(json::ObjectWriter()
                                           .add("what", attempt)
                                           .add("root", world_.root())
                                           .add("pid", ::getpid())
                                           .add("fd", kLeak)
                                           .add("port", bait_.port())
                                           .add("address", bait_.address())
                                           .str(),
                                       is_silent ? kShort : kPatience);
    std::vector<std::string> seen = bait_.evidence();
    std::string verdict;
    if (answer) {
        const int error = static_cast<int>(json::ObjectReader(*answer).integer("errno", -1));
        verdict = error == 0 ? "worked" : errno_name(error);
        runner.kill_now();
    } else if (runner.failed() == "channel closed") {
        const std::string end = runner.end();
        verdict = end.empty() ? "channel closed" : end;
    } else {
        verdict = runner.failed();
        runner.kill_now();
    }
    // Whether the runner's reader sees its descriptor gone depends on where it just is.
    if (attempt == "d09_close_channel" && (verdict == "killed" || verdict == "exit 0")) {
        verdict = "ended";
    }
    if (verdict == "program") {
        seen.push_back(verdict);
    }
    const auto children = HostBait::foreign_children();
    seen.insert(seen.end(), children.begin(), children.end());
    const bool changed = world_.snapshot(except) != before;
    if (changed) {
        seen.emplace_back("tree");
    }
    if (changed || !except.empty()) {
        world_.restore();
    }
    std::string words;
    for (const std::string& word : seen) {
        words += (words.empty() ? "" : ", ") + word;
    }
    return words.empty() ? verdict : "worked (" + words + ")";
}

std::vector<std::pair<std::string, std::string>> Trials::attempts() {
    TrialSettings listing = settings_;
    if (listing.profile.starts_with("child")) {  // a program that is not asked for a list
        listing = {};
    }
    Runner runner(world_, listing);
    if (const std::string reason = runner.open(); !reason.empty()) {
        throw std::runtime_error("list the attempts: " + reason);
    }
    const auto answer = runner.call("attempts", "{}", kPatience);
    runner.kill_now();
    auto list = Json::parse(answer.value_or("[]"));
    if (!list) {
        throw std::runtime_error(list.error().message());
    }
    std::vector<std::pair<std::string, std::string>> out;
    for (const Json& one : list->items()) {
        out.emplace_back(one["name"].as_string(), one["text"].as_string());
    }
    return out;
}

}  // namespace daybook::escape
