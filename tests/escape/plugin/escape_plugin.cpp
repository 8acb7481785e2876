// One tool: {"what":"w01_open_write", ...} makes that attempt and returns {"errno":n,"text":…}. As
// a program (DAYBOOK_ESCAPE_PROGRAM) it reads the same from a line of its input and answers with
// one.
#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <fcntl.h>
#include <iostream>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <daybook/plugin.hpp>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {

Outcome tried_open(const std::string& path, int flags, int mode) {
    const long fd = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags, mode);
    return fd < 0 ? Outcome{errno, {}} : Outcome{0, std::to_string(fd)};
}

Outcome tried_write(const std::string& path, int flags, int mode) {
    const Outcome opened = tried_open(path, flags, mode);
    if (opened.error != 0) {
        return opened;
    }
    const int fd = std::stoi(opened.text);
    const Outcome written = tried(::write(fd, "hostile\n", 8));
    ::close(fd);
    return written;
}

Outcome tried_read(const std::string& path) {
    const Outcome opened = tried_open(path, O_RDONLY);
    if (opened.error != 0) {
        return opened;
    }
    std::array<char, 16> bytes{};
    const int fd = std::stoi(opened.text);
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    const Outcome read = tried(got);
    ::close(fd);
    return {read.error,
            std::string(bytes.data(), got < 0 ? std::size_t{0} : static_cast<std::size_t>(got))};
}

Outcome tried_child(long child) {
    if (child == 0) {
        for (;;) {
            ::pause();
        }
    }
    return tried(child);
}

namespace {

using List = std::span<const Attempt> (*)();
constexpr List kLists[] = {&write_attempts,
                           &name_attempts,
                           &metadata_attempts,
                           &program_attempts,
                           &read_attempts,
                           &process_attempts,
                           &kernel_attempts,
                           &network_attempts,
                           &exhaustion_attempts,
                           &scratch_attempts,
                           &scratch_link_attempts};

// What a constructor of the module found, before the descriptor was asked for.
int constructor_open() {
    Dl_info self{};
    ::dladdr(reinterpret_cast<const void*>(&constructor_open), &self);
    if (self.dli_fname == nullptr) {
        return ENOENT;
    }
    const std::string file = self.dli_fname;
    const std::string root = file.substr(0, file.rfind("/modules/"));
    const Outcome opened = tried_open(root + "/desk/Memory.md", O_WRONLY | O_APPEND);
    if (opened.error == 0) {  // what it could do is shown; a change would be taken for another's
        ::close(std::stoi(opened.text));
    }
    return opened.error;
}
int constructor_child() {
    const long child = ::syscall(SYS_clone, SIGCHLD, 0UL, 0UL, 0UL, 0UL);
    if (child == 0) {
        ::_exit(0);
    }
    const int error = tried(child).error;
    if (error == 0) {  // nothing of it may be left to be taken for another attempt's
        ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    }
    return error;
}
const int kConstructorOpen = constructor_open();
const int kConstructorChild = constructor_child();

constexpr Attempt kConstructor[] = {
    {"x01_constructor_open",
     "open Memory.md for writing in a constructor, before the host has asked anything",
     [](const Target&) {
         return Outcome{kConstructorOpen, {}};
     }},
    {"x02_constructor_child",
     "start a process from a constructor",
     [](const Target&) {
         return Outcome{kConstructorChild, {}};
     }},
};

template <class Visit>
void for_each_attempt(const Visit& visit) {
    for (const Attempt& one : kConstructor) {
        visit(one);
    }
    for (const List list : kLists) {
        for (const Attempt& one : list()) {
            visit(one);
        }
    }
}

std::string make_attempt(std::string_view args) {
    const json::ObjectReader in(args);
    const Target target{in.text("root"),
                        in.text("root") + "/desk/Memory.md",
                        in.text("root") + "/other/Memory.md",
                        in.text("root") + "/keys/key",
                        in.text("root") + "/scratch/own",
                        static_cast<int>(in.integer("pid")),
                        static_cast<int>(in.integer("fd", -1)),
                        static_cast<int>(in.integer("port", 9)),
                        in.text("address")};
    const std::string what = in.text("what");
    std::string answer;
    for_each_attempt([&](const Attempt& one) {
        if (what == one.name && answer.empty()) {
            const Outcome outcome = one.act(target);
            answer =
                json::ObjectWriter().add("errno", outcome.error).add("text", outcome.text).str();
        }
    });
    if (answer.empty()) {
        throw PluginError(DAYBOOK_NOT_FOUND, "no attempt is named " + what);
    }
    return answer;
}

#ifndef DAYBOOK_ESCAPE_PROGRAM
std::string attempt(Call, std::string_view args) {
    return make_attempt(args);
}

std::string attempts(Call, std::string_view) {
    json::ArrayWriter list;
    for_each_attempt([&](const Attempt& one) {
        list.add_raw(json::ObjectWriter().add("name", one.name).add("text", one.text).str());
    });
    return list.str();
}

constexpr auto kAttempt = tool<attempt>(
    "attempt",
    "Makes one attempt to get out.",
    R"({"type":"object","required":["what"],"properties":{"what":{"type":"string"}}})");
constexpr auto kList = tool<attempts>("attempts", "Names of all attempts.", R"({"type":"object"})");
#endif

}  // namespace
}  // namespace daybook::escape

#ifdef DAYBOOK_ESCAPE_PROGRAM
int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::cout << daybook::escape::make_attempt(line) << std::endl;
    }
}
#else
DAYBOOK_PLUGIN("escape", "1.0.0", &daybook::escape::kAttempt, &daybook::escape::kList)
#endif
