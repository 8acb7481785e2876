#include "host/cli/offline_host.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "host/cli/client.hpp"
#include "host/os/unique_fd.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not in every libc's header

namespace daybook::cli {
namespace {

constexpr std::size_t kMaxOutcome = 64UL * 1024 * 1024;

struct Pipe {
    UniqueFd reading, writing;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error(Errc::io, "make a pipe: " + std::generic_category().message(errno));
    }
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<pid_t> spawn(const std::vector<std::string>& words, int input, int output) {
    std::vector<std::string> kept = words;
    std::vector<char*> arguments;
    for (std::string& word : kept) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t pid = -1;
    const int failed =
        ::posix_spawn(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return Error(Errc::io,
                     "start " + words.front() + ": " + std::generic_category().message(failed));
    }
    return pid;
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 16384> buffer{};
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0 || text.size() > kMaxOutcome) {
            return text;
        }
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

Result<Json> outcome_of(const std::string& text, int status) {
    auto outcome = Json::parse(text, {kMaxOutcome, 64, kMaxOutcome});
    if (!outcome) {
        return Error(
            Errc::io,
            "daybookd ended without an outcome" +
                (WIFSIGNALED(status) ? ", by signal " + std::to_string(WTERMSIG(status))
                                     : ", with code " + std::to_string(WEXITSTATUS(status))));
    }
    if ((*outcome)["ok"].as_bool()) {
        return (*outcome)["result"];
    }
    const Json& error = (*outcome)["error"];
    return Error(code_of(error["code"].as_string()), error["message"].as_string());
}

}  // namespace

Result<Json> call_once(const Places& places,
                       const PlaceOptions& options,
                       std::string_view verb,
                       const Json& args) {
    std::vector<std::string> words = {places.daemon.string(), "--once", std::string(verb)};
    if (!places.home.empty()) {
        words.insert(words.end(), {"--home", places.home.string()});
    }
    if (options.config) {
        words.insert(words.end(), {"--config", places.config.string()});
    }
    auto to = make_pipe();
    auto from = make_pipe();
    if (!to || !from) {
        return to ? from.error() : to.error();
    }
    auto pid = spawn(words, to->reading.get(), from->writing.get());
    if (!pid) {
        return pid.error();
    }
    to->reading.reset();
    from->writing.reset();
    std::signal(SIGPIPE, SIG_IGN);
    static_cast<void>(write_all(to->writing.get(), args.dump()));  // the outcome tells
    to->writing.reset();
    const std::string text = read_all(from->reading.get());
    int status = 0;
    while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
    }
    return outcome_of(text, status);
}

Result<Json> call_either(const Options& options,
                         const Places& places,
                         std::string_view verb,
                         const Json& args) {
    auto client = Client::connect(places);
    if (client) {
        return client->call(verb, args);
    }
    const Errc code = client.error().code();
    if (code != Errc::unavailable && code != Errc::auth) {
        return client.error();
    }
    return call_once(places, options.places, verb, args);
}

}  // namespace daybook::cli
