#include "tests/fault/strace_kill.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/fault/attacked_home.hpp"

namespace daybook::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* kProgram = "/usr/bin/strace";

bool is_traced(pid_t host) {
    std::error_code gone;
    bool all = false;
    for (const auto& task :
         fs::directory_iterator("/proc/" + std::to_string(host) + "/task", gone)) {
        const std::string status = contents_of(task.path() / "status");
        const auto at = status.find("TracerPid:\t");
        if (at == std::string::npos || status[at + 11] == '0') {
            return false;
        }
        all = true;
    }
    return all;
}

pid_t start(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
        const int nothing = ::open("/dev/null", O_RDWR);
        ::dup2(nothing, STDOUT_FILENO);
        ::dup2(nothing, STDERR_FILENO);
        ::execv(kProgram, arguments.data());
        ::_exit(127);
    }
    return pid;
}

}  // namespace

Strace::Strace(pid_t host, const std::string& call, std::uint64_t nth) {
    if (!fs::exists(kProgram)) {
        why_not_ = "strace is not installed";
        return;
    }
    output_ = fs::temp_directory_path() / ("daybook-strace-" + std::to_string(::getpid()));
    std::vector<std::string> words = {kProgram, "-f", "-qq", "-o", output_.string()};
    if (nth == 0) {
        words.insert(words.end(), {"-e", "trace=" + call});
    } else {
        words.insert(words.end(),
                     {"-e",
                      "trace=" + call,
                      "-e",
                      "inject=" + call + ":signal=KILL:when=" + std::to_string(nth)});
    }
    words.insert(words.end(), {"-p", std::to_string(host)});
    pid_ = start(std::move(words));
    int status = 0;
    bool ended = false;
    if (!eventually([&] {
            ended = ended || ::waitpid(pid_, &status, WNOHANG) == pid_;
            return ended || is_traced(host);
        }) ||
        ended) {
        why_not_ = "strace does not come to trace the host (is ptrace forbidden?)";
        pid_ = ended ? -1 : pid_;
    }
}

Strace::~Strace() {
    let_go();
    std::error_code ignored;
    if (!output_.empty()) {
        fs::remove(output_, ignored);
    }
}

void Strace::let_go() {
    if (pid_ <= 0) {
        return;
    }
    // It detaches before it ends; now and then it waits for ever for a host that it has killed.
    constexpr int kTries = 400;
    ::kill(pid_, SIGINT);
    for (int i = 0; i < kTries && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
        ::poll(nullptr, 0, 5);
        if (i == kTries - 2) {
            ::kill(pid_, SIGKILL);
        }
    }
    pid_ = -1;
}

std::map<std::string, std::uint64_t> Strace::counts() {
    let_go();
    std::map<std::pair<std::string, std::string>, std::uint64_t> each;  // thread, call
    std::istringstream lines(contents_of(output_));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string thread;
        std::string call;
        words >> thread >> call;
        const auto end = call.find('(');
        if (end != std::string::npos && call.front() != '<') {
            ++each[{thread, call.substr(0, end)}];
        }
    }
    std::map<std::string, std::uint64_t> most;
    for (const auto& [key, count] : each) {
        most[key.second] = std::max(most[key.second], count);
    }
    return most;
}

}  // namespace daybook::test
