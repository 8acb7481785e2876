// A story: a desk's days as files. docs/turns.md, "Stories", tells the format.
//
//   tests/story/<name>/daybook.toml   the configuration; @FIXTURES@ and @STORY@ become folders
//                     answers.json    what each scripted model says: {"model": [answers]}
//                     feed.jsonl      first line {"story": "what it shows"}, then an action a line
//                     expected/       the files that must come out of it, byte for byte
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/format/json.hpp"

namespace daybook::test {

struct Story {
    std::filesystem::path folder;
    std::string name;
    std::string title;
    std::string config;  ///< text of daybook.toml, its folders filled in
    Json answers;        ///< {"model": [answer…]}
    std::vector<Json> actions;
};

/// Throws std::runtime_error with file and line of what is wrong.
Story load_story(const std::filesystem::path& folder);
/// Folders below `root` that hold a feed.jsonl, by name.
std::vector<std::filesystem::path> story_folders(const std::filesystem::path& root);
[[nodiscard]] std::string contents_of_file(const std::filesystem::path& file);

/// Plays the story into `home` (a state folder below it), life by life: what runs is the host
/// itself in a process of its own, which the feed may kill. Throws std::runtime_error when it does
/// not go as the feed says.
void play(const Story& story, const std::filesystem::path& home);

/// Files by their name: the state folder without what no story is compared by, and the requests
/// that the models got.
using Files = std::map<std::string, std::string>;
[[nodiscard]] Files collect(const std::filesystem::path& home);
[[nodiscard]] Files read_files(const std::filesystem::path& folder);
/// "" when equal, else the differences as unified diffs.
[[nodiscard]] std::string difference_of(const Files& expected, const Files& actual);
/// Makes `folder` hold these files and no others.
void write_files(const std::filesystem::path& folder, const Files& files);

}  // namespace daybook::test
