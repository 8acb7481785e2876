// A journal in a folder of its own, with a clock and an Os that a test commands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/journal/journal.hpp"
#include "host/journal/journal_reader.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

struct JournalFixture {
    TempFolder folder;
    LinuxOs real;
    FaultOs os{real};
    FakeClock clock{"2026-10-19T06:02:11.104233871Z"};
    UniqueFd state = must(real.open_root(folder.path()));

    Result<std::unique_ptr<Journal>> try_open() {
        return Journal::open(
            os, clock, state.get(), "journal/main", "main", must(Zone::find("Asia/Kolkata")));
    }
    std::unique_ptr<Journal> open() { return must(try_open()); }

    static JournalEntry entry(const std::string& type, const std::string& key = "") {
        JournalEntry made;
        made.type = type;
        made.key = key;
        made.data.set("text", type + " text");
        return made;
    }
    [[nodiscard]] static std::string path(const std::string& name) {
        return "journal/main/" + name;
    }
    [[nodiscard]] std::string text(const std::string& day = "2026-10-19") const {
        return folder.read(path(day + ".jsonl"));
    }
    /// Every record in the files, oldest first; fails on a damaged line.
    std::vector<JournalRecord> all() {
        auto reader = must(JournalReader::open(real, state.get(), "journal/main"));
        auto lines = must(reader.read_since(DeskDate{}, 0, 1'000'000));
        if (lines.bad != 0) {
            throw std::runtime_error("a damaged line");
        }
        return lines.records;
    }
};

}  // namespace daybook::test
