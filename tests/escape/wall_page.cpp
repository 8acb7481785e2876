// docs/wall.md from the table of verdicts.
#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/escape/verdict_table.hpp"

namespace daybook::escape {
namespace {

struct Reason {
    const char* attempt;
    const char* text;
};

// A success that is not here, behind walls, fails the suite.
constexpr Reason kReasons[] = {
    {"r01_read_own_desk", "meant to work"},
    {"r06_stat_other_desk",
     "existence, size and times of a file: no wall of the kernel stands against stat"},
    {"r10_hardlink_of_key",
     "somebody else made that link; the host refuses such a file by name when a runner starts"},
    {"x38_read_lock",
     "SQLite readers need it; the host never waits for a lock on a file that plugins can read"},
    {"x43_readlink", "the text of a link, as with stat"},
    {"x58_writable_code", "code that a plugin makes for itself runs behind the same walls"},
    {"d04_shared_memory",
     "bounded by the address space of 1 GiB (x90); a smaller bound needs a cgroup"},
};
constexpr Reason kScratchReasons[] = {
    {"s34_write_planted_hardlink",
     "somebody else made that link; the host refuses to start a runner while it stands"},
};

constexpr const char* kOwnFolder = "meant to work: the own scratch folder";
constexpr const char* kReads = "without Landlock reads are not confined";

bool is_read(const std::string& attempt) {
    return attempt.starts_with("r") ||
           (attempt >= std::string("x40") && attempt < std::string("x52"));
}

bool is_own_folder(const std::string& attempt) {
    return attempt >= std::string("s01") && attempt < std::string("s12");
}

std::string bold(const Cell& cell) {
    return cell.has_success() ? "**" + cell.text() + "**" : cell.text();
}

/// The cells of those columns: one text when they agree.
std::string merged(const Row& row, std::size_t first, std::size_t last) {
    std::string all = bold(row.cells[first]);
    const bool is_one =
        std::all_of(row.cells.begin() + static_cast<std::ptrdiff_t>(first),
                    row.cells.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                    [&](const Cell& cell) { return cell.text() == row.cells[first].text(); });
    for (std::size_t i = first + 1; !is_one && i <= last; ++i) {
        all += "; " + std::string(kColumns[i].name) + ": " + bold(row.cells[i]);
    }
    return all;
}

std::string remark_for(const Row& row) {
    std::string remark;
    for (std::size_t column = 0; column < kNoWalls; ++column) {
        const std::string reason = reason_for(row, column);
        if (row.cells[column].has_success() && remark.find(reason) == std::string::npos) {
            remark += (remark.empty() ? "" : "; ") + reason;
        }
    }
    return remark;
}

std::size_t successes(const std::vector<Row>& rows, std::size_t column) {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const Row& row) { return row.cells[column].has_success(); }));
}

constexpr const char* kHead = R"(# The wall, attempt by attempt

Made by `cmake --build build/dev --target wall_page` from `tests/escape/expected.tsv`; do not edit. The test `escape_test`
makes every attempt below in a fresh `daybook-runner`, as root and as an ordinary user, at each level of Landlock, and fails
when a verdict differs from this page in any way. A plugin's own word counts for nothing: contents, modes, owners, times,
inodes, flags and attributes of every file around it, the signals, connections and datagrams that the host received, its
memory and limits, and the processes that are left are looked at from outside.

How to read it: an errno is the kernel's refusal. **worked** is a success, in brackets what was seen of it from outside
(`tree` = a file outside the plugin's own folder changed). `killed` = no answer by the deadline, the host ended the process.
`ended` = it ended by itself or was ended by the host.
`bad frame` = the host ended the process at the first malformed frame. `signal 31` = the filter ended the process. Two
verdicts with a stroke are those of root and of the ordinary user; one is for both. "ABI 7, 2, 1" are the levels A and B of
`docs/leash.md` (newer kernels, Debian 12's own, the oldest), which give the same verdicts; "no Landlock" is level C, started
only with `isolation = "seccomp-only"`. The last column is a runner without walls (capabilities dropped): what the attempt
does when nothing stops it, on the kernel where the table was made; a test on another kernel does not compare that column.
There the files of the plugin's own user and the host, which does not hide itself as `daybookd` does, are open to it.

Not here: the walled child of `process/1`, which is not built. Side channels and faults of the kernel are out of scope.

)";

}  // namespace

std::string reason_for(const Row& row, std::size_t column) {
    for (const Reason& one : kReasons) {
        if (row.attempt == one.attempt) {
            return one.text;
        }
    }
    const bool is_scratch = std::string(kColumns[column].profile) == "scratch";
    if (is_scratch && is_own_folder(row.attempt)) {
        return kOwnFolder;
    }
    for (const Reason& one : kScratchReasons) {
        if (is_scratch && row.attempt == one.attempt) {
            return one.text;
        }
    }
    return column == kNoLandlock && is_read(row.attempt) ? kReads : "";
}

std::string wall_page(const std::vector<Row>& rows) {
    std::string page = kHead;
    page += std::to_string(rows.size()) +
            " attempts. Successes: " + std::to_string(successes(rows, kNoWalls)) +
            " without walls, " + std::to_string(successes(rows, 0)) + " in profile pure, " +
            std::to_string(successes(rows, kNoLandlock)) + " in profile pure without Landlock, " +
            std::to_string(successes(rows, 4)) + " in profile scratch; each has its reason.\n\n";
    page +=
        "| attempt | what it tries | pure, ABI 7, 2, 1 | pure, no Landlock | scratch, ABI 7, 2, 1 "
        "| "
        "no walls | why a success stands |\n|---|---|---|---|---|---|---|\n";
    for (const Row& row : rows) {
        page += "| " + row.attempt + " | " + row.text + " | " + merged(row, 0, 2) + " | " +
                bold(row.cells[kNoLandlock]) + " | " + merged(row, 4, 6) + " | " +
                row.cells[kNoWalls].text() + " | " + remark_for(row) + " |\n";
    }
    return page;
}

}  // namespace daybook::escape
