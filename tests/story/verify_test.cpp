// `journal verify` on a played day whose files somebody then changes: each violation is found, by
// file and line.
#include <filesystem>
#include <functional>

#include "host/surface/journal_verify.hpp"
#include "tests/catch.hpp"
#include "tests/story/story.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kJournal = "journal/main/2026-10-19.jsonl";
constexpr const char* kSession = "sessions/main/2026-10-19-1.jsonl";
constexpr const char* kSummary = "sessions/main/summaries/2026-10-19.md";

/// A day with a note, a rollover and an evening.
class PlayedDay {
  public:
    PlayedDay() {
        play(load_story(fs::path(DAYBOOK_SOURCE_DIR) / "tests/story/after_hours"), folder_.path());
    }
    [[nodiscard]] std::string read(const std::string& file) const {
        return folder_.read("state/" + file);
    }
    /// What is found after `file` was changed; the file is as it was afterwards.
    std::string after(const std::string& file,
                      const std::function<std::string(std::string)>& change) const {
        const std::string whole = read(file);
        folder_.write("state/" + file, change(whole));
        std::string findings;
        LinuxOs os;
        for (const JournalFinding& finding :
             must(verify_journal(os,
                                 folder_ / "state",
                                 "main",
                                 repository_source(os, folder_ / "state", "main")))
                 .findings) {
            findings += finding.place.str() + ": " + finding.what + "\n";
        }
        folder_.write("state/" + file, whole);
        return findings;
    }
    [[nodiscard]] fs::path state() const { return folder_ / "state"; }

  private:
    TempFolder folder_;
};

/// Replaces the first `from`; it must be there.
std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// Without the first line that holds `part`.
std::string without_line(std::string text, const std::string& part) {
    const auto at = text.find(part);
    REQUIRE(at != std::string::npos);
    const auto start = text.rfind('\n', at) + 1;
    return text.erase(start, text.find('\n', at) + 1 - start);
}

}  // namespace

TEST_CASE("whatever is changed in a played day's record is found by file and line", "[story]") {
    const PlayedDay day;
    const auto unchanged = [](const std::string& text) { return text; };
    REQUIRE(day.after(kJournal, unchanged) == "");

    CHECK_THAT(
        day.after(kJournal, [](const auto& text) { return without_line(text, "\"seq\":3,"); }),
        Catch::Contains(std::string(kJournal) + ":3: seq 4 where 3 belongs"));
    CHECK_THAT(day.after(kJournal,
                         [](const auto& text) {
                             return with(text, "20261019-000002", "20261019-000001");
                         }),
               Catch::Contains(std::string(kJournal) + ":2: id main-20261019-000001 where"));
    CHECK_THAT(
        day.after(kJournal, [](const auto& text) { return with(text, "{\"v\":1,", "{v:1,"); }),
        Catch::Contains(std::string(kJournal) + ":1: "));
    CHECK_THAT(
        day.after(kSession, [](const auto& text) { return without_line(text, "\"seq\":3,"); }),
        Catch::Contains(std::string(kSession) + ":3: seq 4 where 3 belongs"));
}

TEST_CASE("a write whose checkpoint is missing, or is another's, is found", "[story]") {
    const PlayedDay day;
    CHECK_THAT(
        day.after(kJournal,
                  [](const auto& text) {
                      return with(text, R"("checkpoint":"c-2")", R"("checkpoint":"c-99")");
                  }),
        Catch::Contains(std::string(kJournal) + ":4: ") && Catch::Contains("c-99 does not exist"));
    CHECK_THAT(day.after(kJournal,
                         [](const auto& text) {
                             return with(text, R"("path":"notes/)", R"("path":"memory/)");
                         }),
               Catch::Contains("was taken before a write of notes/2026-10-19.md"));
    CHECK_THAT(day.after(kJournal,
                         [](const auto& text) {
                             return with(text, R"("sha256_before":"")", R"("sha256_before":"ab")");
                         }),
               Catch::Contains("announced other contents") &&
                   Catch::Contains("does not hold what notes/2026-10-19.md was before"));
    const fs::path repository = day.state() / "workspace/.checkpoints/main.git";
    fs::rename(repository, day.state() / "elsewhere");
    CHECK_THAT(day.after(kJournal, [](const auto& text) { return text; }),
               Catch::Contains("c-2 does not exist"));
}

TEST_CASE("a session that says something else than the journal is found", "[story]") {
    const PlayedDay day;
    CHECK_THAT(day.after(kSession,
                         [](const auto& text) {
                             return with(text, R"("kind":"answer")", R"("kind":"interrupted")");
                         }),
               Catch::Contains("is completed and has 0 answers in session 2026-10-19-1"));
    CHECK_THAT(day.after(kJournal,
                         [](const auto& text) {
                             return with(text,
                                         R"("outcome":"completed","tokens")",
                                         R"("outcome":"failed","tokens")");
                         }),
               Catch::Contains(std::string(kSession)) &&
                   Catch::Contains("has an answer and ended as failed"));
    CHECK_THAT(day.after(kSession,
                         [](const auto& text) {
                             return with(text,
                                         R"("turn":"t-1","kind":"trigger")",
                                         R"("turn":"t-3","kind":"trigger")");
                         }),
               Catch::Contains(std::string(kSession) + ":2: "));
    CHECK_THAT(
        day.after(kSummary,
                  [](const auto& text) { return with(text, "<!-- session 2026-10-19-1 -->", ""); }),
        Catch::Contains("session 2026-10-19-1 was closed and is not in"));
    CHECK_THAT(day.after(kSummary, [](const auto& text) { return text + text; }),
               Catch::Contains("session 2026-10-19-1 is summarised 2 times"));
    CHECK_THAT(day.after(kSummary,
                         [](const auto& text) { return text + "<!-- session 2026-01-01-1 -->\n"; }),
               Catch::Contains("it summarises session 2026-01-01-1"));
}

TEST_CASE("an unfinished last line is a note: the next start sets it aside", "[story]") {
    const PlayedDay day;
    CHECK(day.after(kJournal, [](const auto& text) { return text + "{\"v\":1,"; }) == "");
    CHECK(day.after(kSession, [](const auto& text) { return text + "{\"v\":1,"; }) == "");
}
