#include "host/plugin/channel.hpp"

#include <sys/socket.h>
#include <thread>

#include "host/os/unique_fd.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::channel;
using daybook::test::must;

namespace {

Result<std::optional<Message>> take(Assembler& assembler,
                                    const std::string& frame,
                                    bool truncated = false) {
    return assembler.take(std::span<const char>(frame.data(), frame.size()), truncated);
}

std::string frame_of(std::size_t bytes, MessageType type = MessageType::result, CallId call = 7) {
    return must(encode({type, call, std::string(bytes, 'x')})).front();
}

struct Sockets {
    UniqueFd host;
    UniqueFd runner;
    Sockets() {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        host.reset(ends[0]);
        runner.reset(ends[1]);
    }
};

}  // namespace

TEST_CASE("fields read back as written, bytes and numbers", "[channel]") {
    FieldWriter writer;
    writer.add("desk-files/1.read").add(std::string_view("a\0b", 3)).add("").add_number(-5);
    const std::string payload = writer.take();
    FieldReader reader(payload);
    CHECK(reader.next() == "desk-files/1.read");
    CHECK(reader.next() == std::string_view("a\0b", 3));
    CHECK(reader.next() == "");
    CHECK(reader.next_number() == -5);
    CHECK(reader.at_end());
    CHECK(!reader.next());
}

TEST_CASE("a short or lying payload gives no field", "[channel]") {
    for (const std::string& payload : {std::string("\x05\0\0", 3),
                                       std::string("\x05\0\0\0abcd", 8),
                                       std::string("\xff\xff\xff\xff", 4)}) {
        FieldReader reader(payload);
        CHECK(!reader.next());
    }
    FieldReader number(std::string_view("\x03\0\0\0abc", 7));
    CHECK(!number.next_number());
}

TEST_CASE("a small message is one frame, a large one several, and both come back whole",
          "[channel]") {
    for (const std::size_t size : {std::size_t{0},
                                   std::size_t{1},
                                   kMaxFramePayload,
                                   kMaxFramePayload + 1,
                                   3 * kMaxFramePayload,
                                   kMaxMessageBytes}) {
        std::string payload(size, '\0');
        for (std::size_t i = 0; i < size; ++i) {
            payload[i] = static_cast<char>(i * 31 % 251);
        }
        const auto frames = must(encode({MessageType::call, 42, payload}));
        CHECK(frames.size() ==
              std::max<std::size_t>(1, (size + kMaxFramePayload - 1) / kMaxFramePayload));
        Assembler assembler;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            auto taken = must(take(assembler, frames[i]));
            REQUIRE(taken.has_value() == (i + 1 == frames.size()));
            if (taken) {
                CHECK(taken->type == MessageType::call);
                CHECK(taken->call == 42);
                CHECK((taken->payload == payload));
            }
        }
    }
    CHECK(encode({MessageType::call, 1, std::string(kMaxMessageBytes + 1, 'x')}).error().code() ==
          Errc::full);
}

TEST_CASE("every malformed frame ends the connection", "[channel]") {
    const std::string good = frame_of(10);
    const auto refused = [](std::string frame, bool truncated = false) {
        Assembler assembler;
        const auto taken = take(assembler, frame, truncated);
        return !taken && taken.error().code() == Errc::plugin_protocol;
    };
    const auto with = [&](std::size_t at, char value) {
        std::string frame = good;
        frame[at] = value;
        return frame;
    };
    CHECK(!refused(good));
    CHECK(refused(""));
    CHECK(refused(good.substr(0, 15)));
    CHECK(refused(good.substr(0, 20)));
    CHECK(refused(good + "x"));
    CHECK(refused(good, true));
    CHECK(refused(with(0, 2)));  // version
    CHECK(refused(with(1, 0)));  // type
    CHECK(refused(with(1, 7)));
    CHECK(refused(with(1, 31)));
    CHECK(refused(with(1, 42)));
    CHECK(refused(with(2, 2)));  // flags
    CHECK(refused(with(3, 1)));
    CHECK(refused(with(4, 11)));  // length
    CHECK(refused(with(2, 1)));   // more follows, but not full
    CHECK(refused(std::string(kHeaderBytes + kMaxFramePayload + 1, 'x')));
}

TEST_CASE("a frame of another message inside one that is not complete is refused", "[channel]") {
    const auto frames =
        must(encode({MessageType::result, 7, std::string(kMaxFramePayload + 1, 'x')}));
    for (const std::string& other :
         {frame_of(1, MessageType::result, 8), frame_of(1, MessageType::progress, 7)}) {
        Assembler assembler;
        REQUIRE(!must(take(assembler, frames[0])));
        CHECK(take(assembler, other).error().code() == Errc::plugin_protocol);
    }
}

TEST_CASE("a message that never ends is cut off at the limit", "[channel]") {
    const std::string part =
        must(encode({MessageType::result, 7, std::string(kMaxFramePayload + 1, 'x')})).front();
    Assembler assembler;
    for (std::size_t i = 0; i < kMaxMessageBytes / kMaxFramePayload; ++i) {
        REQUIRE(!must(take(assembler, part)));
    }
    CHECK(take(assembler, part).error().code() == Errc::plugin_protocol);
}

TEST_CASE("messages of every size go over a socket", "[channel]") {
    Sockets sockets;
    const std::string large(1'000'000, 'y');
    bool sent = false;
    std::thread sender([&] {
        sent = send_blocking(sockets.runner.get(), {MessageType::ready, 0, "a"}) &&
               send_blocking(sockets.runner.get(), {MessageType::result, 9, large});
    });
    Assembler assembler;
    CHECK(must(receive_blocking(sockets.host.get(), assembler)).payload == "a");
    const Message second = must(receive_blocking(sockets.host.get(), assembler));
    CHECK(second.call == 9);
    CHECK((second.payload == large));
    sender.join();
    CHECK(sent);
}

TEST_CASE("the other side's end is unavailable, an oversized datagram a protocol error",
          "[channel]") {
    Sockets sockets;
    Assembler assembler;
    const std::string oversized(kHeaderBytes + kMaxFramePayload + 100, 'x');
    REQUIRE(send(sockets.runner.get(), oversized.data(), oversized.size(), 0) > 0);
    CHECK(receive_blocking(sockets.host.get(), assembler).error().code() == Errc::plugin_protocol);
    sockets.runner.reset();
    CHECK(receive_blocking(sockets.host.get(), assembler).error().code() == Errc::unavailable);
    CHECK(send_blocking(sockets.host.get(), {MessageType::drain, 0, ""}).error().code() ==
          Errc::unavailable);
}
