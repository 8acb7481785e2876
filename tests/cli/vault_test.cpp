// checkpoint verify, du, backup, restore-home: on the whole programs, with a host and without.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const Words& words) {
    std::string text;
    for (const std::string& word : words) {
        text += word + " ";
    }
    return text;
}

void remember(const Home& home, const std::string& lesson) {
    const Ran said = home.daybook({"say", "main", "Remember: " + lesson});
    INFO(text_of({"say", lesson}) << said.err);
    REQUIRE(said.code == 0);
}

}  // namespace

TEST_CASE("verify and du say the same with the host and without", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    remember(home, "wait 20 minutes after a gap.");
    const Json up = home.ask({"checkpoint", "verify"});
    CHECK(up["ok"].as_bool());
    REQUIRE(up["desks"].items().size() == 1);
    const Json& desk = up["desks"].items().front();
    CHECK(desk["checkpoints"].as_integer() >= 2);
    CHECK(desk["findings"].items().empty());
    const Json usage_up = home.ask({"du", "main"});
    home.stop();
    const Json down = home.ask({"checkpoint", "verify", "main"});
    CHECK(down["ok"].as_bool());
    CHECK(down["desks"].items().front()["newest"].as_string() == desk["newest"].as_string());
    const Json usage_down = home.ask({"du"});
    const auto own_files = [](const Json& usage) {
        for (const Json& part : usage["desks"].items().front()["parts"].items()) {
            if (part["name"].as_string() == "own files") {
                return part["bytes"].as_integer();
            }
        }
        return std::int64_t{-1};
    };
    CHECK(own_files(usage_up) > 0);
    CHECK(own_files(usage_up) == own_files(usage_down));
    CHECK(usage_down["bytes"].as_integer() > usage_up["bytes"].as_integer());
    CHECK(home.daybook({"checkpoint", "verify", "nobody"}).code == 4);
    CHECK(home.daybook({"du", "nobody"}).code == 4);
}

TEST_CASE("verify finds a ledger that lost lines, is damaged or gone", "[cli]") {
    Home home;
    home.start();
    home.write("state/workspace/main/Memory.md", "one\n");
    const std::string first = home.ask({"checkpoint", "take", "main"})["checkpoint"].as_string();
    home.write("state/workspace/main/Memory.md", "two\n");
    REQUIRE(home.daybook({"checkpoint", "restore", "main", first, "--yes"}).code == 0);
    REQUIRE(home.daybook({"checkpoint", "take", "main"}).code == 0);
    CHECK(home.daybook({"checkpoint", "verify"}).code == 0);
    home.stop();
    CHECK(home.daybook({"checkpoint", "verify"}).code == 0);
    const std::string ledger = "state/ledger/main/ledger.jsonl";
    const std::string whole = home.read(ledger);
    REQUIRE_FALSE(whole.empty());
    const auto told = [&] {
        const Ran ran = home.daybook({"checkpoint", "verify", "main"});
        CHECK(ran.code == 1);
        return ran.out + ran.err;
    };
    home.write(ledger, "{\"seq\":2}\n");
    CHECK_THAT(told(), Catch::Contains("line 1 is no record"));
    home.write(ledger, "");
    CHECK_THAT(told(), Catch::Contains("does not begin with"));
    fs::remove(home.path() / ledger);
    CHECK_THAT(told(), Catch::Contains("ledger.jsonl is gone"));
    home.write(ledger, whole);
    CHECK(home.daybook({"checkpoint", "verify"}).code == 0);
}

TEST_CASE("verify names what is damaged, says what to do and ends with 1", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    remember(home, "half size on expiry day.");
    home.stop();
    std::size_t emptied = 0;
    for (const auto& entry : fs::recursive_directory_iterator(
             home.path() / "state/workspace/.checkpoints/main.git/objects")) {
        if (entry.is_regular_file() && emptied == 0) {
            fs::remove(entry.path());
            std::ofstream(entry.path()).close();
            ++emptied;
        }
    }
    REQUIRE(emptied == 1);
    const Ran ran = home.daybook({"checkpoint", "verify"});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, Catch::Contains("damaged") && Catch::Contains("backup"));
    const Ran json = home.daybook({"checkpoint", "verify", "--json"});
    CHECK(json.code == 1);
    CHECK_FALSE(json.json()["ok"].as_bool());
}

namespace {

/// The records of a home's journal: they must be the same lines in what came back, up to their end.
std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Every file of the backed-up desk below `folder` is in the other home and a beginning of it.
void check_beginnings(const fs::path& restored, const fs::path& original) {
    for (const auto& entry : fs::directory_iterator(restored)) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() != ".jsonl") {
            continue;
        }
        INFO(name);
        const std::string text = text_of(entry.path());
        CHECK(text_of(original / name).starts_with(text));
        CHECK((text.empty() || text.ends_with('\n')));
    }
}

std::size_t notes_in(const fs::path& state) {
    std::size_t lines = 0;
    for (const auto& entry : fs::directory_iterator(state / "workspace/main/notes")) {
        const std::string text = text_of(entry.path());
        lines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    return lines;
}

/// An empty place with the programs' ways to it.
struct Elsewhere {
    TempFolder folder;
    fs::path home = folder / "home";
    [[nodiscard]] Ran daybook(Words words) const {
        words.insert(words.end(), {"--home", home.string()});
        return run_program("daybook", words, folder.path());
    }
};

}  // namespace

TEST_CASE("a backup taken while a desk writes is a whole home elsewhere", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    for (int i = 0; i < 3; ++i) {
        remember(home, "lesson " + std::to_string(i) + ".");
    }
    const fs::path workspace = home.path() / "state/workspace/main";
    std::ofstream(workspace / "owner.txt") << "the owner's own\n";
    fs::create_directories(workspace / "memory" / std::string(200, 'd'));
    std::ofstream(workspace / "memory" / std::string(200, 'd') / "\xff odd \n.md") << "odd\n";
    fs::create_symlink("owner.txt", workspace / "link");
    home.write("state/keys/qwen", "secret\n");

    const Elsewhere elsewhere;
    const bool as_folder = GENERATE(false, true);
    const fs::path backup = elsewhere.folder / (as_folder ? "backup/" : "backup.tar");
    std::atomic<bool> over{false};
    std::size_t said = 3;
    std::thread writer([&] {
        while (!over) {
            said += home.daybook({"say", "main", "Remember: more " + std::to_string(said) + "."})
                                .code == 0
                        ? 1U
                        : 0U;
        }
    });
    const Ran backed = home.daybook({"backup", backup.string(), "--json"});
    const std::size_t least = 3;
    over = true;
    writer.join();
    INFO(backed.err);
    REQUIRE(backed.code == 0);
    CHECK_THAT(backed.out, Catch::Contains("keys/qwen"));
    CHECK(home.daybook({"backup", backup.string()}).code == 6);

    const Ran restored = elsewhere.daybook({"restore-home", backup.string(), "--json"});
    INFO(restored.err);
    REQUIRE(restored.code == 0);
    CHECK(restored.json()["ok"].as_bool());
    const fs::path state = elsewhere.home / "state";
    CHECK(text_of(elsewhere.home / "daybook.toml") == home.read("daybook.toml"));
    CHECK(text_of(state / "workspace/main/owner.txt") == "the owner's own\n");
    CHECK(fs::read_symlink(state / "workspace/main/link") == "owner.txt");
    CHECK(text_of(state / "workspace/main/memory" / std::string(200, 'd') / "\xff odd \n.md") ==
          "odd\n");
    CHECK_FALSE(fs::exists(state / "keys/qwen"));
    CHECK_FALSE(fs::exists(state / "keys/control.token"));
    CHECK((fs::status(state / "workspace").permissions() & fs::perms::mask) ==
          (fs::status(home.path() / "state/workspace").permissions() & fs::perms::mask));
    check_beginnings(state / "journal/main", home.path() / "state/journal/main");
    check_beginnings(state / "sessions/main", home.path() / "state/sessions/main");
    const std::size_t kept = notes_in(state);
    CHECK(kept >= least);
    CHECK(kept <= said);

    // It serves, with every note, and the history goes on.
    REQUIRE(elsewhere.daybook({"host", "start"}).code == 0);
    CHECK(elsewhere.daybook({"say", "main", "Remember: here too."}).code == 0);
    // A message that was accepted and not answered yet when the backup was taken is answered here.
    CHECK(notes_in(state) >= kept + 1);
    CHECK(notes_in(state) <= kept + 2);
    CHECK(elsewhere.daybook({"checkpoint", "verify"}).code == 0);
    CHECK(elsewhere.daybook({"host", "stop"}).code == 0);
    CHECK(elsewhere.daybook({"restore-home", backup.string()}).code == 6);
}

TEST_CASE("a damaged backup is refused by name, and leaves nothing that would start", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    remember(home, "wait 20 minutes after a gap.");
    home.stop();
    const Elsewhere elsewhere;
    const fs::path backup = elsewhere.folder / "backup/";
    REQUIRE(home.daybook({"backup", backup.string(), "--keys"}).code == 0);
    SECTION("another byte") {
        std::ofstream(backup / "daybook.toml", std::ios::app) << "x";
    }
    SECTION("a file is missing") {
        REQUIRE(fs::remove(backup / "daybook.toml"));
    }
    SECTION("the manifest is missing") {
        fs::remove(backup / "manifest.json");
    }
    SECTION("a file that was not backed up") {
        std::ofstream(backup / "state/more") << "x";
    }
    const Ran restored = elsewhere.daybook({"restore-home", backup.string()});
    CHECK(restored.code == 1);
    CHECK(restored.err.size() > 20);
    CHECK_FALSE(fs::exists(elsewhere.home / "state/format"));
    CHECK(elsewhere.daybook({"host", "start"}).code != 0);
}

TEST_CASE("a backup lies neither within the home nor over something, and wants a home", "[cli]") {
    const Home home({"--calendar", "always"});
    const Elsewhere elsewhere;
    CHECK(home.daybook({"backup", (home.path() / "state/backup.tar").string()}).code == 2);
    CHECK(elsewhere.daybook({"backup", (elsewhere.folder / "b.tar").string()}).code == 4);
    fs::create_directories(elsewhere.folder / "full/x");
    CHECK(home.daybook({"backup", (elsewhere.folder / "full").string()}).code == 6);
    CHECK(elsewhere.daybook({"restore-home", (elsewhere.folder / "none").string()}).code == 4);
    std::ofstream(elsewhere.folder / "cut.tar") << std::string(300, 'x');
    CHECK(elsewhere.daybook({"restore-home", (elsewhere.folder / "cut.tar").string()}).code == 1);
}
