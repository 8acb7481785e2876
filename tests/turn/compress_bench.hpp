// A desk whose model has a small window and counts exactly, for tests of compression.
#pragma once

#include <string>
#include <vector>

#include "tests/turn/desk_bench.hpp"

namespace daybook::test {

// A flush writes one note and tells which marked words it was shown; a summary tells which the
// transcript had.
inline const char* const kScript = R"([
  {"kind":"flush","after":"add_note","collect":"m-"},
  {"kind":"flush","match":"","calls":[{"name":"add_note","arguments":{"text":"kept by $turn"}}]},
  {"kind":"summary","match":"","collect":"m-"},
  {"match":"messages","echo":"messages"},
  {"match":"parts","echo":"parts"},
  {"match":"","text":"fine"}])";

/// A bench whose model has a small window and counts exactly, four bytes a token.
struct CompressBench : DeskBench {
    explicit CompressBench(const std::string& script = kScript,
                           std::int64_t window = 4000,
                           const std::string& plugin_config = "{}")
        : DeskBench(script) {
        add_model("one", script, plugin_config);
        config.models.at("one").window = window;
        config.models.at("one").config.set("bytes_per_token", 4);
        desk_config.instructions = "Be brief.";
    }
    /// Words of about so many bytes with a mark that can be found again.
    static std::string words(int number, std::size_t bytes) {
        return "m-" + std::to_string(number) + " " + std::string(bytes, 'x');
    }
    std::vector<JournalRecord> turns(const std::string& kind, const char* type = "turn_start") {
        std::vector<JournalRecord> found;
        for (JournalRecord& record : records(type)) {
            if (record.entry.data["kind"].as_string() == kind) {
                found.push_back(std::move(record));
            }
        }
        return found;
    }
    /// Says marked things until so many compressions were told; returns how many were said.
    int say_until(std::size_t compressions, int from = 1, std::size_t bytes = 1500) {
        int number = from;
        while (events.all("compress").size() < compressions && number < from + 400) {
            REQUIRE(say(words(number, bytes))["outcome"].as_string() == "completed");
            ++number;
        }
        settle();
        return number;
    }
    std::string session_bytes(const std::string& id) const {
        return folder.read("sessions/main/" + id + ".jsonl");
    }
};

inline std::string answer_of(const std::vector<SessionRecord>& lines, const std::string& turn) {
    for (const SessionRecord& line : lines) {
        if (line.turn == turn && line.kind == "answer") {
            return line.text;
        }
    }
    return {};
}

inline bool has_word(const std::string& text, const std::string& word) {
    return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace daybook::test
