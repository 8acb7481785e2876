#include "host/surface/control_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "host/surface/control_token.hpp"
#include "host/surface/places.hpp"

namespace daybook {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMaxDelay{4000};
constexpr std::chrono::seconds kTellEvery{10};
constexpr std::size_t kMaxCountedTokens = 64;

Error failed(std::string_view step, const std::filesystem::path& path) {
    return Error(
        Errc::io,
        std::string(step) + " " + path.string() + ": " + std::generic_category().message(errno));
}

sockaddr_un address_of(const std::filesystem::path& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    std::memcpy(address.sun_path, text.data(), std::min(text.size(), kMaxSocketPath));
    return address;
}

/// Takes a socket's file that nobody answers at out of the way.
Result<> remove_stale(const std::filesystem::path& path) {
    struct stat found = {};
    if (::lstat(path.c_str(), &found) != 0) {
        return errno == ENOENT ? Result<>() : Result<>(failed("look at", path));
    }
    if (!S_ISSOCK(found.st_mode)) {
        return Error(Errc::refused,
                     "bind " + path.string() + ": something that is no socket has that name");
    }
    const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(path);
    if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
        errno == EAGAIN) {
        return Error(Errc::busy, "bind " + path.string() + ": another host answers there");
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        return failed("remove the stale", path);
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::bind(IoLoop& loop,
                                                           const std::filesystem::path& path,
                                                           std::string token,
                                                           Events events,
                                                           const ControlLimits& limits) {
    if (path.string().size() > kMaxSocketPath) {
        return Error(Errc::invalid,
                     "bind " + path.string() + ": the path is too long for a socket");
    }
    if (auto removed = remove_stale(path); !removed) {
        return removed.error();
    }
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
        return failed("make a socket for", path);
    }
    const sockaddr_un address = address_of(path);
    const mode_t mask = ::umask(0177);  // 0600 from the first moment on
    const int bound =
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = errno;
    ::umask(mask);
    errno = error;
    if (bound != 0) {
        return failed("bind", path);
    }
    return std::unique_ptr<ControlServer>(new ControlServer(
        loop, path, std::move(socket), std::move(token), std::move(events), limits));
}

ControlServer::ControlServer(IoLoop& loop,
                             std::filesystem::path path,
                             UniqueFd socket,
                             std::string token,
                             Events events,
                             const ControlLimits& limits)
    : loop_(loop),
      path_(std::move(path)),
      socket_(std::move(socket)),
      token_(std::move(token)),
      events_(std::move(events)),
      limits_(limits) {
    owner_.is_right = [this](std::string_view given) { return same_token(token_, given); };
    owner_.note_wrong_token = [this](const Peer& peer) { return note_wrong_token(peer); };
    owner_.take = [this](ControlRequest request, std::shared_ptr<Reply> reply) {
        events_.take(std::move(request), std::move(reply));
    };
    owner_.ended = [this](std::uint64_t number) { connections_.erase(number); };
}

ControlServer::~ControlServer() {
    acceptable_.reset();
    pause_.reset();
    ::unlink(path_.c_str());
}

Result<> ControlServer::listen() {
    if (::listen(socket_.get(), 64) != 0) {
        return failed("listen at", path_);
    }
    loop_.post([this] {
        acceptable_ = loop_.watch(socket_.get(), IoLoop::Ready::read, [this] { accept_all(); });
    });
    return {};
}

void ControlServer::accept_all() {
    while (true) {
        UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket) {
            take_connection(std::move(socket));
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED) {
            continue;
        }
        if (errno != EAGAIN) {
            // Out of descriptors or memory: the connection stays in the queue, so a watch would
            // spin.
            acceptable_.reset();
            pause_ = loop_.after(std::chrono::seconds(1), [this] {
                acceptable_ =
                    loop_.watch(socket_.get(), IoLoop::Ready::read, [this] { accept_all(); });
            });
        }
        return;
    }
}

void ControlServer::take_connection(UniqueFd socket) {
    ucred credentials = {};
    socklen_t bytes = sizeof credentials;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
        return;
    }
    const Peer peer{credentials.pid, credentials.uid};
    const std::uint64_t number = next_number_++;
    auto connection = std::make_shared<ControlConnection>(
        loop_, std::move(socket), peer, number, limits_, owner_);
    const bool room = make_room();
    connections_.emplace(number, connection);
    if (peer.uid != ::geteuid() && peer.uid != 0) {
        connection->refuse(Error(Errc::auth, "this socket serves its owner and root only"));
    } else if (!room) {
        connection->refuse(Error(
            Errc::busy,
            std::to_string(limits_.max_connections) + " connections are open; close one, or wait"));
    } else {
        connection->start();
    }
}

/// At the limit, the oldest connection that has shown no token goes: it cannot keep the owner out.
bool ControlServer::make_room() {
    if (connections_.size() < limits_.max_connections) {
        return true;
    }
    const auto untrusted = std::find_if(connections_.begin(), connections_.end(), [](auto& each) {
        return !each.second->is_trusted();
    });
    if (untrusted == connections_.end()) {
        return false;
    }
    const auto [number, oldest] = *untrusted;
    oldest->refuse(Error(Errc::busy, "too many connections without a token"));
    connections_.erase(number);
    return true;
}

std::chrono::milliseconds ControlServer::note_wrong_token(const Peer& peer) {
    const auto now = steady_clock::now();
    while (!wrong_tokens_.empty() && (now - wrong_tokens_.front() > std::chrono::minutes(1) ||
                                      wrong_tokens_.size() >= kMaxCountedTokens)) {
        wrong_tokens_.pop_front();
    }
    auto delay = limits_.wrong_token_delay;
    for (std::size_t i = 0; i < wrong_tokens_.size() && delay < kMaxDelay; ++i) {
        delay *= 2;
    }
    wrong_tokens_.push_back(now);
    ++untold_;
    if (events_.on_wrong_token && now - last_told_ >= kTellEvery) {
        last_told_ = now;
        events_.on_wrong_token(peer, std::exchange(untold_, 0));
    }
    return std::min(delay, kMaxDelay);
}

void ControlServer::stop(Error why) {
    loop_.post([this, why = std::move(why)] {
        acceptable_.reset();
        pause_.reset();
        const auto open = connections_;
        for (const auto& [number, connection] : open) {
            connection->stop(why);
        }
    });
}

}  // namespace daybook
