// A desk's folder, its repository and a store on them; and plain git to look at the repository from
// outside.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/format/sha256.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

struct Ran {
    int code = -1;
    std::string output;  ///< stdout and stderr
};

/// Runs a shell command that the test wrote.
inline Ran run(const std::string& command) {
    Ran ran;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "re");
    if (pipe == nullptr) {
        throw std::runtime_error("start a command");
    }
    std::array<char, 4096> buffer{};
    std::size_t got = 0;
    while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
        ran.output.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

inline DeskPath path_of(const std::string& text) {
    auto path = DeskPath::parse(text);
    if (!path) {
        throw std::runtime_error(path.error().message());
    }
    return *path;
}

/// The form that a desk of a test has unless it says otherwise: DAYBOOK_TEST_CHECKPOINTS, when it
/// is not set the default of a home. Every suite runs with both.
inline CheckpointForm form_of_tests() {
    const char* form = std::getenv("DAYBOOK_TEST_CHECKPOINTS");
    return form != nullptr && std::string(form) == "plain" ? CheckpointForm::plain
                                                           : CheckpointForm::journalled;
}

struct Desk {
    TempFolder home;
    CheckpointForm form;
    LinuxOs os;
    FaultOs fault{os};  // the store's thread works through it to its end: it is not a test's own
    ReplayedClock clock{Timestamp(std::chrono::seconds(1'760'848'331))};
    std::filesystem::path folder = home / "workspace/main";
    std::filesystem::path repository = home / "workspace/.checkpoints/main.git";
    UniqueFd dir;
    std::unique_ptr<CheckpointStore> store;

    explicit Desk(CheckpointForm form_in = form_of_tests()) : form(form_in) {
        std::filesystem::create_directories(folder);
        dir = *os.open_root(folder);
    }

    Result<> open() { return open_with(os); }
    Result<> open_with(Os& through) {
        store.reset();
        auto opened = CheckpointStore::open(through, clock, dir.get(), repository, "main", form);
        if (!opened) {
            return opened.error();
        }
        store = std::move(*opened);
        return {};
    }

    /// In the desk's folder, as the owner would.
    void put(const std::string& name, const std::string& text) const {
        home.write("workspace/main/" + name, text);
    }
    [[nodiscard]] std::string get(const std::string& name) const {
        return home.read("workspace/main/" + name);
    }

    /// After everything recorded has been brought into the repository.
    [[nodiscard]] Ran git(const std::string& arguments) const {
        if (store) {
            const Result<> ignored = store->publish();
        }
        return git_now(arguments);
    }
    /// On the repository as it is at this instant.
    [[nodiscard]] Ran git_now(const std::string& arguments) const {
        return run("git --git-dir '" + repository.string() + "' " + arguments);
    }
    /// "" when the repository is without a fault.
    [[nodiscard]] std::string fsck() const {
        const Ran ran = git("fsck --full --strict --no-dangling --no-progress");
        return ran.code == 0 && ran.output.empty()
                   ? ""
                   : "code " + std::to_string(ran.code) + ": " + ran.output;
    }

    /// A whole write, as the gate does it.
    Result<Checkpoint> write(const std::string& name, const std::string& text) {
        const DeskPath path = path_of(name);
        const bool there = std::filesystem::exists(folder / name);
        const std::string base = there ? sha256_hex(get(name)) : "";
        CheckpointReason why;
        why.reason = "write " + name;
        why.tool = "write_file";
        auto taken = store->take(path, base, sha256_hex(text), why, text);
        if (!taken) {
            return taken;
        }
        put(name, text);
        if (auto recorded = store->record_written(*taken, path, text); !recorded) {
            return recorded.error();
        }
        return taken;
    }
};

}  // namespace daybook::test
