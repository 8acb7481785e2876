// forget: afterwards nothing in the whole home holds the text, not even inside git's objects.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSecret = "swordfish-\"7731\"-tango";
constexpr const char* kEscaped = "swordfish-\\\"7731\\\"-tango";

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

Ran shell(const std::string& line) {
    return run_program("/bin/sh", {"-c", line}, "/");
}

/// Where the text still stands: files below the home, and objects of the repository as git gives
/// them, also those that no commit reaches.
std::string places_of_text(const fs::path& home, const std::string& text) {
    std::string found;
    for (const auto& entry : fs::recursive_directory_iterator(home)) {
        if (entry.is_regular_file() && text_of(entry.path()).find(text) != std::string::npos) {
            found += entry.path().string() + "\n";
        }
        found += entry.path().filename().string().find(text) != std::string::npos
                     ? "name " + entry.path().string() + "\n"
                     : "";
    }
    const std::string git =
        "git --git-dir " + (home / "state/workspace/.checkpoints/main.git").string();
    std::istringstream ids(
        shell(git + " cat-file --batch-all-objects --batch-check='%(objectname)'").out);
    for (std::string id; std::getline(ids, id);) {
        const Ran object = shell(git + " cat-file -p " + id);
        found += object.out.find(text) != std::string::npos ? "object " + id + "\n" : "";
    }
    return found;
}

/// A home where the secret stands in notes, memory, names, a conversation and the history.
void spill(Home& home) {
    home.start();
    REQUIRE(
        home.daybook({"say", "main", std::string("Remember: the door code is ") + kSecret + "."})
            .code == 0);
    const Json arguments = Json::object()
                               .set("path", "memory/codes.md")
                               .set("text", std::string("code ") + kSecret + "\n");
    REQUIRE(home.daybook({"tool", "call", "main", "write_file", arguments.dump()}).code == 0);
    REQUIRE(home.daybook({"say", "main", "Remember: nothing secret."}).code == 0);
    std::ofstream(home.path() / "state/workspace/main/memory/swordfish-\"7731\"-tango.md") << "x\n";
    REQUIRE(home.daybook({"checkpoint", "take", "main"}).code == 0);
    home.stop();
    fs::remove(home.path() / "state/log/daybookd.log");
    fs::create_directories(home.path() / "state/scratch/search/main");
    std::ofstream(home.path() / "state/scratch/search/main/index.db") << kSecret;
}

Ran forget(const Home& home, const Words& more, const std::string& text = kSecret) {
    Words words = {"forget", "main", "--file", "-", "--home", home.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program("daybook", words, home.path(), text + "\n");
}

}  // namespace

TEST_CASE("a forgotten text is nowhere in the home, and the desk goes on", "[cli]") {
    Home home({"--calendar", "always"});
    spill(home);
    const std::string before = places_of_text(home.path(), kEscaped);
    INFO(before);
    CHECK(before.find("sessions/main") != std::string::npos);
    CHECK(places_of_text(home.path(), kSecret).find("object ") != std::string::npos);
    if (GENERATE(false, true)) {
        const std::string git =
            "git --git-dir " + (home.path() / "state/workspace/.checkpoints/main.git").string();
        REQUIRE(shell(git + " tag keep && " + git + " gc -q --prune=now").code == 0);
    }
    const Ran dry = forget(home, {"--dry-run", "--json"});
    INFO(dry.err);
    REQUIRE(dry.code == 0);
    CHECK(dry.json()["places"].as_integer() >= 3);
    CHECK(dry.json()["commits"].as_integer() > 0);
    CHECK(places_of_text(home.path(), kEscaped) == before);

    const Ran done = forget(home, {"--json"});
    INFO(done.err << done.out);
    REQUIRE(done.code == 0);
    CHECK(done.json()["verified"].as_bool());
    CHECK(done.json()["lines"].as_integer() > 0);
    CHECK(done.out.find("swordfish") == std::string::npos);
    CHECK(places_of_text(home.path(), kSecret) == "");
    CHECK(places_of_text(home.path(), kEscaped) == "");
    CHECK_FALSE(fs::exists(home.path() / "state/forget/main"));

    home.start();
    const Ran verify = home.daybook({"journal", "verify", "main"});
    INFO(verify.out << verify.err);
    CHECK(verify.code == 0);
    CHECK(home.daybook({"checkpoint", "verify"}).code == 0);
    CHECK(home.daybook({"say", "main", "Remember: the code was changed."}).code == 0);
    const Json listed = home.ask({"checkpoint", "list", "main", "--limit", "100"});
    CHECK(listed["checkpoints"].items().back()["id"].as_string() == "c-1");
    const Json shown = home.ask({"journal", "show", "main", "--types", "forget"});
    CHECK(shown["records"].items().size() == 1);
    home.stop();
    CHECK(shell("git --git-dir " +
                (home.path() / "state/workspace/.checkpoints/main.git").string() +
                " fsck --full --strict --no-dangling --no-progress")
              .code == 0);
}

TEST_CASE("a forget that was cut short is told, and the same again finishes it", "[cli]") {
    Home home({"--calendar", "always"});
    spill(home);
    const Ran traced = run_program("/usr/bin/strace", {"-V"}, "/");
    if (traced.code != 0) {
        WARN("skipped: strace is not there");
        return;
    }
    const fs::path daemon = fs::path(DAYBOOK_BUILD_DIR) / "bin/daybookd";
    const std::string arguments =
        Json::object().set("desk", "main").set("texts", Json::array({kSecret})).dump();
    bool was_cut = false;
    for (int nth = 1; nth < 400; nth += 17) {
        const Ran ran =
            run_program("/usr/bin/strace",
                        {"-f",
                         "-o",
                         "/dev/null",
                         "-e",
                         "trace=fsync,fdatasync",
                         "-e",
                         "inject=fsync,fdatasync:signal=KILL:when=" + std::to_string(nth),
                         daemon.string(),
                         "--once",
                         "desk.forget",
                         "--home",
                         home.path().string()},
                        home.path(),
                        arguments);
        if (ran.code == 0) {
            break;
        }
        was_cut = true;
        const Ran verify = home.daybook({"checkpoint", "verify", "--json"});
        INFO("cut at sync " << nth << ": " << verify.out << verify.err);
        if (!fs::exists(home.path() / "state/forget/main")) {
            CHECK(verify.code == 0);  // before it had begun
            continue;
        }
        REQUIRE(verify.code == 1);
        const Json told = verify.json();
        const auto& findings = told["desks"].items().front()["findings"].items();
        REQUIRE(findings.size() == 1);
        CHECK(findings.front()["what"].as_string().find("cut short") != std::string::npos);
    }
    CHECK(was_cut);
    REQUIRE(forget(home, {}).code == 0);
    CHECK(places_of_text(home.path(), kSecret) == "");
    CHECK(places_of_text(home.path(), kEscaped) == "");
    CHECK(home.daybook({"checkpoint", "verify"}).code == 0);
}

TEST_CASE("a running host forgets: one desk is closed for it, the others go on", "[cli]") {
    Home home({"--calendar", "always"});
    home.write("daybook.toml",
               home.read("daybook.toml") +
                   "\n[desk.second]\ncalendar = \"always\"\nmodels = [\"clerk\"]\n"
                   "plugins = [\"memory\"]\n");
    home.start();
    const std::string told = std::string("Remember: the door code is ") + kSecret + ".";
    REQUIRE(home.daybook({"say", "main", told}).code == 0);
    const Json arguments = Json::object()
                               .set("path", "memory/codes.md")
                               .set("text", std::string("code ") + kSecret + "\n");
    REQUIRE(home.daybook({"tool", "call", "main", "write_file", arguments.dump()}).code == 0);
    REQUIRE(home.daybook({"say", "second", "Remember: I go on."}).code == 0);
    const Ran dry = forget(home, {"--dry-run", "--json"});
    INFO(dry.err);
    REQUIRE(dry.code == 0);
    CHECK(dry.json()["commits"].as_integer() > 0);
    CHECK(places_of_text(home.path(), kEscaped).find("sessions/main") != std::string::npos);

    const Ran done = forget(home, {"--json"});
    INFO(done.err << done.out);
    REQUIRE(done.code == 0);
    CHECK(done.json()["verified"].as_bool());
    CHECK(done.json()["commits"].as_integer() > 0);
    CHECK(places_of_text(home.path(), kSecret) == "");
    CHECK(places_of_text(home.path(), kEscaped) == "");
    // The conversation that goes on does not hold it, nor does what the desk writes from now on.
    CHECK(home.daybook({"say", "main", "What was the code?"}).code == 0);
    CHECK(home.daybook({"say", "main", "Remember: the code was changed."}).code == 0);
    CHECK(places_of_text(home.path(), kEscaped) == "");
    CHECK(home.daybook({"journal", "verify"}).code == 0);
    CHECK(home.daybook({"checkpoint", "verify"}).code == 0);
    const Json shown = home.ask({"journal", "show", "main", "--types", "forget"});
    CHECK(shown["records"].items().size() == 1);
    CHECK(home.daybook({"say", "second", "Remember: as before."}).code == 0);
    CHECK(forget(home, {}, "abc").code == 2);
    home.stop();
    CHECK(home.daybook({"journal", "verify"}).code == 0);
}

TEST_CASE("forget refuses a short text and an unknown desk", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    home.stop();
    CHECK(forget(home, {}, "abc").code == 2);
    CHECK(home.daybook({"forget", "nobody", "--text", "something"}).code == 4);
}
