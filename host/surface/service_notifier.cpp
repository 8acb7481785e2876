#include "host/surface/service_notifier.hpp"

#include <charconv>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace daybook {
namespace {

long long number_of(const std::string& text) {
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

ServiceNotifier::ServiceNotifier(const std::function<std::string(const char*)>& variable)
    : address_(variable("NOTIFY_SOCKET")) {
    if (address_.size() < 2 || address_.size() >= sizeof(sockaddr_un::sun_path) ||
        (address_.front() != '/' && address_.front() != '@')) {
        address_.clear();
        return;
    }
    socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const long long pid = number_of(variable("WATCHDOG_PID"));
    if (pid == 0 || pid == ::getpid()) {
        interval_ = std::chrono::microseconds(number_of(variable("WATCHDOG_USEC")) / 2);
    }
}

bool ServiceNotifier::send(std::string_view lines) const {
    if (address_.empty() || !socket_) {
        return false;
    }
    sockaddr_un to = {};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, address_.data(), address_.size());
    if (address_.front() == '@') {
        to.sun_path[0] = '\0';  // an abstract name
    }
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
    return ::sendto(socket_.get(),
                    lines.data(),
                    lines.size(),
                    MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&to),
                    bytes) >= 0;
}

}  // namespace daybook
