// Failures and kills inside the system calls that libgit2 makes itself: strace makes the nth call
// of a kind fail, in a process that writes to a desk. DAYBOOK_INJECT_POINTS sets how many places of
// each kind are tried.
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/fault/desk_writer.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kRoot = "DAYBOOK_INJECTED_ROOT";
constexpr int kWrites = 6;

/// Why not, or "".
std::string why_no_strace() {
    const Ran ran = run("strace -o /dev/null true");
    return ran.code == 0 ? "" : "strace cannot trace here: " + ran.output.substr(0, 200);
}

std::uint64_t points() {
    const char* text = std::getenv("DAYBOOK_INJECT_POINTS");
    return text == nullptr ? 3 : std::strtoull(text, nullptr, 10);
}

/// What the traced process said, as Promises understands it, and whether it was refused something
/// before a later write was acknowledged.
struct Told {
    std::string lines;
    bool was_refused = false;
    bool done_after_refusal = false;
};

Told told_in(const fs::path& file) {
    Told told;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        told.lines += line + "\n";
        told.was_refused = told.was_refused || line.starts_with("refused");
        told.done_after_refusal =
            told.done_after_refusal || (told.was_refused && line.starts_with("done"));
    }
    return told;
}

/// Runs the hidden test below under strace with one injection, then opens the desk as a start does.
Told run_injected(const std::string& injection,
                  std::uint64_t first_op,
                  Promises& promises,
                  const fs::path& root) {
    std::error_code ignored;
    fs::remove(root / "told", ignored);
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    const Ran ran = run(std::string(kRoot) + "=" + root.string() + " DAYBOOK_INJECTED_OP=" +
                        std::to_string(first_op) + " strace -f -o /dev/null -e '" + injection +
                        "' " + self + " '[injected-writer]'");
    const Told told = told_in(root / "told");
    INFO(injection << "\n" << told.lines << ran.output.substr(0, 500));
    promises.hear(told.lines);
    DiskDesk desk(root / "home");
    const Result<> started = desk.start();
    INFO((started ? "" : started.error().message()));
    REQUIRE(started);
    CHECK(promises.check(desk) == "");
    CHECK(desk.write("memory/after.md", kReplace, "after " + std::to_string(first_op) + "\n"));
    return told;
}

/// Says a line to the file through a call that no injection strikes.
class Teller {
  public:
    explicit Teller(const fs::path& file)
        : fd_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
    void operator()(std::string line) const {
        line += "\n";
        iovec piece{line.data(), line.size()};
        if (::writev(fd_.get(), &piece, 1) < 0) {
            ::_exit(4);
        }
    }

  private:
    UniqueFd fd_;
};

}  // namespace

TEST_CASE("the process that is traced: writes, and says what was acknowledged",
          "[.][injected-writer]") {
    const char* root = std::getenv(kRoot);
    const char* first = std::getenv("DAYBOOK_INJECTED_OP");
    if (root == nullptr || first == nullptr) {
        return;
    }
    Teller tell(fs::path(root) / "told");
    std::uint64_t op = std::strtoull(first, nullptr, 10);
    DiskDesk desk(fs::path(root) / "home");
    if (auto started = desk.start(); !started) {
        tell("refused start " + started.error().message());
        return;
    }
    for (int i = 0; i < kWrites; ++i) {
        ++op;
        const std::string number = std::to_string(op);
        const bool is_note = i % 2 == 0;
        const std::string file = is_note ? "notes/2026-10-19.md" : "memory/rules.md";
        tell("begin " + number + (is_note ? " note " : " write ") + file);
        auto receipt =
            desk.write(file, is_note ? kAppend : kReplace, is_note ? note_of(op) : content_of(op));
        tell(receipt ? "done " + number + " " + receipt->checkpoint
                     : "refused " + number + " " + std::string(name_of(receipt.error().code())) +
                           " " + receipt.error().message());
    }
}

TEST_CASE("whatever system call fails or kills, what was acknowledged is there", "[fault]") {
    if (const std::string why = why_no_strace(); !why.empty()) {
        WARN("skipped: " << why);
        return;
    }
    const TempFolder folder;
    fs::create_directories(folder / "home");
    Promises promises;
    std::uint64_t op = 0;
    std::size_t refused = 0;
    const std::vector<std::string> calls = {
        "fsync", "fdatasync", "write", "linkat,link,rename,renameat,renameat2", "unlink,unlinkat"};
    for (const std::string& call : calls) {
        for (const std::string effect : {"error=EIO", "error=ENOSPC", "signal=KILL"}) {
            for (std::uint64_t point = 0; point < points(); ++point) {
                op += kOpsOfAWriter;
                const std::uint64_t nth = 1 + (op / kOpsOfAWriter * 7 + point * 13) % 60;
                const Told told =
                    run_injected("inject=" + call + ":" + effect + ":when=" + std::to_string(nth),
                                 op,
                                 promises,
                                 folder.path());
                refused += told.was_refused ? 1U : 0U;
            }
        }
    }
    CHECK(promises.writes() > 20);
    CHECK(refused > 0);
}

TEST_CASE("after a sync that failed nothing more is acknowledged before the next start",
          "[fault]") {
    if (const std::string why = why_no_strace(); !why.empty()) {
        WARN("skipped: " << why);
        return;
    }
    const TempFolder folder;
    fs::create_directories(folder / "home");
    Promises promises;
    std::uint64_t op = 0;
    std::size_t refused = 0;
    for (std::uint64_t nth = 3; nth < 3 + 4 * points(); nth += 4) {
        for (const std::string call : {"fsync", "fdatasync"}) {
            op += kOpsOfAWriter;
            const Told told =
                run_injected("inject=" + call + ":error=EIO:when=" + std::to_string(nth),
                             op,
                             promises,
                             folder.path());
            INFO(call << " " << nth << "\n" << told.lines);
            CHECK_FALSE(told.done_after_refusal);
            refused += told.was_refused ? 1U : 0U;
        }
    }
    CHECK(refused > 0);
}
