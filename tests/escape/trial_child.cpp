// The attempts as a program in a walled child: started through daybook-runner as the host does it,
// ended by a signal to its group.
#include <array>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "host/plugin/channel.hpp"
#include "tests/escape/trial.hpp"

namespace daybook::escape {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kChannel = 3;
constexpr int kLeak = 9;
constexpr int kFarAway = 100;
constexpr milliseconds kPatience{20000};
constexpr milliseconds kShort{250};

std::vector<std::string> command_of(const EscapeWorld& world, const TrialSettings& settings) {
    std::vector<std::string> words{world.at("libexec/daybook-runner"),
                                   "--child",
                                   "--state",
                                   world.at("scratch/own"),
                                   "--probe-file",
                                   world.at("desk/Memory.md"),
                                   "--file-max",
                                   "16777216",
                                   "--landlock-cap",
                                   settings.landlock};
    if (settings.profile == "child-net") {
        words.insert(words.end(), {"--port", "1"});
    }
    words.insert(words.end(), {"--", world.at("modules/escape_program")});
    return words;
}

/// The child's side, after fork; this process has one thread.
[[noreturn]] void become_launcher(std::vector<std::string> words,
                                  std::array<int, 3> standard,
                                  int channel,
                                  int leak) {
    for (int& fd : standard) {
        fd = ::fcntl(fd, F_DUPFD_CLOEXEC, kFarAway);
    }
    channel = ::fcntl(channel, F_DUPFD_CLOEXEC, kFarAway);
    leak = ::fcntl(leak, F_DUPFD_CLOEXEC, kFarAway);
    for (int i = 0; i < 3; ++i) {
        ::dup2(standard.at(static_cast<std::size_t>(i)), i);
    }
    ::dup2(channel, kChannel);
    ::dup2(leak, kLeak);
    ::setsid();
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    std::string path = "PATH=/usr/bin";
    std::array<char*, 2> environment{path.data(), nullptr};
    ::execve(arguments.front(), arguments.data(), environment.data());
    ::_exit(98);
}

void must(bool holds, const char* what) {
    if (!holds) {
        throw std::runtime_error(what);
    }
}

class Child final : public TrialSubject {
  public:
    Child(const EscapeWorld& world, const TrialSettings& settings) {
        std::array<int, 2> channel{}, input{}, output{};
        must(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel.data()) == 0 &&
                 ::pipe2(input.data(), O_CLOEXEC) == 0 && ::pipe2(output.data(), O_CLOEXEC) == 0,
             "make a channel");
        channel_.reset(channel[0]);
        input_.reset(input[1]);
        output_.reset(output[0]);
        const UniqueFd their_channel(channel[1]), their_input(input[0]), their_output(output[1]);
        const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
        const UniqueFd leak(
            ::open(world.at("desk/Memory.md").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
        const auto words = command_of(world, settings);
        pid_ = ::fork();
        must(pid_ >= 0, "start a child");
        if (pid_ == 0) {
            become_launcher(words,
                            {their_input.get(), their_output.get(), null.get()},
                            their_channel.get(),
                            leak.get());
        }
    }
    ~Child() override { kill_now(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    Child(Child&&) = delete;
    Child& operator=(Child&&) = delete;

    std::string open() override {
        const auto message = receive(kPatience);
        if (message && message->type == channel::MessageType::ready) {
            return {};
        }
        if (!message) {
            return "ended";
        }
        channel::FieldReader reader(message->payload);
        const std::string step(reader.next().value_or("?"));
        reader.next();
        return step + ": " + std::string(reader.next().value_or("?"));
    }

    std::optional<std::string> attempt(const std::string& arguments,
                                       milliseconds patience) override {
        const std::string line = arguments + "\n";
        must(::write(input_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()),
             "send an attempt");
        const Clock::time_point until = Clock::now() + patience;
        std::string answer;
        while (Clock::now() < until) {
            pollfd wait{output_.get(), POLLIN, 0};
            if (::poll(&wait, 1, 20) <= 0) {
                continue;
            }
            std::array<char, 4096> bytes{};
            const ssize_t got = ::read(output_.get(), bytes.data(), bytes.size());
            if (got <= 0) {
                failed_ = "channel closed";
                return std::nullopt;
            }
            answer.append(bytes.data(), static_cast<std::size_t>(got));
            if (const auto end = answer.find('\n'); end != std::string::npos) {
                return answer.substr(0, end);
            }
        }
        failed_ = "killed";
        return std::nullopt;
    }
    [[nodiscard]] const std::string& failed() const noexcept override { return failed_; }

    /// How the program ended, as its launcher tells it.
    std::string end() override {
        const auto message = receive(kShort);
        std::string how;
        if (message && message->type == channel::MessageType::event) {
            channel::FieldReader reader(message->payload);
            reader.next();
            const auto code = reader.next_number().value_or(-1);
            const auto signal = reader.next_number().value_or(0);
            how = signal != 0 ? "signal " + std::to_string(signal) : "exit " + std::to_string(code);
        }
        kill_now();
        return how;
    }
    /// What is left of the group after that is foreign.
    void kill_now() override {
        if (pid_ <= 0) {
            return;
        }
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
        const Clock::time_point until = Clock::now() + std::chrono::seconds(2);
        while (::waitpid(-1, nullptr, WNOHANG) >= 0 && Clock::now() < until) {
            ::poll(nullptr, 0, 1);
        }
    }

  private:
    std::optional<channel::Message> receive(milliseconds patience) {
        pollfd wait{channel_.get(), POLLIN, 0};
        if (::poll(&wait, 1, static_cast<int>(patience.count())) <= 0) {
            return std::nullopt;
        }
        auto message = channel::receive_blocking(channel_.get(), assembler_);
        return message ? std::optional(*std::move(message)) : std::nullopt;
    }

    UniqueFd channel_, input_, output_;
    channel::Assembler assembler_;
    pid_t pid_ = -1;
    std::string failed_;
};

}  // namespace

std::unique_ptr<TrialSubject> start_child(const EscapeWorld& world, const TrialSettings& settings) {
    return std::make_unique<Child>(world, settings);
}

}  // namespace daybook::escape
