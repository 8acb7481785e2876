// Every folder here that holds a feed is a case of its own: played on the replayed clock, and what
// came out compared byte for byte. DAYBOOK_STORY_UPDATE=1 writes the expected files anew.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "host/surface/journal_verify.hpp"
#include "tests/catch.hpp"
#include "tests/story/story.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

bool is_updating() {
    const char* wish = std::getenv("DAYBOOK_STORY_UPDATE");
    return wish != nullptr && std::string(wish) == "1";
}

/// The files alone prove what the record promises.
void check_proof(const std::filesystem::path& home) {
    LinuxOs os;
    for (const auto& desk : std::filesystem::directory_iterator(home / "state/journal")) {
        const std::string name = desk.path().filename().string();
        if (name == "_host") {
            continue;
        }
        const JournalProof proof = must(
            verify_journal(os, home / "state", name, repository_source(os, home / "state", name)));
        for (const JournalFinding& finding : proof.findings) {
            FAIL_CHECK(finding.place.str() << ": " << finding.what);
        }
        for (const JournalFinding& note : proof.notes) {
            UNSCOPED_INFO(note.place.str() << ": " << note.what);
        }
        CHECK(proof.lines > 0);
    }
}

class StoryCase : public Catch::ITestInvoker {
  public:
    explicit StoryCase(std::filesystem::path folder) : folder_(std::move(folder)) {}

    void invoke() const override {
        const TempFolder home;
        const Story story = load_story(folder_);
        play(story, home.path());
        check_proof(home.path());
        const Files actual = collect(home.path());
        if (is_updating()) {
            write_files(folder_ / "expected", actual);
        }
        const std::string difference = difference_of(read_files(folder_ / "expected"), actual);
        INFO(difference << "\nDAYBOOK_STORY_UPDATE=1 writes the expected files anew");
        CHECK(difference.empty());
    }

  private:
    std::filesystem::path folder_;
};

/// Before main, as the macros do it.
struct Registered {
    Registered() {
        for (const auto& folder :
             story_folders(std::filesystem::path(DAYBOOK_SOURCE_DIR) / "tests/story")) {
            const Story story = load_story(folder);
            const Catch::AutoReg one(
                new StoryCase(folder),
                Catch::SourceLineInfo(__FILE__, static_cast<std::size_t>(__LINE__)),
                Catch::StringRef(),
                Catch::NameAndTags{story.name + ": " + story.title, "[story]"});
        }
    }
};

const Registered kRegistered;

/// Ids of all commits, newest first.
std::string commits_of(const std::filesystem::path& home) {
    const std::filesystem::path list = home / "commits.txt";
    const std::string git = "git -c safe.directory='*' --git-dir '" +
                            (home / "state/workspace/.checkpoints/main.git").string() +
                            "' log --format=%H checkpoints > '" + list.string() + "'";
    REQUIRE(std::system(git.c_str()) == 0);
    return contents_of_file(list);
}

}  // namespace

TEST_CASE("the same week played twice gives the same files and the same commits", "[story]") {
    const Story story = load_story(std::filesystem::path(DAYBOOK_SOURCE_DIR) / "tests/story/week");
    const TempFolder first;
    const TempFolder second;
    play(story, first.path());
    play(story, second.path());
    CHECK(difference_of(collect(first.path()), collect(second.path())) == "");
    const std::string commits = commits_of(first.path());
    CHECK(std::count(commits.begin(), commits.end(), '\n') > 4);
    CHECK(commits == commits_of(second.path()));
}

TEST_CASE("a difference between expected and actual files is told by name and line", "[story]") {
    const Files expected = {{"a", "one\ntwo\n"}, {"b", "same\n"}, {"gone", "x\n"}};
    const Files actual = {{"a", "one\n2\n"}, {"b", "same\n"}, {"new", "y\n"}};
    const std::string difference = difference_of(expected, actual);
    CHECK_THAT(difference,
               Catch::Contains("a differs") && Catch::Contains("-two") && Catch::Contains("+2") &&
                   Catch::Contains("missing: gone") && Catch::Contains("not expected: new"));
    CHECK(difference_of(expected, expected) == "");
}
