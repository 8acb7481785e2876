#include "host/plugin/channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace daybook::channel {
namespace {

// The header, 16 bytes: version (1), type (1), flags (1), zero (1), payload length (4), call id
// (8).
constexpr std::uint8_t kMoreFollows = 1;
constexpr std::size_t kVersionAt = 0;
constexpr std::size_t kTypeAt = 1;
constexpr std::size_t kFlagsAt = 2;
constexpr std::size_t kZeroAt = 3;
constexpr std::size_t kLengthAt = 4;
constexpr std::size_t kCallAt = 8;

void put(std::string& out, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
    }
}

std::uint64_t get(std::string_view bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) {
        number = (number << 8U) | static_cast<unsigned char>(bytes[i - 1]);
    }
    return number;
}

bool is_known(std::uint8_t type) {
    return (type >= static_cast<std::uint8_t>(MessageType::open) &&
            type <= static_cast<std::uint8_t>(MessageType::close)) ||
           (type >= static_cast<std::uint8_t>(MessageType::ready) &&
            type <= static_cast<std::uint8_t>(MessageType::drained));
}

Error malformed(const std::string& what) {
    return Error(Errc::plugin_protocol, "channel: " + what);
}

Error gone(std::string_view operation, int error) {
    const bool closed = error == EPIPE || error == ECONNRESET || error == ENOTCONN || error == 0;
    return Error(Errc::unavailable,
                 std::string(operation) + ": " +
                     (closed ? "the other side is gone" : std::generic_category().message(error)));
}

Result<> send_frame(int socket, const std::string& frame) {
    while (true) {
        const ssize_t sent = ::send(socket, frame.data(), frame.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            // A sequenced packet goes whole or not at all.
            return static_cast<std::size_t>(sent) == frame.size()
                       ? Result<>()
                       : Result<>(malformed("a frame was cut"));
        }
        if (errno != EINTR) {
            return gone("send", errno);
        }
    }
}

}  // namespace

FieldWriter& FieldWriter::add(std::string_view bytes) {
    put(bytes_, bytes.size(), 4);
    bytes_ += bytes;
    return *this;
}

FieldWriter& FieldWriter::add_number(std::int64_t number) {
    put(bytes_, 8, 4);
    put(bytes_, static_cast<std::uint64_t>(number), 8);
    return *this;
}

std::optional<std::string_view> FieldReader::next() {
    if (rest_.size() < 4) {
        return std::nullopt;
    }
    const std::uint64_t length = get(rest_.substr(0, 4));
    if (length > rest_.size() - 4) {
        return std::nullopt;
    }
    const std::string_view field = rest_.substr(4, length);
    rest_.remove_prefix(4 + length);
    return field;
}

std::optional<std::int64_t> FieldReader::next_number() {
    const auto field = next();
    if (!field || field->size() != 8) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(get(*field));
}

Result<std::vector<std::string>> encode(const Message& message) {
    if (message.payload.size() > kMaxMessageBytes) {
        return Error(Errc::full,
                     "channel: a message of " + std::to_string(message.payload.size()) +
                         " bytes is over the limit of " + std::to_string(kMaxMessageBytes));
    }
    const std::string_view payload = message.payload;
    std::vector<std::string> frames;
    std::size_t at = 0;
    do {
        const std::size_t length = std::min(payload.size() - at, kMaxFramePayload);
        const bool more = at + length < payload.size();
        std::string frame;
        frame.reserve(kHeaderBytes + length);
        put(frame, kVersion, 1);
        put(frame, static_cast<std::uint8_t>(message.type), 1);
        put(frame, more ? kMoreFollows : 0, 1);
        put(frame, 0, 1);
        put(frame, length, 4);
        put(frame, message.call, 8);
        frame += payload.substr(at, length);
        frames.push_back(std::move(frame));
        at += length;
    } while (at < payload.size());
    return frames;
}

Result<std::optional<Message>> Assembler::take(std::span<const char> frame, bool truncated) {
    const std::string_view bytes(frame.data(), frame.size());
    if (truncated || bytes.size() > kHeaderBytes + kMaxFramePayload) {
        return malformed("a frame is longer than " +
                         std::to_string(kHeaderBytes + kMaxFramePayload) + " bytes");
    }
    if (bytes.size() < kHeaderBytes) {
        return malformed("a frame of " + std::to_string(bytes.size()) +
                         " bytes is shorter than its header");
    }
    const auto version = static_cast<std::uint8_t>(bytes[kVersionAt]);
    const auto type = static_cast<std::uint8_t>(bytes[kTypeAt]);
    const auto flags = static_cast<std::uint8_t>(bytes[kFlagsAt]);
    if (version != kVersion) {
        return malformed("version " + std::to_string(version) + ", expected " +
                         std::to_string(kVersion));
    }
    if (!is_known(type)) {
        return malformed("unknown message type " + std::to_string(type));
    }
    if ((flags & ~kMoreFollows) != 0 || bytes[kZeroAt] != 0) {
        return malformed("unknown flags");
    }
    const std::uint64_t length = get(bytes.substr(kLengthAt, 4));
    if (length != bytes.size() - kHeaderBytes) {
        return malformed("a frame says " + std::to_string(length) + " bytes and holds " +
                         std::to_string(bytes.size() - kHeaderBytes));
    }
    const CallId call = get(bytes.substr(kCallAt, 8));
    const bool more = (flags & kMoreFollows) != 0;
    if (more && length != kMaxFramePayload) {
        return malformed("a frame that is not the last of its message is not full");
    }
    if (partial_ && (partial_->type != static_cast<MessageType>(type) || partial_->call != call)) {
        return malformed("a frame of another message inside one that is not complete");
    }
    if (!partial_) {
        partial_ = Message{static_cast<MessageType>(type), call, {}};
    }
    if (partial_->payload.size() + length > kMaxMessageBytes) {
        return malformed("a message is over the limit of " + std::to_string(kMaxMessageBytes) +
                         " bytes");
    }
    partial_->payload += bytes.substr(kHeaderBytes);
    if (more) {
        return std::optional<Message>();
    }
    return std::exchange(partial_, std::nullopt);
}

Result<> send_blocking(int socket, const Message& message) {
    auto frames = encode(message);
    if (!frames) {
        return frames.error();
    }
    for (const std::string& frame : *frames) {
        if (auto sent = send_frame(socket, frame); !sent) {
            return sent;
        }
    }
    return {};
}

Result<Message> receive_blocking(int socket, Assembler& assembler) {
    // A byte more than a whole frame: a longer one shows without being taken. No control buffer, so
    // that descriptors that the other side passes are discarded by the kernel.
    std::array<char, kHeaderBytes + kMaxFramePayload + 1> buffer;
    while (true) {
        const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_TRUNC);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return gone("receive", got == 0 ? 0 : errno);
        }
        const auto size = static_cast<std::size_t>(got);
        const std::size_t held = std::min(size, buffer.size());
        auto message = assembler.take(std::span<const char>(buffer.data(), held), size > held);
        if (!message) {
            return message.error();
        }
        if (*message) {
            return std::move(**message);
        }
    }
}

}  // namespace daybook::channel
