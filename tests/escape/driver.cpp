// Makes every attempt, each in a fresh runner, and prints a line each: name, a tab, the verdict.
//
// A process of its own: it plays the host that the attempts are aimed at, and becomes the user whom
// they are made as. Usage: daybook-escape RUNNER MODULE [--profile P] [--landlock L] [--uid N]
// [--gap WALL] [--only NAME] [--list]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <grp.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/escape/trial.hpp"

namespace {

using namespace daybook::escape;

struct Arguments {
    std::string runner, module, only;
    TrialSettings settings;
    uid_t uid = ::getuid();
    bool is_list = false;
};

Arguments parsed(int argc, char** argv) {
    Arguments out;
    if (argc < 3) {
        throw std::runtime_error("RUNNER and MODULE are needed");
    }
    out.runner = std::filesystem::absolute(argv[1]);  // it leaves this folder
    out.module = std::filesystem::absolute(argv[2]);
    for (int i = 3; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--list") {
            out.is_list = true;
            continue;
        }
        if (i + 1 >= argc) {
            throw std::runtime_error("an option needs a value: " + std::string(name));
        }
        const std::string value = argv[++i];
        if (name == "--profile") {
            out.settings.profile = value;
        } else if (name == "--landlock") {
            out.settings.landlock = value;
        } else if (name == "--gap") {
            out.settings.gap = value;
        } else if (name == "--only") {
            out.only = value;
        } else if (name == "--uid") {
            out.uid = static_cast<uid_t>(std::stoul(value));
        } else {
            throw std::runtime_error("unknown option " + std::string(name));
        }
    }
    return out;
}

/// The host itself becomes that user: otherwise ownership alone would protect it.
void become(uid_t uid) {
    if (uid == ::getuid()) {
        return;
    }
    if (::setgroups(0, nullptr) != 0 || ::setresgid(uid, uid, uid) != 0 ||
        ::setresuid(uid, uid, uid) != 0 || ::prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL) != 0) {
        throw std::runtime_error("become another user");
    }
}

void run(const Arguments& arguments) {
    become(arguments.uid);
    // As the host starts its runners: without walls an attempt runs programs, and what those do to
    // the folder they are in (git locks its index) must not reach the caller's.
    if (::chdir("/") != 0) {
        throw std::runtime_error("enter the root folder");
    }
    const EscapeWorld world(arguments.runner, arguments.module);
    HostBait bait(world);
    Trials trials(world, bait, arguments.settings);
    for (const auto& [name, text] : trials.attempts()) {
        if (arguments.is_list) {
            std::printf("%s\t%s\n", name.c_str(), text.c_str());
        } else if (arguments.only.empty() || arguments.only == name) {
            std::printf("%s\t%s\n", name.c_str(), trials.verdict(name).c_str());
            std::fflush(stdout);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(parsed(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "daybook-escape: %s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
