// What `journal verify` found in the files of one desk (docs/operations.md, "Proving a record").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace daybook {

/// A line of a file of record. `file` is relative to the state folder.
struct LinePlace {
    std::string file;
    std::uint64_t line = 0;  ///< from 1; 0 = the file as a whole
    [[nodiscard]] std::string str() const {
        return line == 0 ? file : file + ":" + std::to_string(line);
    }
};

struct JournalFinding {
    LinePlace place;
    std::string what;
};

struct JournalProof {
    std::uint64_t days = 0, lines = 0, turns = 0, writes = 0, effects = 0, flushes = 0,
                  compressions = 0, rollovers = 0, sessions = 0, summaries = 0;
    std::vector<JournalFinding> findings;  ///< at most kMostFindings
    std::vector<JournalFinding> notes;     ///< in order, and worth knowing

    static constexpr std::size_t kMostFindings = 500;

    void find(const LinePlace& place, std::string what) {
        if (findings.size() < kMostFindings) {
            findings.push_back({place, std::move(what)});
        }
    }
    void note(const LinePlace& place, std::string what) {
        if (notes.size() < kMostFindings) {
            notes.push_back({place, std::move(what)});
        }
    }
};

}  // namespace daybook
