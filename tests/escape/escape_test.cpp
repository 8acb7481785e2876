// Every verdict of expected.tsv, made again; docs/wall.md; and proof that the suite notices a wall
// that is missing. DAYBOOK_ESCAPE_UPDATE=1 writes expected.tsv from what was seen.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/escape/verdict_table.hpp"

using namespace daybook::escape;  // NOLINT(google-build-using-namespace)

namespace {

constexpr const char* kOrdinary = "65534";
constexpr std::size_t kAtOnce = 2;

std::string source(const std::string& name) {
    return std::string(DAYBOOK_SOURCE_DIR) + "/" + name;
}

std::string contents_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What the driver prints, a pair a line. Fails the test when it ends badly.
Pairs drive(const std::string& runner, const std::string& options) {
    const std::string command = std::string(DAYBOOK_ESCAPE_PARTS) + "/daybook_escape " + runner +
                                " " + DAYBOOK_ESCAPE_PARTS + "/escape.so " + options;
    std::FILE* const out = ::popen(command.c_str(), "re");
    Pairs lines;
    char line[512];
    while (out != nullptr && std::fgets(line, sizeof line, out) != nullptr) {
        const std::string text(line);
        const auto tab = text.find('\t');
        if (tab != std::string::npos) {
            lines.emplace_back(text.substr(0, tab),
                               text.substr(tab + 1, text.find('\n') - tab - 1));
        }
    }
    if (out == nullptr || ::pclose(out) != 0) {
        throw std::runtime_error("did not end well: " + command);
    }
    return lines;
}

std::string runner_of(const Column& column) {
    return *column.gap == '\0' ? std::string(DAYBOOK_RUNNER_PROGRAM)
                               : std::string(DAYBOOK_ESCAPE_PARTS) + "/daybook_runner_with_gap";
}

std::string options_of(const Column& column, const std::string& uid) {
    std::string options = std::string("--profile ") + column.profile + " --landlock " +
                          column.landlock + " --uid " + uid;
    return *column.gap == '\0' ? options : options + " --gap " + column.gap;
}

/// Runs jobs, at most kAtOnce at a time, in order.
template <class Job>
std::vector<Pairs> all_of(const std::vector<Job>& jobs) {
    std::vector<Pairs> results(jobs.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::future<void>> workers;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
        workers.push_back(std::async(std::launch::async, [&] {
            for (std::size_t at = next++; at < jobs.size(); at = next++) {
                results[at] = jobs[at]();
            }
        }));
    }
    for (auto& worker : workers) {
        worker.get();
    }
    return results;
}

bool is_root() {
    return ::geteuid() == 0;
}

/// Every column, as root (where this is root) and as an ordinary user.
std::vector<Row> observed() {
    const std::vector<std::string> uids =
        is_root() ? std::vector<std::string>{"0", kOrdinary}
                  : std::vector<std::string>{std::to_string(::geteuid())};
    std::vector<std::function<Pairs()>> jobs;
    for (const Column& column : kColumns) {
        for (const std::string& uid : uids) {
            jobs.emplace_back(
                [&column, uid] { return drive(runner_of(column), options_of(column, uid)); });
        }
    }
    const auto results = all_of(jobs);
    std::vector<Row> rows;
    for (const auto& [name, text] : drive(DAYBOOK_RUNNER_PROGRAM, "--list")) {
        rows.push_back({name, text, {}});
    }
    for (std::size_t column = 0; column < kColumnCount; ++column) {
        const Pairs& first = results[column * uids.size()];
        const Pairs& last = results[column * uids.size() + uids.size() - 1];
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i >= first.size() || i >= last.size()) {
                throw std::runtime_error("a driver stopped before " + rows[i].attempt);
            }
            rows[i].cells.push_back({first[i].second, last[i].second});
        }
    }
    return rows;
}

std::vector<Row> expected() {
    return parse_table(contents_of(source("tests/escape/expected.tsv")));
}

int kernel_landlock() {
    return static_cast<int>(::syscall(444L, nullptr, std::size_t{0}, 1U));
}

/// The verdicts that a missing wall changes: attempt -> verdict, as the ordinary user.
std::map<std::string, std::string> differences(const std::string& gap) {
    std::map<std::string, std::string> changed;
    const std::string uid = is_root() ? kOrdinary : std::to_string(::geteuid());
    std::map<std::string, std::string> whole;
    for (const Row& row : expected()) {
        whole[row.attempt] = row.cells[0].user;
    }
    const std::string runner = gap == "environment"
                                   ? std::string(DAYBOOK_RUNNER_PROGRAM)
                                   : std::string(DAYBOOK_ESCAPE_PARTS) + "/daybook_runner_with_gap";
    for (const auto& [attempt, verdict] : drive(runner, "--gap " + gap + " --uid " + uid)) {
        if (verdict != whole[attempt]) {
            changed[attempt] = verdict;
        }
    }
    return changed;
}

}  // namespace

TEST_CASE("every attempt to get out ends as the table says, as root and as a user", "[escape]") {
    if (kernel_landlock() < 7) {
        WARN("this kernel's Landlock is ABI " << kernel_landlock()
                                              << ": the columns of newer ones use that instead");
    }
    const std::vector<Row> seen = observed();
    if (std::getenv("DAYBOOK_ESCAPE_UPDATE") != nullptr) {
        REQUIRE(is_root());  // the table holds both users
        std::ofstream(source("tests/escape/expected.tsv")) << format_table(seen);
    }
    const std::vector<Row> rows = expected();
    REQUIRE(rows.size() == seen.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        REQUIRE(rows[i].attempt == seen[i].attempt);
        CHECK(rows[i].text == seen[i].text);
        for (std::size_t column = 0; column < kNoWalls; ++column) {
            INFO(rows[i].attempt << ", " << kColumns[column].name);
            if (is_root()) {
                CHECK(seen[i].cells[column].root == rows[i].cells[column].root);
            }
            CHECK(seen[i].cells[column].user == rows[i].cells[column].user);
        }
    }
    // Without walls each kind of evidence is there: the driver sees what an attempt does.
    for (const char* word : {"tree",
                             "file",
                             "signal",
                             "memory",
                             "connection",
                             "datagram",
                             "limits",
                             "lock",
                             "traced",
                             "process",
                             "program"}) {
        INFO(word);
        CHECK(std::any_of(seen.begin(), seen.end(), [&](const Row& row) {
            return row.cells[kNoWalls].user.find(word) != std::string::npos;
        }));
    }
}

TEST_CASE("no success behind walls is without a reason, and none has an effect outside",
          "[escape]") {
    const std::vector<Row> rows = expected();
    CHECK(rows.size() >= 120);
    int walled = 0, open = 0;
    for (const Row& row : rows) {
        for (std::size_t column = 0; column < kNoWalls; ++column) {
            INFO(row.attempt << ", " << kColumns[column].name);
            const Cell& cell = row.cells[column];
            CHECK((!cell.has_success() || !reason_for(row, column).empty()));
            const bool is_planted = row.attempt == "s34_write_planted_hardlink";
            CHECK((is_planted || cell.text().find('(') == std::string::npos));
            CHECK(cell.text().find("no start") == std::string::npos);
        }
        walled += row.cells[0].has_success() ? 1 : 0;
        open += row.cells[kNoWalls].has_success() ? 1 : 0;
    }
    CHECK(open > walled + 100);
}

TEST_CASE("a wall that is left out shows in the table", "[escape]") {
    const std::vector<std::string> gaps{
        "descriptors", "limits", "landlock", "seccomp", "environment"};
    const std::map<std::string, std::vector<std::string>> must_differ{
        {"descriptors", {"w23_inherited_fd"}},
        {"limits",
         {"d02_thread_bomb", "d03_memory_bomb", "d05_descriptors", "x90_more_shared_memory"}},
        {"landlock",
         {"r02_read_other_desk", "r03_read_api_key", "r07_list_desks", "r13_etc_passwd"}},
        {"seccomp",
         {"w13_chmod",
          "w19_reader_chattr",
          "w38_flock",
          "n02_pathname_unix",
          "n05_udp_send",
          "d12_daemonise",
          "x82_int80"}},
        {"environment", {"r04_environment_secret"}}};
    for (const std::string& gap : gaps) {
        const auto changed = differences(gap);
        for (const std::string& attempt : must_differ.at(gap)) {
            INFO("without " << gap << ": " << attempt);
            CHECK(changed.count(attempt) == 1);
        }
        // Landlock and the filter each hold the write wall of contents alone.
        if (gap == "landlock" || gap == "seccomp") {
            CHECK(changed.count("w09_unlink") == (gap == "seccomp" ? 1 : 0));
            for (const auto& [attempt, verdict] : changed) {
                INFO("without " << gap << ": " << attempt << " " << verdict);
                CHECK((attempt.front() != 'w' || gap == "seccomp"));
            }
        }
    }
}

TEST_CASE("docs/wall.md is what the table gives", "[escape]") {
    INFO("cmake --build build/dev --target wall_page writes it");
    CHECK(contents_of(source("docs/wall.md")) == wall_page(expected()));
}
