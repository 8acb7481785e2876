// A runner that speaks the channel and breaks its rules in one named way: the part of a hostile
// plugin that has taken its process over. The way is the plugin's name on the command line. No
// walls, no module.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "host/plugin/channel.hpp"

namespace {

using daybook::channel::Assembler;
using daybook::channel::CallId;
using daybook::channel::FieldReader;
using daybook::channel::FieldWriter;
using daybook::channel::Message;
using daybook::channel::MessageType;

constexpr int kChannel = 3;

void tell(MessageType type, CallId call, std::string payload) {
    if (!daybook::channel::send_blocking(kChannel, {type, call, std::move(payload)})) {
        std::_Exit(0);
    }
}

void raw(std::string_view bytes) {
    static_cast<void>(::send(kChannel, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

std::string text(std::string_view a) {
    return FieldWriter().add(a).take();
}

std::string verb(std::int64_t request, std::string_view name) {
    return FieldWriter().add_number(request).add(name).take();
}

void send_ready(const std::string& mode) {
    const std::string tools =
        mode == "lies" ? R"([{"name":"other","input_schema":{"type":"object"}}])" : "[]";
    const std::string descriptor = R"({"manifest":1,"name":")" + mode +
                                   R"(","version":"1.0.0","abi":[1,0],"tools":)" + tools +
                                   R"(,"models":[],"skills":[]})";
    tell(MessageType::ready,
         0,
         FieldWriter().add(R"({"landlock":0,"seccomp":0})").add(descriptor).take());
}

[[noreturn]] void pause_for_ever() {
    while (true) {
        ::pause();
    }
}

void pass_descriptors(CallId call) {
    std::string frame =
        daybook::channel::encode({MessageType::progress, call, text("with descriptors")})->front();
    iovec part{frame.data(), frame.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 5)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * 5);
    const std::array<int, 5> fds{0, 1, 2, 0, 1};
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(fds));
    static_cast<void>(::sendmsg(kChannel, &message, MSG_NOSIGNAL));
}

/// Ways that go on without end. True: it was one of them.
bool misbehave_endlessly(const std::string& mode, CallId call) {
    if (mode == "flood_progress") {
        while (true) {
            tell(MessageType::progress, call, text("again"));
        }
    } else if (mode == "flood_log") {
        while (true) {
            tell(MessageType::log, 0, FieldWriter().add_number(1).add("again").add("").take());
        }
    } else if (mode == "flood_events") {
        const std::string big(60000, 'x');
        while (true) {
            tell(MessageType::event, call, FieldWriter().add("text").add(big).take());
        }
    } else if (mode == "never_reads") {
        for (std::int64_t request = 1;; ++request) {
            tell(MessageType::verb, call, verb(request, "clock/1.now_ns"));
        }
    } else if (mode == "closes") {
        ::close(kChannel);
        pause_for_ever();
    } else if (mode == "silent") {
        pause_for_ever();
    }
    return false;
}

void answer_call(const std::string& mode, CallId call, const std::string& arguments) {
    misbehave_endlessly(mode, call);
    if (mode == "garbage") {
        raw("this is not a frame at all");
    } else if (mode == "oversized") {
        raw(std::string(100000, 'x'));
    } else if (mode == "other_call") {
        tell(MessageType::result, call + 1000, text("{}"));
    } else if (mode == "no_call") {
        tell(MessageType::verb, 0, verb(1, "clock/1.now_ns"));
    } else if (mode == "host_type") {
        tell(MessageType::cancel, call, {});
    } else if (mode == "bad_result") {
        tell(MessageType::result, call, "\xff\xff\xff\xff");
    } else if (mode == "bad_verb") {
        tell(MessageType::verb, call, "\x01");
    } else if (mode == "not_json") {
        tell(MessageType::result, call, text("{\"a\":1,\"a\":2}"));
    } else if (mode == "many_values") {
        std::string many = "[0";
        for (int i = 0; i < 600000; ++i) {
            many += ",0";
        }
        tell(MessageType::result, call, text(many + "]"));
    } else if (mode == "long_text") {
        tell(MessageType::result, call, text("\"" + std::string(2000000, ',') + "\""));
    } else if (mode == "half") {
        auto frames =
            daybook::channel::encode({MessageType::result, call, std::string(100000, 'x')});
        raw(frames->front());
        tell(MessageType::progress, call, text("in between"));
    } else if (mode == "exits") {
        std::_Exit(0);
    } else if (mode == "descriptors") {
        pass_descriptors(call);
        tell(MessageType::result, call, text("{}"));
    } else {
        tell(MessageType::result, call, text(arguments));
        if (mode == "double") {
            tell(MessageType::result, call, text("{\"second\":true}"));
        } else if (mode == "late") {
            tell(MessageType::verb, call, verb(77, "desk-files/1.append"));
        }
        return;
    }
    if (mode != "descriptors") {
        pause_for_ever();
    }
}

/// True: go on serving.
bool take(const std::string& mode, const Message& message) {
    FieldReader fields(message.payload);
    if (message.type == MessageType::open) {
        std::printf("opened with %s\n", std::string(fields.next().value_or("?")).c_str());
        std::fflush(stdout);
        tell(MessageType::opened, 0, {});
        return true;
    }
    if (message.type == MessageType::call) {
        fields.next();
        fields.next();
        answer_call(mode, message.call, std::string(fields.next().value_or("{}")));
        return true;
    }
    if (message.type == MessageType::verb_reply) {
        const auto request = fields.next_number().value_or(0);
        const auto status = fields.next_number().value_or(0);
        std::printf(
            "verb %ld answered %ld\n", static_cast<long>(request), static_cast<long>(status));
        std::fflush(stdout);
        return true;
    }
    if (message.type == MessageType::drain) {
        if (mode != "never_drains") {
            tell(MessageType::drained, 0, {});
        }
        return true;
    }
    return message.type == MessageType::cancel;
}

void start_up(const std::string& mode) {
    if (mode == "mute") {
        pause_for_ever();
    }
    if (mode == "dies") {
        std::fputs("cannot find my feet\n", stderr);
        std::_Exit(3);
    }
    if (mode == "dies_telling") {
        std::fputs("no answer for key sk-ant-api03-Zx81QpLm22\n", stderr);
        std::_Exit(3);
    }
    if (mode == "start_failed") {
        const auto refused = static_cast<std::int64_t>(3);
        tell(MessageType::start_failed,
             0,
             FieldWriter()
                 .add("landlock")
                 .add_number(refused)
                 .add("this kernel has no Landlock")
                 .take());
        std::_Exit(71);
    }
    if (mode == "early") {
        tell(MessageType::result, 1, text("{}"));
        pause_for_ever();
    }
    if (mode == "environment") {
        for (char** variable = environ; *variable != nullptr; ++variable) {
            std::printf("env %s\n", *variable);
        }
        std::fflush(stdout);
    }
    if (mode == "talkative") {
        for (int i = 0; i < 1000; ++i) {
            std::printf("line %d\n", i);
        }
        std::printf("%s\x1b[31m\xff\n", std::string(5000, 'y').c_str());
        std::fflush(stdout);
    }
    send_ready(mode);
}

}  // namespace

int main(int argc, char** argv) {
    std::string mode;
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::string_view(argv[i]) == "--plugin") {
            mode = argv[i + 1];
        }
    }
    start_up(mode);
    Assembler assembler;
    while (true) {
        auto message = daybook::channel::receive_blocking(kChannel, assembler);
        if (!message || !take(mode, *message)) {
            return 0;
        }
    }
}
