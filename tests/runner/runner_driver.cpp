#include "tests/runner/runner_driver.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"

namespace daybook::test {
namespace {

namespace fs = std::filesystem;

constexpr int kWaitMilliseconds = 10000;
constexpr uid_t kNobody = 65534;
constexpr int kLeakedFd = 9;

void reachable(const fs::path& path, fs::perms mode) {
    fs::permissions(path, mode);
}

/// Waits until there is something to read; false when it takes too long.
bool is_readable(int fd) {
    pollfd wait{fd, POLLIN, 0};
    int ready = 0;
    do {  // the hostile plugin may have sent a signal
        ready = ::poll(&wait, 1, kWaitMilliseconds);
    } while (ready < 0 && errno == EINTR);
    return ready == 1;
}

/// Makes the kernel look older than it is.
void hide_calls(const std::vector<long>& calls) {
    std::vector<sock_filter> code{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
    for (const long call : calls) {
        code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(call)});
        code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS});
    }
    code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        ::_exit(97);
    }
}

/// The child's side, after fork; this process has one thread.
[[noreturn]] void become_runner(const std::vector<char*>& arguments,
                                int socket,
                                const StartOptions& options) {
    // Through high numbers first: 3 or 9 may be one of the two already.
    const int channel = ::fcntl(socket, F_DUPFD_CLOEXEC, 100);
    const int leak = options.leaked_fd < 0 ? -1 : ::fcntl(options.leaked_fd, F_DUPFD_CLOEXEC, 100);
    ::dup2(channel, 3);
    if (leak >= 0) {
        ::dup2(leak, kLeakedFd);
    }
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    if (options.as_nobody &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
         ::setresuid(kNobody, kNobody, kNobody) != 0)) {
        ::_exit(99);
    }
    if (!options.absent_calls.empty()) {
        hide_calls(options.absent_calls);
    }
    std::array<char, 16> path{"PATH=/usr/bin"};
    std::array<char, 20> arenas{"MALLOC_ARENA_MAX=2"};
    const std::array<char*, 3> environment{path.data(), arenas.data(), nullptr};
    ::execve(arguments.front(), arguments.data(), environment.data());
    ::_exit(98);
}

}  // namespace

World::World() {
    reachable(folder_.path(), fs::perms(0755));
    restore();
    for (const char* name : {"modules", "libexec"}) {
        fs::create_directory(folder_ / name);
        reachable(folder_ / name, fs::perms(0755));
    }
    fs::copy_file(DAYBOOK_RUNNER_PROGRAM, runner());
    reachable(runner(), fs::perms(0755));
}

void World::restore() const {
    const auto all = fs::perms::all;
    const auto file = fs::perms(0666);
    folder_.write("desk/Memory.md", "what the desk knows\n");
    folder_.write("desk/notes/2026-10-19.md", "- a note\n");
    folder_.write("other/Memory.md", "what another desk knows\n");
    folder_.write("keys/key", "sk-secret\n");
    for (const char* name : {"desk", "desk/notes", "other", "keys"}) {
        reachable(folder_ / name, all);
    }
    for (const char* name :
         {"desk/Memory.md", "desk/notes/2026-10-19.md", "other/Memory.md", "keys/key"}) {
        reachable(folder_ / name, file);
    }
}

fs::path World::module(const std::string& name) const {
    const fs::path copy = folder_ / "modules" / (name + ".so");
    if (!fs::exists(copy)) {
        fs::copy_file(fs::path(DAYBOOK_FIXTURES) / (name + ".so"), copy);
        reachable(copy, fs::perms(0444));
    }
    return copy;
}

std::string World::snapshot() const {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
        struct stat status {};
        REQUIRE(::lstat(entry.path().c_str(), &status) == 0);
        std::ostringstream line;
        line << fs::relative(entry.path(), folder_.path()).string() << ' ' << std::oct
             << status.st_mode << std::dec << ' ' << status.st_uid << ' ' << status.st_nlink << ' '
             << status.st_size << ' ' << status.st_ino << ' ' << status.st_mtim.tv_sec << '.'
             << status.st_mtim.tv_nsec;
        if (entry.is_regular_file() && entry.path().extension() == ".md") {
            line << ' ' << folder_.read(fs::relative(entry.path(), folder_.path()).string());
        }
        lines.push_back(line.str());
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const auto& line : lines) {
        all += line + "\n";
    }
    return all;
}

RunnerDriver::RunnerDriver(const World& world,
                           const std::string& module,
                           const StartOptions& options) {
    std::vector<std::string> words{world.runner().string()};
    const auto add = [&](const std::string& name, const std::string& value) {
        words.push_back(name);
        words.push_back(value);
    };
    if (options.plain_desk) {
        add("--module", module.front() == '/' ? module : world.module(module).string());
        add("--desk-dir", world.desk().string());
        add("--plugin", "fixture");
        add("--desk", "main");
        add("--profile", "pure");
        add("--isolation", options.isolation);
        add("--probe-file", world.memory().string());
    }
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    std::vector<char*> arguments;
    for (auto& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);

    std::array<int, 2> pair{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) == 0);
    socket_.reset(pair[0]);
    const UniqueFd theirs(pair[1]);
    started_ = std::chrono::steady_clock::now();
    pid_ = ::fork();
    if (pid_ == 0) {
        become_runner(arguments, theirs.get(), options);
    }
    REQUIRE(pid_ > 0);
}

RunnerDriver::~RunnerDriver() {
    if (!end_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

std::optional<channel::Message> RunnerDriver::receive() {
    REQUIRE(is_readable(socket_.get()));
    auto message = channel::receive_blocking(socket_.get(), assembler_);
    if (message) {
        return *std::move(message);
    }
    INFO(message.error().message());
    REQUIRE(message.error().code() == Errc::unavailable);
    return std::nullopt;
}

channel::Message RunnerDriver::first() {
    auto message = receive();
    REQUIRE(message.has_value());
    ready_after_ = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - started_);
    if (message->type == channel::MessageType::ready) {
        const Fields fields = fields_of(message->payload);
        REQUIRE(fields.size() == 2);
        walls = fields[0];
        descriptor = fields[1];
    }
    return *message;
}

std::string RunnerDriver::open(const std::string& config) {
    auto message = first();
    if (message.type == channel::MessageType::ready) {
        channel::FieldWriter fields;
        fields.add(config).add("main").add("0.1.0").add("pure");
        send(channel::MessageType::open, 0, fields.take());
        auto answer = receive();
        REQUIRE(answer.has_value());
        message = *answer;
    }
    if (message.type == channel::MessageType::opened) {
        return {};
    }
    REQUIRE(message.type == channel::MessageType::start_failed);
    const Fields fields = fields_of(message.payload);
    REQUIRE(fields.size() == 3);
    return fields[0] + ": " + fields[2];
}

void RunnerDriver::send(channel::MessageType type, channel::CallId call, std::string payload) {
    static_cast<void>(channel::send_blocking(socket_.get(), {type, call, std::move(payload)}));
}

channel::CallId RunnerDriver::start_call(const std::string& kind,
                                         const std::string& name,
                                         const std::string& arguments,
                                         std::int64_t deadline_ns,
                                         const std::string& key) {
    channel::FieldWriter fields;
    fields.add(kind).add(name).add(arguments).add_number(deadline_ns).add(key);
    send(channel::MessageType::call, next_call_, fields.take());
    return next_call_++;
}

void RunnerDriver::take(const channel::Message& message, const VerbAnswer& verbs) {
    Fields fields = fields_of(message.payload);
    if (message.type == channel::MessageType::log) {
        REQUIRE(fields.size() == 3);
        logs.push_back(fields[1]);
    } else if (message.type == channel::MessageType::progress) {
        REQUIRE(fields.size() == 1);
        progress.push_back(fields[0]);
    } else if (message.type == channel::MessageType::event) {
        events.push_back(fields);
    } else if (message.type == channel::MessageType::verb) {
        REQUIRE(fields.size() >= 2);
        std::pair<std::int64_t, std::string> answer{DAYBOOK_UNSUPPORTED,
                                                    R"({"error":"unsupported","message":"no"})"};
        if (verbs) {
            answer = verbs(fields[1], Fields(fields.begin() + 2, fields.end()));
        }
        channel::FieldWriter reply;
        reply.add_number(number_of(fields[0])).add_number(answer.first).add(answer.second);
        send(channel::MessageType::verb_reply, message.call, reply.take());
    } else {
        FAIL("unexpected message of type " << static_cast<int>(message.type));
    }
}

std::optional<Ended> RunnerDriver::finish(channel::CallId call, const VerbAnswer& verbs) {
    while (auto message = receive()) {
        const Fields fields = fields_of(message->payload);
        if (message->type == channel::MessageType::result && message->call == call) {
            REQUIRE(fields.size() == 1);
            return Ended{true, fields[0], 0, false, {}};
        }
        if (message->type == channel::MessageType::failure && message->call == call) {
            REQUIRE(fields.size() == 4);
            return Ended{
                false, fields[2], number_of(fields[0]), number_of(fields[1]) != 0, fields[3]};
        }
        take(*message, verbs);
    }
    return std::nullopt;
}

std::optional<Ended> RunnerDriver::call(const std::string& tool,
                                        const std::string& arguments,
                                        const VerbAnswer& verbs) {
    return finish(start_call("tool", tool, arguments), verbs);
}

int RunnerDriver::wait_end() {
    if (!end_) {
        int status = 0;
        const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
        REQUIRE(is_readable(process.get()));
        REQUIRE(::waitpid(pid_, &status, 0) == pid_);
        end_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }
    return *end_;
}

std::string contents_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

Fields fields_of(const std::string& payload) {
    Fields fields;
    channel::FieldReader reader(payload);
    while (!reader.at_end()) {
        const auto field = reader.next();
        REQUIRE(field.has_value());
        fields.emplace_back(*field);
    }
    return fields;
}

std::int64_t number_of(const std::string& field) {
    REQUIRE(field.size() == 8);
    std::uint64_t number = 0;
    for (std::size_t i = 8; i > 0; --i) {
        number = (number << 8U) | static_cast<unsigned char>(field[i - 1]);
    }
    return static_cast<std::int64_t>(number);
}

}  // namespace daybook::test
