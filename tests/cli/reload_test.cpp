// SIGHUP, and desks that are at rest: what is in force, what is open, and what is not.
#include <csignal>
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

void hang_up(const Home& home) {
    ::kill(home.pid(), SIGHUP);
}

std::string names(const Json& desks) {
    std::string text;
    for (const Json& desk : desks.items()) {
        text += desk["name"].as_string() + " ";
    }
    return text;
}

/// The newest record about the configuration, once there are `count` of them.
Json configuration_record(const Home& home, std::size_t count) {
    Json found;
    CHECK(eventually([&] {
        const Json shown = home.ask({"journal", "show", "_host", "--types", "configuration"});
        const auto& records = shown["records"].items();
        if (records.size() < count) {
            return false;
        }
        found = records.back();
        return true;
    }));
    return found["data"];
}

std::size_t descriptors_of(pid_t pid, const std::string& below) {
    std::size_t count = 0;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
        const auto target = std::filesystem::read_symlink(entry.path(), error);
        count += target.string().find(below) != std::string::npos ? 1U : 0U;
    }
    return count;
}

std::size_t threads_of(pid_t pid) {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        static_cast<void>(entry);
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("a new configuration brings, changes and takes away desks while the host runs", "[cli]") {
    Home home;
    home.start();
    CHECK(home.daybook({"say", "main", "Remember: one"}).code == 0);
    const std::string before = home.read("daybook.toml");
    home.write("daybook.toml", before + "\n[desk.second]\nmodels = [\"clerk\"]\n");
    hang_up(home);
    const Json added = configuration_record(home, 1);
    CHECK(added["what"].as_string() == "read");
    CHECK(added["added"].items().at(0).as_string() == "second");
    CHECK(added["changed"].items().empty());
    CHECK(names(home.ask({"desk", "list"})["desks"]) == "main second ");
    CHECK(home.daybook({"say", "second", "hello"}).code == 0);

    // main gets a shorter queue, second goes: its files stay.
    home.write(
        "daybook.toml",
        before + "\n[model.other]\nplugin = \"clerk\"\n[desk.third]\nmodels = [\"other\"]\n");
    hang_up(home);
    const Json changed = configuration_record(home, 2);
    CHECK(changed["removed"].items().at(0).as_string() == "second");
    CHECK(names(home.ask({"desk", "list"})["desks"]) == "main third ");
    CHECK(home.daybook({"say", "second", "hello"}).code == 4);
    CHECK(std::filesystem::exists(home.path() / "state/sessions/second"));
    CHECK(home.daybook({"say", "third", "hello"}).code == 0);

    std::string renamed = home.read("daybook.toml");
    renamed.replace(
        renamed.find("plugin = \"clerk\"\n[desk.third]"), 16, "plugin = \"clerk\"\nmodel = \"x\"");
    home.write("daybook.toml", renamed);
    hang_up(home);
    CHECK(configuration_record(home, 3)["changed"].items().at(0).as_string() == "third");
    CHECK(home.daybook({"say", "third", "again"}).code == 0);
    CHECK(home.ask({"session", "show", "third"})["lines"].items().size() == 5);
    home.stop();
    home.start();
    CHECK(home.daybook({"say", "third", "after a start"}).code == 0);
}

TEST_CASE("a bad configuration leaves all as it was, with the reason in log and status", "[cli]") {
    Home home;
    home.start();
    const std::string before = home.read("daybook.toml");
    struct Case {
        const char *text, *reason;
    };
    std::size_t count = 0;
    for (const Case& one :
         {Case{"\n[desk.second]\nmodels = [\"nobody\"]\n", "nobody"},
          Case{"\n[desk.second]\nmodels = [\"clerk\"]\ncalendar = \"nowhere\"\n", "nowhere"},
          Case{"\n[desk.second]\nmodels = [\"clerk\"]\nzone = \"Mars/Olympus\"\n", "Mars"},
          Case{"\nthis is no toml\n", "daybook.toml"}}) {
        CAPTURE(one.text);
        home.write("daybook.toml", before + one.text);
        hang_up(home);
        CHECK(configuration_record(home, ++count)["what"].as_string() == "refused");
        const Json status = home.ask({"status"});
        CHECK(names(status["desks"]) == "main ");
        CHECK_THAT(status["warnings"].dump(), Catch::Contains(one.reason));
        CHECK_THAT(status["warnings"].dump(), Catch::Contains("the old one is in force"));
        CHECK(home.daybook({"say", "main", "still there?"}).code == 0);
    }
    CHECK_THAT(home.read("state/log/daybookd.log"), Catch::Contains("the old one stays"));
    home.write("daybook.toml", before);
    hang_up(home);
    CHECK(configuration_record(home, ++count)["what"].as_string() == "read");
    CHECK(home.ask({"status"})["warnings"].dump().find("refused") == std::string::npos);
}

TEST_CASE("a trigger that waits is not lost by a reload, and a model that is now right runs it",
          "[cli]") {
    Home home;
    const std::string before = home.read("daybook.toml");
    std::string broken = before;
    broken.replace(broken.find("models = [\"clerk\"]"), 18, "models = [\"absent\"]");
    home.write("daybook.toml", broken + "\n[model.absent]\nplugin = \"absent\"\n");
    home.start();
    const Json accepted = home.ask({"trigger", "main", "message", "--text", "Remember: a gap"});
    CHECK(eventually([&] {
        return home.ask({"desk", "show"})["state"].as_string() == "waiting for a model";
    }));
    home.write("daybook.toml", before);
    hang_up(home);
    CHECK(eventually([&] {
        return home.daybook({"journal", "show", "main", "--types", "turn_end"})
                   .out.find(accepted["trigger"].as_string()) != std::string::npos;
    }));
}

TEST_CASE("a desk with nothing to do holds no thread and no descriptor, and wakes when spoken to",
          "[cli]") {
    Home home;
    std::string config = home.read("daybook.toml");
    const auto at = config.find("[host]");
    if (at == std::string::npos) {
        config += "\n[host]\ndesk_idle = \"1s\"\nrunner_idle = \"1s\"\n";
    } else {
        config.replace(at, 6, "[host]\ndesk_idle = \"1s\"\nrunner_idle = \"1s\"");
    }
    home.write("daybook.toml", config);
    home.start();
    CHECK(home.daybook({"say", "main", "Remember: the first"}).code == 0);
    const auto journal = (home.path() / "state/journal/main").string();
    CHECK(descriptors_of(home.pid(), journal) > 0);
    // The look at the clock closes it; a request of the owner's for the whole host makes one.
    CHECK(eventually([&] {
        static_cast<void>(home.ask({"status"}));
        return descriptors_of(home.pid(), journal) == 0;
    }));
    CHECK(descriptors_of(home.pid(), "state/workspace") == 0);
    CHECK(descriptors_of(home.pid(), "state/sessions") == 0);
    CHECK(threads_of(home.pid()) <= 4);
    const Json status = home.ask({"status"});
    CHECK(status["desks"].items().at(0)["state"].as_string() == "idle");
    CHECK(std::filesystem::exists(home.path() / "state/sessions/main/at_rest.json"));
    CHECK(home.daybook({"say", "main", "Remember: the second"}).code == 0);
    CHECK_FALSE(std::filesystem::exists(home.path() / "state/sessions/main/at_rest.json"));
    CHECK(home.ask({"memory", "notes", "main"})["text"].as_string().find("the second") !=
          std::string::npos);
}

TEST_CASE("a desk that was at rest when the host was killed is there again, and its mark may lie",
          "[cli]") {
    Home home;
    home.start();
    CHECK(home.daybook({"say", "main", "Remember: the first"}).code == 0);
    home.stop();
    const std::string mark = home.read("state/sessions/main/at_rest.json");
    CHECK_FALSE(mark.empty());
    home.start();
    home.kill();  // not opened in between: the mark still stands
    home.start();
    CHECK(home.daybook({"say", "main", "Remember: the second"}).code == 0);
    home.kill();
    for (const std::string& text : {std::string(), std::string("{\"v\":1"), std::string("[]")}) {
        home.write("state/sessions/main/at_rest.json", text);
        home.start();
        CHECK(home.ask({"session", "show", "main"})["lines"].items().size() >= 6);
        home.kill();
    }
}
