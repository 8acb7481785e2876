// kill -9 at random moments of a stream of writes: what was acknowledged is there, once, and
// nothing is half.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

constexpr int kRounds = 30;
constexpr unsigned kSeed = 20261019;

/// In the child: writes notes and a memory file for ever, and says each acknowledged text through
/// the pipe.
[[noreturn]] void write_for_ever(GatedDesk& desk, int pipe, int round) {
    if (!desk.start()) {
        ::_exit(3);
    }
    const auto say = [pipe](const std::string& line) {
        if (::write(pipe, line.data(), line.size()) < 0) {
            ::_exit(4);
        }
    };
    say("ready\n");
    for (int i = 0;; ++i) {
        const std::string text = "- r" + std::to_string(round) + " n" + std::to_string(i);
        if (!desk.append(kNotes, text)) {
            ::_exit(5);
        }
        say("note " + text + "\n");
        const std::string memory = "# round " + std::to_string(round) + " write " +
                                   std::to_string(i) + "\n" +
                                   std::string(static_cast<std::size_t>(100 + i % 50), 'm') + "\n";
        (void)desk.gate->read(desk.shown, path_of("Memory.md"));
        if (!desk.replace("Memory.md", memory)) {
            ::_exit(6);
        }
        say("memory " + sha256_hex(memory) + "\n");
    }
}

struct Heard {
    std::vector<std::string> notes;
    std::string memory;  ///< hash of the last acknowledged
};

/// Runs one writer, kills it so long after so many acknowledgements, and returns what it had
/// acknowledged.
Heard run_and_kill(GatedDesk& desk,
                   int round,
                   std::ptrdiff_t after,
                   std::chrono::microseconds delay) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        write_for_ever(desk, ends[1], round);
    }
    ::close(ends[1]);
    std::string output;
    std::array<char, 4096> buffer{};
    const auto read_some = [&] {
        const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
        output.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
        return got > 0;
    };
    while (std::count(output.begin(), output.end(), '\n') <= after &&
           read_some()) {  // the first line is "ready"
    }
    ::usleep(
        static_cast<useconds_t>(delay.count()));  // the moment of the kill; nothing waits for it
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    while (read_some()) {
    }
    ::close(ends[0]);
    CHECK(WIFSIGNALED(status));
    Heard heard;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("note ")) {
            heard.notes.push_back(line.substr(5));
        } else if (line.starts_with("memory ")) {
            heard.memory = line.substr(7);
        }
    }
    return heard;
}

std::size_t count_in(const std::string& text, const std::string& line) {
    std::size_t count = 0;
    std::istringstream lines(text);
    for (std::string at; std::getline(lines, at);) {
        count += at == line ? 1U : 0U;
    }
    return count;
}

}  // namespace

TEST_CASE("after kill -9 at a random moment every acknowledged write is there once", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    desk.stop();
    std::mt19937 random(kSeed);
    std::uniform_int_distribution<int> acknowledgements(0, 6);
    std::uniform_int_distribution<int> moment(0, 4000);
    std::vector<std::string> all_notes;
    for (int round = 0; round < kRounds; ++round) {
        const std::ptrdiff_t after = acknowledgements(random);
        const Heard heard =
            run_and_kill(desk, round, after, std::chrono::microseconds(moment(random)));
        all_notes.insert(all_notes.end(), heard.notes.begin(), heard.notes.end());
        INFO("seed " << kSeed << " round " << round);
        const Result<> started = desk.start();
        INFO((started ? "" : started.error().message()));
        REQUIRE(started);
        CHECK(desk.temporaries() == 0);
        CHECK_FALSE(desk.store->recovery().owner_edited);
        const std::string notes =
            std::filesystem::exists(desk.folder / kNotes) ? desk.get(std::string(kNotes)) : "";
        CHECK((notes.empty() || notes.ends_with('\n')));
        for (const std::string& note : all_notes) {
            CHECK(count_in(notes, note) == 1);
        }
        std::map<std::string, int> lines;  // by checkpoint
        for (const auto& record : desk.records()) {
            if (record.entry.type.ends_with("_written")) {
                ++lines[record.entry.data["checkpoint"].as_string()];
            }
        }
        for (const auto& checkpoint : must(desk.store->list(6))) {
            CHECK(lines[checkpoint.id] == (checkpoint.written_commit.empty() ? 0 : 1));
        }
        if (std::filesystem::exists(desk.folder / "Memory.md")) {
            const std::string memory = desk.get("Memory.md");
            CHECK((memory.starts_with("# round ") && memory.ends_with("m\n")));
            CHECK(desk.store->committed_sha256(path_of("Memory.md")) == sha256_hex(memory));
        }
        desk.stop();
    }
    CHECK(all_notes.size() > kRounds);
    CHECK(desk.fsck() == "");
    CHECK_FALSE(std::filesystem::exists(desk.repository / "refs/heads/checkpoints.lock"));
    REQUIRE(desk.start());
    REQUIRE(desk.append(kNotes, "- still works"));
}
