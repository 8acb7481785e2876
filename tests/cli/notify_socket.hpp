// Where a service manager would listen, and the daemon started with it in its environment.
#pragma once

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

#include "host/os/unique_fd.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace daybook::test {

class NotifySocket {
  public:
    explicit NotifySocket(std::filesystem::path path) : path_(std::move(path)) {
        socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        const std::string name = path_.string();
        REQUIRE(name.size() < sizeof address.sun_path);
        std::memcpy(address.sun_path, name.data(), name.size());
        std::filesystem::remove(path_);
        REQUIRE(::bind(socket_.get(),
                       reinterpret_cast<const sockaddr*>(&address),
                       sizeof address) == 0);
    }

    /// The next datagram; "" when none comes in time.
    [[nodiscard]] std::string next(std::chrono::milliseconds within) const {
        pollfd ready = {socket_.get(), POLLIN, 0};
        if (::poll(&ready, 1, static_cast<int>(within.count())) <= 0) {
            return "";
        }
        char text[4096];
        const ssize_t got = ::recv(socket_.get(), text, sizeof text, 0);
        return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
    }

    /// The next datagram that has `part`, and all before it in `before`; "" after 30 s of silence.
    std::string wait_for(const std::string& part, std::string* before = nullptr) const {
        while (true) {
            std::string text = next(std::chrono::seconds(30));
            if (text.empty() || text.find(part) != std::string::npos) {
                return text;
            }
            if (before != nullptr) {
                *before += text + "\n";
            }
        }
    }

    /// The daemon of that home, told of this socket; `more` is further NAME=value.
    [[nodiscard]] std::unique_ptr<Running> start(const Home& home, const Words& more = {}) const {
        Words words = {"NOTIFY_SOCKET=" + path_.string()};
        words.insert(words.end(), more.begin(), more.end());
        for (const std::string& word : {std::string(DAYBOOK_BUILD_DIR) + "/bin/daybookd",
                                        std::string("--home"),
                                        home.path().string()}) {
            words.push_back(word);
        }
        return std::make_unique<Running>("/usr/bin/env", words, home.path());
    }

  private:
    std::filesystem::path path_;
    UniqueFd socket_;
};

}  // namespace daybook::test
