#include "tests/cli/program.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"

namespace daybook::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) {
        out.push_back(text.data());
    }
    out.push_back(nullptr);
    return out;
}

/// Forks and runs a program of the build; the ends given become its stdin, stdout and stderr.
pid_t spawn(const std::string& program,
            const Words& arguments,
            const std::filesystem::path& home,
            int in,
            int out,
            int err) {
    std::vector<std::string> words = {
        program.starts_with('/') ? program : std::string(DAYBOOK_BUILD_DIR) + "/bin/" + program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = {
        "PATH=/usr/bin:/bin", "HOME=" + home.string(), "LANG=C.UTF-8"};
    const auto argv = pointers(words);
    const auto envp = pointers(environment);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::dup2(in, STDIN_FILENO);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        ::execve(argv.front(), argv.data(), envp.data());
        ::_exit(126);
    }
    return pid;
}

int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Json Ran::json() const {
    auto parsed = Json::parse(out, JsonLimits{64UL << 20, 64, 64UL << 20});
    INFO("stdout: " << out << "\nstderr: " << err);
    REQUIRE(parsed);
    return *parsed;
}

std::vector<Json> Ran::lines() const {
    std::vector<Json> all;
    std::istringstream in(out);
    for (std::string line; std::getline(in, line);) {
        auto parsed = Json::parse(line);
        INFO("line: " << line << "\nstderr: " << err);
        REQUIRE(parsed);
        all.push_back(*parsed);
    }
    return all;
}

Ran run_program(const std::string& program,
                const Words& arguments,
                const std::filesystem::path& home,
                const std::string& input) {
    int in[2];
    int out[2];
    int err[2];
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
    const pid_t pid = spawn(program, arguments, home, in[0], out[1], err[1]);
    ::close(in[0]);
    ::close(out[1]);
    ::close(err[1]);
    REQUIRE(::write(in[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
    ::close(in[1]);
    Ran ran;
    bool open[2] = {true, true};
    const auto deadline = steady_clock::now() + seconds(120);
    while ((open[0] || open[1]) && steady_clock::now() < deadline) {
        pollfd waits[2] = {{open[0] ? out[0] : -1, POLLIN, 0}, {open[1] ? err[0] : -1, POLLIN, 0}};
        ::poll(waits, 2, 1000);
        for (std::size_t i = 0; i < 2; ++i) {
            if ((waits[i].revents & (POLLIN | POLLHUP)) == 0) {
                continue;
            }
            char buffer[65536];
            const ssize_t got = ::read(waits[i].fd, buffer, sizeof buffer);
            open[i] = got > 0 || (got < 0 && errno == EINTR);
            if (got > 0) {
                (i == 0 ? ran.out : ran.err).append(buffer, static_cast<std::size_t>(got));
            }
        }
    }
    if (open[0] || open[1]) {
        ::kill(pid, SIGKILL);
    }
    ::close(out[0]);
    ::close(err[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    ran.code = code_of(status);
    return ran;
}

Running::Running(const std::string& program,
                 const Words& arguments,
                 const std::filesystem::path& home) {
    int out[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_ = spawn(program, arguments, home, nothing, out[1], nothing);
    ::close(nothing);
    ::close(out[1]);
    out_ = out[0];
}

Running::~Running() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
}

std::string Running::line() {
    const auto deadline = steady_clock::now() + seconds(20);
    while (steady_clock::now() < deadline) {
        if (const auto end = in_.find('\n'); end != std::string::npos) {
            std::string line = in_.substr(0, end);
            in_.erase(0, end + 1);
            return line;
        }
        pollfd ready = {out_, POLLIN, 0};
        if (::poll(&ready, 1, 500) > 0) {
            char buffer[65536];
            const ssize_t got = ::read(out_, buffer, sizeof buffer);
            if (got <= 0) {
                return "";
            }
            in_.append(buffer, static_cast<std::size_t>(got));
        }
    }
    return "";
}

void Running::signal(int number) const {
    ::kill(pid_, number);
}

int Running::wait() {
    int status = 0;
    if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) {
        return -1;
    }
    pid_ = -1;
    return code_of(status);
}

Home::Home(const Words& init_flags) : path_(folder_ / "home") {
    Words words = {"init", path_.string(), "--quiet"};
    words.insert(words.end(), init_flags.begin(), init_flags.end());
    const Ran made = run_program("daybook", words, folder_.path());
    INFO(made.err);
    REQUIRE(made.code == 0);
}

Home::~Home() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
    }
}

/// What tests bring did not come with daybook: the owner's word for each file that is named.
void Home::trust_fixtures() const {
    const std::string fixtures = std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/fixtures/";
    const std::string config = read("daybook.toml");
    for (std::size_t at = config.find(fixtures); at != std::string::npos;
         at = config.find(fixtures, at)) {
        const std::size_t end = config.find('"', at);
        // A fixture that is no plugin stays refused, which is what its test wants to see.
        static_cast<void>(daybook({"plugin", "trust", config.substr(at, end - at), "--yes"}));
        at = end;
    }
}

void Home::start() {
    trust_fixtures();
    const Json started = ask({"host", "start"});
    REQUIRE(started["started"].as_bool());
    pid_ = static_cast<pid_t>(started["pid"].as_integer());
}

void Home::stop() {
    const Json stopped = ask({"host", "stop"});
    CHECK(stopped["stopped"].as_bool());
    pid_ = -1;
}

void Home::kill() {
    REQUIRE(pid_ > 0);
    REQUIRE(::kill(pid_, SIGKILL) == 0);
    wait_gone();
}

void Home::wait_gone() {
    // Not a child of ours: gone when the signal finds nobody, or only what waits to be collected.
    const std::filesystem::path state = "/proc/" + std::to_string(pid_) + "/stat";
    CHECK(eventually([&] {
        std::ifstream in(state);
        std::string text;
        std::getline(in, text);
        return text.empty() || text.find(") Z") != std::string::npos;
    }));
    // Its other threads may end an instant later; what they held open goes with the last of them.
    const int lock = ::open((path_ / "state/run/host.lock").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(lock >= 0);
    CHECK(eventually([&] { return ::flock(lock, LOCK_EX | LOCK_NB) == 0; }));
    ::close(lock);
    pid_ = -1;
}

Ran Home::daybook(Words words) const {
    words.push_back("--home");
    words.push_back(path_.string());
    return run_program("daybook", words, folder_.path());
}

Json Home::ask(Words words) const {
    words.emplace_back("--json");
    const Ran ran = daybook(std::move(words));
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return ran.json();
}

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = steady_clock::now() + seconds(30);
    while (!holds()) {
        if (steady_clock::now() > deadline) {
            return false;
        }
        ::poll(nullptr, 0, 5);
    }
    return true;
}

}  // namespace daybook::test
