#include "host/cli/client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <utility>

#include "host/cli/interrupt.hpp"
#include "host/os/os.hpp"
#include "host/surface/control_token.hpp"

namespace daybook::cli {
namespace {

constexpr std::size_t kMaxLine = 64UL * 1024 * 1024;
constexpr std::size_t kReadBytes = 64UL * 1024;

Error not_running(const std::filesystem::path& socket) {
    return Error(Errc::unavailable,
                 "daybookd is not running: nothing answers at " + socket.string());
}

Error interrupted_error() {
    return Error(Errc::cancelled, "interrupted");
}

/// Where the host says its socket is, when that is not where the rules put it.
std::filesystem::path socket_of(const Places& places) {
    if (places.socket_note.empty()) {
        return places.socket;
    }
    std::ifstream note(places.socket_note);
    std::string path;
    std::getline(note, path);
    return path.empty() || path.size() > kMaxSocketPath ? places.socket
                                                        : std::filesystem::path(path);
}

struct Token {
    std::string text;
    uid_t owner = 0;
};

Result<Token> read_token(const Places& places, const std::filesystem::path& socket) {
    LinuxOs os;
    auto state = os.open_root(places.state);
    if (!state) {
        return state.error().code() == Errc::not_found
                   ? not_running(socket)
                   : Error(Errc::auth, "read the token: " + state.error().message());
    }
    auto token = load_token(os, state->get());
    if (!token) {
        return token.error().code() == Errc::not_found
                   ? not_running(socket)
                   : Error(Errc::auth, "read the token: " + token.error().message());
    }
    auto found = os.stat_beneath(state->get(), kTokenFile);
    if (!found) {
        return found.error();
    }
    return Token{std::move(*token), found->st_uid};
}

}  // namespace

Result<Client> Client::connect(const Places& places) {
    const std::filesystem::path path = socket_of(places);
    auto token = read_token(places, path);
    if (!token) {
        return token.error();
    }
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    std::memcpy(address.sun_path, text.data(), std::min(text.size(), kMaxSocketPath));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        if (errno == ENOENT || errno == ECONNREFUSED) {
            return not_running(path);
        }
        return Error(errno == EACCES ? Errc::auth : Errc::io,
                     "connect to " + text + ": " + std::generic_category().message(errno));
    }
    // Somebody else may have put a socket there first: the token goes to its owner's host only.
    ucred peer = {};
    socklen_t bytes = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
        (peer.uid != token->owner && peer.uid != 0)) {
        return Error(Errc::auth, "connect to " + text + ": another user's program answers there");
    }
    Client client(std::move(socket));
    auto sent = client.send_line(Json::object().set("token", token->text).dump());
    if (!sent) {
        return sent.error();
    }
    return client;
}

Result<> Client::send_line(std::string line) {
    line += '\n';
    std::size_t done = 0;
    while (done < line.size()) {
        const ssize_t sent =
            ::send(socket_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
        if (sent > 0) {
            done += static_cast<std::size_t>(sent);
        } else if (errno == EINTR && interrupted()) {
            return interrupted_error();
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return {};  // what the host had to say about it is still to be read
        } else if (errno != EINTR) {
            return Error(Errc::lost_connection,
                         "write to the host: " + std::generic_category().message(errno));
        }
    }
    return {};
}

Result<std::string> Client::read_line() {
    while (true) {
        if (const auto end = in_.find('\n'); end != std::string::npos) {
            std::string line = in_.substr(0, end);
            in_.erase(0, end + 1);
            return line;
        }
        if (in_.size() > kMaxLine) {
            return Error(Errc::full, "read from the host: a line over 64 MiB");
        }
        // Looked at between short waits, so that a Ctrl-C just before one is not missed.
        pollfd ready = {socket_.get(), POLLIN, 0};
        while (!interrupted() && ::poll(&ready, 1, 250) <= 0) {
        }
        if (interrupted()) {
            return interrupted_error();
        }
        const std::size_t before = in_.size();
        in_.resize(before + kReadBytes);
        const ssize_t got = ::recv(socket_.get(), in_.data() + before, kReadBytes, 0);
        const int error = errno;
        in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0 || (got < 0 && error == ECONNRESET)) {
            return Error(Errc::lost_connection, "the host ended the connection");
        }
        if (got < 0 && error != EINTR) {
            return Error(Errc::lost_connection,
                         "read from the host: " + std::generic_category().message(error));
        }
    }
}

Result<Json> Client::call(std::string_view verb,
                          const Json& args,
                          const std::function<void(const Json& event)>& on_event) {
    const std::int64_t id = next_id_++;
    auto sent = send_line(Json::object().set("id", id).set("do", verb).set("args", args).dump());
    if (!sent) {
        return sent.error();
    }
    while (true) {
        auto line = read_line();
        if (!line) {
            return line.error();
        }
        auto json = Json::parse(*line, JsonLimits{kMaxLine, 128, kMaxLine});
        if (!json) {
            return Error(Errc::corrupt, json.error().during("read from the host").message());
        }
        const Json& known = (*json)["id"];
        if (!known.is_null() && known.as_integer(-1) != id) {
            continue;  // of an earlier request that nobody waits for
        }
        if ((*json)["ok"].kind() == Json::Kind::boolean) {
            if ((*json)["ok"].as_bool()) {
                return (*json)["result"];
            }
            const Json& error = (*json)["error"];
            return Error(code_of(error["code"].as_string()), error["message"].as_string());
        }
        if (on_event) {
            on_event(*json);
        }
    }
}

bool Client::wait_closed() {
    while (!interrupted()) {
        auto line = read_line();
        if (!line) {
            return line.error().code() != Errc::cancelled;
        }
    }
    return false;
}

Errc code_of(std::string_view name) noexcept {
    for (const auto& row : detail::kStatusRows) {
        if (name_of(static_cast<Errc>(row.number)) == name) {
            return static_cast<Errc>(row.number);
        }
    }
    return Errc::internal;
}

std::string connect_hint(const Error& error, const Places& places) {
    if (error.code() == Errc::unavailable &&
        error.message().starts_with("daybookd is not running")) {
        std::error_code ignored;
        const std::string flags = places.flags().empty() ? "" : " " + places.flags();
        return std::filesystem::exists(places.config, ignored)
                   ? "start it with: daybook host start" + flags
                   : "there is no configuration yet; make one with: daybook init" + flags;
    }
    return "";
}

}  // namespace daybook::cli
