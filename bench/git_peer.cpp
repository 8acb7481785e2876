#include "bench/git_peer.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <sstream>
#include <unistd.h>

#include "host/os/process.hpp"

namespace daybook::bench {
namespace {

constexpr const char* kRef = "refs/desk/main";
constexpr std::chrono::seconds kPatience{60};

std::string find_git() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string program = folder + "/git";
        if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0) {
            return program;
        }
    }
    return "";
}

/// What a child prints until it ends.
Result<std::string> read_to_end(ChildProcess& child) {
    std::string printed;
    std::array<char, 64UL * 1024> buffer{};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
        const ssize_t got = ::read(child.output(), buffer.data(), buffer.size());
        if (got > 0) {
            printed.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0) {
            return printed;
        } else if (errno == EAGAIN) {
            pollfd ready = {child.output(), POLLIN, 0};
            ::poll(&ready, 1, 1000);
        } else if (errno != EINTR) {
            return Error(Errc::io, "read what git prints");
        }
    }
    return Error(Errc::io, "git took over a minute");
}

Result<ExitState> wait_for(ChildProcess& child) {
    pollfd ended = {child.pidfd(), POLLIN, 0};
    constexpr int kPatienceMs = 60000;
    while (::poll(&ended, 1, kPatienceMs) < 0 && errno == EINTR) {
    }
    const auto state = child.try_wait();
    return state ? Result<ExitState>(*state) : Result<ExitState>(Error(Errc::io, "git hangs"));
}

}  // namespace

Result<GitPeer> GitPeer::open(const std::filesystem::path& folder,
                              const std::filesystem::path& store) {
    const std::string program = find_git();
    if (program.empty()) {
        return Error(Errc::not_found, "git: no such program on the PATH");
    }
    GitPeer peer(program, folder, store);
    auto made = peer.git_each({{"init", "-q"}, {"config", "gc.auto", "0"}}, false);
    if (made) {
        made = peer.add_and_commit();
    }
    if (made) {
        std::filesystem::create_directories(store);
        made = peer.git_each({{"init", "-q", "--bare", store.string()}}, false);
    }
    if (!made) {
        return made.error();
    }
    if (auto begun = peer.git_each({{"add", "-A"}}, true); !begun) {
        return begun.error();
    }
    auto tree = peer.git({"write-tree"}, true);
    if (!tree) {
        return tree.error();
    }
    auto commit = peer.git({"commit-tree", *tree, "-m", "begin"}, true);
    if (!commit) {
        return commit.error();
    }
    auto moved = peer.git_each({{"update-ref", kRef, *commit}}, true);
    return moved ? Result<GitPeer>(peer) : Result<GitPeer>(moved.error());
}

Result<std::string> GitPeer::git(std::vector<std::string> arguments, bool on_store) const {
    SpawnRequest request;
    request.program = program_;
    request.arguments = {"-C", folder_.string()};
    request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
    request.environment = {"PATH=/usr/bin:/bin",
                           "HOME=/nonexistent",
                           "GIT_CONFIG_NOSYSTEM=1",
                           "GIT_CONFIG_GLOBAL=/dev/null",
                           "GIT_AUTHOR_NAME=desk",
                           "GIT_AUTHOR_EMAIL=desk@localhost",
                           "GIT_COMMITTER_NAME=desk",
                           "GIT_COMMITTER_EMAIL=desk@localhost"};
    if (on_store) {
        request.environment.push_back("GIT_DIR=" + store_.string());
        request.environment.push_back("GIT_WORK_TREE=" + folder_.string());
        request.environment.push_back("GIT_INDEX_FILE=" + (store_ / "desk-index").string());
    }
    auto child = ChildProcess::spawn(request);
    if (!child) {
        return child.error();
    }
    auto printed = read_to_end(*child);
    if (!printed) {
        return printed;
    }
    auto state = wait_for(*child);
    if (!state) {
        return state.error();
    }
    if (!printed->empty() && printed->back() == '\n') {
        printed->pop_back();
    }
    if (state->code != 0) {
        return Error(Errc::io, "git " + arguments.front() + ": " + state->str() + ": " + *printed);
    }
    return printed;
}

Result<> GitPeer::git_each(const std::vector<std::vector<std::string>>& commands,
                           bool on_store) const {
    for (const auto& command : commands) {
        if (auto done = git(command, on_store); !done) {
            return done.error();
        }
    }
    return {};
}

Result<> GitPeer::add_and_commit() {
    return git_each({{"add", "-A"}, {"commit", "-q", "-m", "a checkpoint"}}, false);
}

Result<> GitPeer::sequence() {
    auto head = git({"rev-parse", "--verify", kRef}, true);
    if (!head) {
        return head.error();
    }
    auto staged = git_each({{"read-tree", *head}, {"add", "-A"}, {"ls-files", "-z"}}, true);
    if (!staged) {
        return staged;
    }
    auto parent = git({"rev-parse", "--verify", kRef}, true);
    if (!parent) {
        return parent.error();
    }
    if (git({"diff-index", "--cached", "--quiet", *parent}, true)) {
        return Error(Errc::io, "git diff-index: nothing has changed");
    }
    auto tree = git({"write-tree"}, true);
    if (!tree) {
        return tree.error();
    }
    auto commit =
        git({"commit-tree", "--no-gpg-sign", *tree, "-p", *parent, "-m", "a checkpoint"}, true);
    if (!commit) {
        return commit.error();
    }
    return git_each({{"update-ref", kRef, *commit, *parent}}, true);
}

Result<std::string> GitPeer::tree() const {
    return git({"rev-parse", "--verify", std::string(kRef) + "^{tree}"}, true);
}

}  // namespace daybook::bench
