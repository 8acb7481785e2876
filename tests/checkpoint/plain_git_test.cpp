// The owner's git, in a loop, while the host writes, packs and merges: it always succeeds.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

/// Rounds of plain git; DAYBOOK_GIT_ROUNDS for a long run.
int rounds() {
    const char* wish = std::getenv("DAYBOOK_GIT_ROUNDS");
    return wish != nullptr ? std::atoi(wish) : 6;
}

}  // namespace

TEST_CASE("plain git reads the repository at any time while the host writes, packs and merges",
          "[checkpoint]") {
    Desk desk;
    desk.form = CheckpointForm::journalled;
    REQUIRE(desk.open());
    REQUIRE(desk.write("notes/2026-10-19.md", "begin\n"));
    REQUIRE(desk.store->publish());
    std::atomic<bool> over = false;
    std::string trouble;  // of the writer; read after it has ended
    int written = 0;
    std::thread writer([&] {
        std::string text = "begin\n";
        for (; !over && trouble.empty(); ++written) {
            text += "line " + std::to_string(written) + "\n";
            const auto taken = desk.write("notes/2026-10-19.md", text);
            const auto published = desk.store->publish();  // a pack each, and many merges
            trouble = !taken       ? taken.error().message()
                      : !published ? published.error().message()
                                   : "";
        }
    });
    std::string failed;
    for (int round = 0; round < rounds(); ++round) {
        for (const char* command : {"log --format=%H%n%B HEAD",
                                    "rev-list --objects --all",
                                    "log -p -3 HEAD -- notes",
                                    "show HEAD:notes/2026-10-19.md",
                                    "cat-file --batch-check --batch-all-objects"}) {
            const Ran ran = desk.git_now(command);
            if (ran.code != 0 || ran.output.find("error:") != std::string::npos) {
                failed += std::string(command) + ": " + std::to_string(ran.code) + ": " +
                          ran.output.substr(0, 400) + "\n";
            }
        }
    }
    over = true;
    writer.join();
    CHECK(failed == "");
    CHECK(trouble == "");
    CHECK(written > 20);  // it did merge meanwhile
    CHECK(desk.fsck() == "");
}
