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

// A walled child may start processes and threads; what they can do is what it can do.
constexpr const char* kProcesses =
    "meant to work: its processes stay behind its walls, in its group";
constexpr Reason kChildReasons[] = {
    {"x02_constructor_child", kProcesses},
    {"w24_exec_sh_child", "the process is there; the shell is refused to it"},
    {"d12_daemonise", "it stays in the group, with which it was ended"},
    {"d01_fork_bomb",
     "bounded to 1,024 processes of a user that is not root; ended with the group"},
    {"r08_inotify", "an instance alone; a watch is refused with ENOSPC"},
    {"x08_memfd", "memory of its own; no program is run from it"},
    {"x16_dev_null", "meant to work"},
    {"p13_set_dumpable", "of itself; nobody else's right to look at it grows"},
    {"x62_kill_everything", "Landlock (ABI 6) lets it reach its own processes only"},
    {"x85_socketpair", "a pair that leads nowhere else"},
    {"d03_memory_bomb", "bounded to 4 GiB a process; less needs a cgroup"},
    {"x90_more_shared_memory", "as d04, without a bound of the address space: node reserves much"},
    {"x91_locked_memory", "bounded to 8 MiB"},
    {"s41_move_across_folders", "meant to work: within the own folder"},
    {"s34_write_planted_hardlink",
     "somebody else made that link; the host refuses to start a program while it stands"},
};

constexpr const char* kOwnFolder = "meant to work: the own folder";
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

"child" is the walled child of `process/1`: the same attempts as a native program, without a network; in "child with a port" it
may connect to one TCP port, which is not the host's. What its processes leave behind is looked for when the host has ended its
group. Node makes some of the attempts in `child_test`. Side channels and faults of the kernel are out of scope.

)";

}  // namespace

std::string reason_for(const Row& row, std::size_t column) {
    for (const Reason& one : kReasons) {
        if (row.attempt == one.attempt) {
            return one.text;
        }
    }
    const bool is_scratch = std::string(kColumns[column].profile) == "scratch";
    const bool is_child = std::string(kColumns[column].profile).starts_with("child");
    if ((is_scratch || is_child) && is_own_folder(row.attempt)) {
        return kOwnFolder;
    }
    for (const Reason& one : kChildReasons) {
        if (is_child && row.attempt == one.attempt) {
            return one.text;
        }
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
            std::to_string(successes(rows, kScratch)) + " in profile scratch, " +
            std::to_string(successes(rows, kChild)) +
            " in a walled child; each has its reason.\n\n";
    page +=
        "| attempt | what it tries | pure, ABI 7, 2, 1 | pure, no Landlock | scratch, ABI 7, 2, 1 "
        "| child, ABI 7, 2, 1 | child with a port | "
        "no walls | why a success stands |\n|---|---|---|---|---|---|---|---|---|\n";
    for (const Row& row : rows) {
        page += "| " + row.attempt + " | " + row.text + " | " + merged(row, 0, 2) + " | " +
                bold(row.cells[kNoLandlock]) + " | " + merged(row, kScratch, kScratch + 2) + " | " +
                merged(row, kChild, kChild + 2) + " | " + bold(row.cells[kChildWithPort]) + " | " +
                row.cells[kNoWalls].text() + " | " + remark_for(row) + " |\n";
    }
    return page;
}

}  // namespace daybook::escape
