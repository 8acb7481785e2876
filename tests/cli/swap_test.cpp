// Plugins that are put in force, taken out and gone back from while the host runs: whole programs.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

fs::path fixture(const std::string& name) {
    return fs::path(DAYBOOK_BUILD_DIR) / "lib/daybook/fixtures" / (name + ".so");
}

/// A home whose desks use the plugin `swap`, from a folder of the test's own.
class SwapHome : public Home {
  public:
    explicit SwapHome(int desks = 1) {
        file = path() / "plugins/swap.so";
        fs::create_directories(file.parent_path());
        put("swap_1");
        std::string config = read("daybook.toml");
        const std::string listed = "plugins = [\"memory\"]";
        config.replace(config.find(listed), listed.size(), "plugins = [\"memory\", \"swap\"]");
        for (int i = 2; i <= desks; ++i) {
            config += "\n[desk.d" + std::to_string(i) +
                      "]\nmodels = [\"clerk\"]\nplugins = [\"swap\"]\ncalendar = \"always\"\n";
        }
        write("daybook.toml", config + "\n[plugin.swap]\nfile = \"" + file.string() + "\"\n");
        for (const char* name : {"swap_1", "swap_2", "swap_crash", "swap_dies", "swap_unwell"}) {
            trust(fixture(name));
        }
        start();
    }
    /// Puts another file in the place of the one that the configuration names, as a package does.
    void put(const std::string& name) const {
        const fs::path beside = file.string() + ".new";
        fs::copy_file(fixture(name), beside, fs::copy_options::overwrite_existing);
        fs::rename(beside, file);
    }
    void trust(const fs::path& module) const {
        const Ran ran = daybook({"plugin", "trust", module.string(), "--yes"});
        INFO(ran.err << ran.out);
        REQUIRE(ran.code == 0);
    }
    /// The version that answers; "" = the call failed.
    [[nodiscard]] std::string version(const std::string& desk = "main") const {
        const Ran ran = daybook({"tool", "call", desk, "which", "{}", "--json"});
        return ran.code == 0 ? ran.json()["result"]["version"].as_string() : "";
    }
    [[nodiscard]] Json why() const { return ask({"plugin", "why", "swap"}); }
    /// What became of the plugin, from the host's journal, newest last.
    [[nodiscard]] std::vector<Json> told(const std::string& what) const {
        std::vector<Json> found;
        const Json shown = ask({"journal", "show", "_host", "--types", "plugin"});
        for (const Json& record : shown["records"].items()) {
            if (record["data"]["what"].as_string() == what) {
                found.push_back(record["data"]);
            }
        }
        return found;
    }

    fs::path file;
};

int count_from(const char* variable, int fallback) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : fallback;
}

}  // namespace

TEST_CASE("a proved new file answers the next call, with its tools, and can be taken back",
          "[cli]") {
    const SwapHome home;
    CHECK(home.version() == "1.0.0");
    const Json loaded = home.ask({"plugin", "load", fixture("swap_2").string()});
    CHECK(loaded["changed"].as_bool());
    CHECK(loaded["version"].as_string() == "2.0.0");
    CHECK(home.version() == "2.0.0");
    CHECK(home.daybook({"tool", "call", "main", "extra", "{}"}).code == 0);
    CHECK(home.why()["state"].as_string() == "probation");
    CHECK(home.why()["pinned"].as_bool());
    CHECK(home.why()["previous"]["version"].as_string() == "1.0.0");

    CHECK_FALSE(home.ask({"plugin", "load", fixture("swap_2").string()})["changed"].as_bool());
    CHECK(home.ask({"plugin", "rollback", "swap"})["version"].as_string() == "1.0.0");
    CHECK(home.version() == "1.0.0");
    CHECK(home.daybook({"tool", "call", "main", "extra", "{}"}).code != 0);
    CHECK(home.told("swapped").size() == 1);
    CHECK(home.told("rolled_back").size() == 1);
}

TEST_CASE("X14: a new file that cannot prove itself changes nothing, and it is said why", "[cli]") {
    const SwapHome home;
    CHECK(home.version() == "1.0.0");
    const auto refused = [&](const fs::path& file, const std::string& reason) {
        const Ran ran = home.daybook({"plugin", "load", file.string(), "swap"});
        INFO(file);
        CHECK(ran.code != 0);
        CHECK_THAT(ran.err, Contains(reason));
        CHECK(home.version() == "1.0.0");
    };
    refused(fixture("swap_dies"), "SIGSEGV");
    refused(fixture("swap_unwell"), "the index is a week old");
    refused(fixture("wrong_major"), "ABI");
    refused(fixture("no_note"), "note");
    refused(fixture("echo"), "not trusted");
    refused("/no/such/file.so", "No such file");
    CHECK(home.told("swap_refused").size() >= 2);
    CHECK(home.told("swapped").empty());
    CHECK_THAT(home.daybook({"plugin", "load", fixture("echo").string()}).err,
               Contains("no plugin echo in the configuration"));
    CHECK_THAT(home.daybook({"plugin", "rollback", "swap"}).err, Contains("no earlier file"));
}

TEST_CASE("a new file that crashes while on probation is taken back by the host, which says why",
          "[cli]") {
    const SwapHome home;
    CHECK(home.version() == "1.0.0");
    home.put("swap_crash");
    CHECK(home.ask({"plugin", "reload", "swap"})["version"].as_string() == "3.0.0");
    CHECK(home.daybook({"tool", "call", "main", "which", "{}"}).code != 0);
    CHECK(eventually([&] { return home.version() == "1.0.0"; }));
    const auto back = home.told("rolled_back");
    REQUIRE(back.size() == 1);
    CHECK_THAT(back[0]["why"].as_string(), Contains("on probation") && Contains("SIGSEGV"));
    CHECK_THAT(home.why()["last_swap"].as_string(), Contains("SIGSEGV"));
    CHECK(home.why()["state"].as_string() == "ok");
}

TEST_CASE("what was put in force, and what was gone back from, outlives a kill of the host",
          "[cli]") {
    SwapHome home;
    CHECK(home.ask({"plugin", "load", fixture("swap_2").string()})["changed"].as_bool());
    home.kill();
    home.start();
    CHECK(home.version() == "2.0.0");
    CHECK(home.why()["state"].as_string() == "probation");
    home.put("swap_crash");
    CHECK(home.ask({"plugin", "reload", "swap"})["changed"].as_bool());
    CHECK(home.why()["previous"]["version"].as_string() == "2.0.0");
    CHECK(home.ask({"plugin", "rollback", "swap"})["changed"].as_bool());
    home.kill();
    home.start();
    // The file that was gone back from still lies where the configuration says.
    CHECK(home.version() == "2.0.0");
    // Another one that is put there is the owner's newer word.
    home.put("swap_1");
    home.kill();
    home.start();
    CHECK(home.version() == "1.0.0");
    CHECK(home.why()["previous"]["version"].as_string() == "2.0.0");
}

TEST_CASE("an unloaded and a disabled plugin stay so until the owner says otherwise", "[cli]") {
    SwapHome home;
    CHECK(home.version() == "1.0.0");
    CHECK(home.ask({"plugin", "disable", "swap"})["changed"].as_bool());
    CHECK(home.version().empty());
    CHECK(home.why()["state"].as_string() == "disabled");
    home.kill();
    home.start();
    CHECK(home.version().empty());
    CHECK_THAT(home.why()["reason"].as_string(), Contains("daybook plugin enable"));
    CHECK(home.ask({"plugin", "enable", "swap"})["changed"].as_bool());
    CHECK(home.version() == "1.0.0");
    CHECK(home.ask({"plugin", "unload", "swap"})["changed"].as_bool());
    CHECK(home.version().empty());
    CHECK(home.ask({"plugin", "load", fixture("swap_2").string()})["changed"].as_bool());
    CHECK(home.version() == "2.0.0");
}

TEST_CASE("a SIGHUP puts a changed file in force when it proves itself, else the old one stays",
          "[cli]") {
    const SwapHome home;
    CHECK(home.version() == "1.0.0");
    home.put("swap_2");
    ::kill(home.pid(), SIGHUP);
    CHECK(eventually([&] { return home.told("swapped").size() == 1; }));
    CHECK(home.version() == "2.0.0");
    home.put("swap_dies");
    ::kill(home.pid(), SIGHUP);
    CHECK(eventually([&] { return home.told("swap_refused").size() == 1; }));
    CHECK(home.version() == "2.0.0");
}

TEST_CASE("reloads under four callers drop no call", "[cli]") {
    const SwapHome home(2);
    const int reloads = count_from("DAYBOOK_TEST_RELOADS", 20);
    std::atomic<bool> stop{false};
    std::atomic<int> answered{0};
    std::vector<std::string> failures(4);
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        callers.emplace_back([&, i] {
            const std::string desk = i % 2 == 0 ? "main" : "d2";
            while (!stop && failures[i].empty()) {
                const Ran ran = home.daybook({"tool", "call", desk, "which", "{}"});
                ran.code == 0 ? void(++answered) : void(failures[i] = ran.err + ran.out);
            }
        });
    }
    int done = 0;
    for (int i = 0; i < reloads; ++i) {
        const Ran ran =
            home.daybook({"plugin", "load", fixture(i % 2 == 0 ? "swap_2" : "swap_1").string()});
        INFO(ran.err);
        done += ran.code == 0 ? 1 : 0;
    }
    stop = true;
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(done == reloads);
    for (const std::string& failure : failures) {
        CHECK(failure.empty());
    }
    CHECK(answered > reloads);
}
