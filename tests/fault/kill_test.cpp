// kill -9 of the daemon at random instants under load. DAYBOOK_KILL_ROUNDS and DAYBOOK_KILL_SEED
// set the rounds and the seed; what failed is repeated with the seed that is printed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <poll.h>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "host/format/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRulesBytes = 12000;

std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// What the host has promised so far.
struct Promised {
    std::mutex mutex;
    std::vector<std::string> notes;      ///< add_note was answered
    std::vector<std::string> said;       ///< say was answered: its text
    std::vector<std::string> completed;  ///< trigger ids whose completed turn was told
    std::set<std::string> accepted;      ///< trigger ids that were told
};

Json text_args(const std::string& text) {
    return Json::object().set("text", text);
}

/// Notes, and a large file that is one letter from end to end.
void write_until_killed(const Home& home,
                        int round,
                        Promised& promised,
                        const std::atomic<bool>& over) {
    for (int i = 0; !over; ++i) {
        const std::string note = "note " + std::to_string(round) + "-" + std::to_string(i) + ".";
        if (call_tool(home, "add_note", text_args(note))) {
            const std::lock_guard guard(promised.mutex);
            promised.notes.push_back(note);
        }
        const std::string now = contents_of(workspace(home) / "memory/rules.md");
        const std::string text(kRulesBytes, static_cast<char>('a' + (round + i) % 26));
        Json arguments = Json::object().set("path", "memory/rules.md").set("text", text + "\n");
        if (!now.empty()) {
            arguments.set("base_sha256", sha256_hex(now));
        }
        static_cast<void>(call_tool(home, "write_file", arguments));
    }
}

void talk_until_killed(const Home& home,
                       int round,
                       Promised& promised,
                       const std::atomic<bool>& over) {
    const std::vector<std::string> kinds = {"job", "alert", "fill", "message"};
    for (std::size_t i = 0; !over; ++i) {
        const std::string mark = std::to_string(round) + "-" + std::to_string(i) + ".";
        const auto told = request(home,
                                  "trigger",
                                  Json::object()
                                      .set("desk", "main")
                                      .set("kind", kinds[i % kinds.size()])
                                      .set("name", "gap")
                                      .set("key", "k" + mark)
                                      .set("text", "What is in memory? " + mark));
        if (told) {
            const std::lock_guard guard(promised.mutex);
            promised.accepted.insert((*told)["trigger"].as_string());
        }
        const std::string words = "Remember: lesson " + mark;
        const auto answer =
            request(home, "say", Json::object().set("desk", "main").set("text", words));
        if (answer && (*answer)["outcome"].as_string() == "completed") {
            const std::lock_guard guard(promised.mutex);
            promised.said.push_back(words);
            promised.completed.push_back((*answer)["trigger"].as_string());
            promised.accepted.insert((*answer)["trigger"].as_string());
        }
    }
}

struct Records {
    std::map<std::string, std::size_t> ends;     ///< of accepted triggers, by id
    std::map<std::string, std::size_t> answers;  ///< saved answers, by trigger
    std::map<std::string, std::size_t> completed;
    std::set<std::string> accepted;  ///< by the journal
};

Records read_records(const Home& home) {
    Records records;
    for (const Json& record : records_of(home, "journal/main")) {
        const std::string& type = record["type"].as_string();
        const Json& data = record["data"];
        if (type == "turn_end" && !data["trigger"].as_string().empty()) {
            ++records.ends[data["trigger"].as_string()];
            records.completed[data["trigger"].as_string()] +=
                data["outcome"].as_string() == "completed" ? 1U : 0U;
        } else if (type == "message" || type == "job" || type == "alert" || type == "fill") {
            records.accepted.insert(record["id"].as_string());
        }
    }
    for (const Json& line : records_of(home, "sessions/main")) {
        const std::string& trigger = line["extra"]["trigger"].as_string();
        if (line["kind"].as_string() == "answer" && !trigger.empty()) {  // a flush has no trigger
            ++records.answers[trigger];
        }
    }
    return records;
}

bool is_settled(const Home& home) {
    const auto shown = request(home, "desk.show", Json::object().set("desk", "main"));
    if (!shown || (*shown)["state"].as_string() != "idle" || (*shown)["queued"].as_integer() != 0) {
        return false;
    }
    const Records records = read_records(home);
    return std::all_of(records.accepted.begin(),
                       records.accepted.end(),
                       [&](const std::string& trigger) { return records.ends.contains(trigger); });
}

/// The line of a note once, and as a whole line.
void check_notes(const Home& home, const Promised& promised) {
    std::map<std::string, std::size_t> lines;
    std::istringstream in(notes_of(home));
    std::size_t odd = 0;
    for (std::string line; std::getline(in, line);) {
        const auto text = line.find("note ");
        odd += line.starts_with("- ") && line.ends_with('.') ? 0U : 1U;
        ++lines[text == std::string::npos ? line : line.substr(text)];
    }
    CHECK(odd == 0);
    std::string wrong;
    for (const std::string& note : promised.notes) {
        wrong +=
            lines[note] == 1 ? "" : note + " stands " + std::to_string(lines[note]) + " times\n";
    }
    CHECK(wrong == "");
    const std::string rules = contents_of(workspace(home) / "memory/rules.md");
    CHECK((rules.empty() || rules == std::string(kRulesBytes, rules.front()) + "\n"));
}

void check_exchanges(const Home& home, const Promised& promised) {
    const Records records = read_records(home);
    std::string wrong;
    for (const std::string& trigger : promised.accepted) {
        wrong += records.accepted.contains(trigger)
                     ? ""
                     : trigger + " was accepted and is not journalled\n";
    }
    for (const std::string& trigger : records.accepted) {
        const auto ends = records.ends.find(trigger);
        wrong += ends != records.ends.end() && ends->second == 1
                     ? ""
                     : trigger + " was not settled once\n";
    }
    for (const auto& [trigger, count] : records.answers) {
        wrong += count == 1 ? "" : trigger + " was answered " + std::to_string(count) + " times\n";
    }
    for (const std::string& trigger : records.accepted) {
        const auto found = records.completed.find(trigger);
        const std::size_t count = found == records.completed.end() ? 0 : found->second;
        wrong += records.answers.contains(trigger) == (count == 1)
                     ? ""
                     : trigger + ": journal and session differ\n";
    }
    for (const std::string& trigger : promised.completed) {
        wrong += records.answers.contains(trigger)
                     ? ""
                     : trigger + " was told and is not in the session\n";
    }
    CHECK(wrong == "");
    std::map<std::string, std::set<std::string>> said;  // text -> triggers
    for (const Json& line : records_of(home, "sessions/main")) {
        if (line["kind"].as_string() == "trigger") {
            said[line["text"].as_string()].insert(line["extra"]["trigger"].as_string());
        }
    }
    for (const std::string& words : promised.said) {
        wrong += said[words].size() == 1 ? "" : words + " is not there once\n";
    }
    CHECK(wrong == "");
}

std::string leftovers(const Home& home) {
    std::string left;
    for (const auto& entry : fs::recursive_directory_iterator(home.path() / "state")) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory() && name == "daybook.pack~") {
            left += fs::is_empty(entry.path()) ? "" : entry.path().string() + " is not empty\n";
            continue;  // where packs are made
        }
        const bool is_lock = name.ends_with(".lock") && name != "daybook.lock" &&
                             name != "host.lock" && name != "plugins.lock";
        // The folder in which packs are made stays; what is in it does not.
        const bool is_pack_folder = name == "daybook.pack~";
        const bool is_unfinished = entry.path().parent_path().filename() == "daybook.pack~";
        if (is_lock || is_unfinished || (name.ends_with('~') && !is_pack_folder) ||
            name.starts_with("tmp_") || name.ends_with(".tmp")) {
            left += entry.path().string() + "\n";
        }
    }
    return left;
}

void check_leftovers(Home& home) {
    // It has the host bring everything into git first: a pack that is being made is no leftover.
    const auto verified = home.daybook({"checkpoint", "verify", "main"});
    INFO(verified.out);
    CHECK(verified.code == 0);
    CHECK(eventually([&] { return leftovers(home).empty(); }));
    CHECK(leftovers(home) == "");
    const Shell fsck =
        shell("git --git-dir " + repository(home).string() + " fsck --full --strict");
    INFO(fsck.out);
    CHECK(fsck.code == 0);
}

}  // namespace

TEST_CASE("nothing acknowledged is lost or doubled by kill -9 at random instants", "[fault]") {
    const std::uint64_t rounds = number_of("DAYBOOK_KILL_ROUNDS", 30);
    const std::uint64_t seed = number_of("DAYBOOK_KILL_SEED", 20190102);
    WARN("seed " << seed << ", " << rounds << " rounds");
    std::mt19937_64 random(seed);
    Home home;
    Promised promised;
    home.start();
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::atomic<bool> over{false};
        const auto instant = std::chrono::milliseconds(5 + random() % 500);
        // The plugin's process is there already: the instants fall into writes, not into its start.
        static_cast<void>(call_tool(home, "list_files", Json::object()));
        std::thread writer(
            [&] { write_until_killed(home, static_cast<int>(round), promised, over); });
        std::thread talker(
            [&] { talk_until_killed(home, static_cast<int>(round), promised, over); });
        ::poll(nullptr, 0, static_cast<int>(instant.count()));  // the random instant itself
        home.kill();
        over = true;
        writer.join();
        talker.join();
        INFO("round " << round << ", killed after " << instant.count() << " ms");
        CHECK(eventually([&] { return runners_of(home).empty(); }));
        home.start();
        REQUIRE(eventually([&] { return is_settled(home); }));
        check_notes(home, promised);
        check_exchanges(home, promised);
        check_lines(home, "journal/main");
        check_lines(home, "sessions/main");
        check_leftovers(home);
    }
    home.stop();
    check_lines(home, "journal/_host");
    CHECK(promised.notes.size() > rounds / 2);
    CHECK(promised.completed.size() > rounds / 4);
    WARN(promised.notes.size() << " notes, " << promised.completed.size() << " exchanges and "
                               << promised.accepted.size() << " triggers were acknowledged");
}
