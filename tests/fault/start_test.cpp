// Bad input at the start: one clear error each, nothing lost, and what can serve serves.
#include <csignal>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// The daemon refuses to start: exit code, the words, and only that.
void check_no_start(const Home& home, int code, const std::vector<std::string>& words) {
    const Ran ran =
        run_program("daybookd", {"--home", home.path().string(), "--foreground"}, home.path());
    INFO(ran.err);
    CHECK(ran.code == code);
    for (const std::string& word : words) {
        CHECK_THAT(ran.err, Catch::Contains(word));
    }
    CHECK(count_of(ran.err, "\n") <= words.size() + 1);
}

fs::path newest_file(const fs::path& folder, const std::string& ending) {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().string().ends_with(ending) && entry.path() > newest) {
            newest = entry.path();
        }
    }
    REQUIRE_FALSE(newest.empty());
    return newest;
}

void append_to(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::app | std::ios::binary) << bytes;
}

std::size_t answers_in(const Home& home, const std::string& desk) {
    std::size_t answers = 0;
    for (const Json& line : records_of(home, "sessions/" + desk)) {
        answers += line["kind"].as_string() == "answer" ? 1U : 0U;
    }
    return answers;
}

Result<Json> say(const Home& home, const std::string& desk, const std::string& text) {
    return request(home, "say", Json::object().set("desk", desk).set("text", text));
}

}  // namespace

TEST_CASE(
    "a wrong configuration is told with place and nearest word, all at once, and starts nothing",
    "[fault]") {
    const Home home;
    home.write(
        "daybook.toml",
        "[host]\nlog_levl = \"info\"\nqueue_limit = \"many\"\n\n[desk.main]\ncalendar = 7\n");
    const Picture before = picture_of(home.path() / "state");
    check_no_start(
        home,
        2,
        {"daybook.toml:2:", "log_level", "daybook.toml:3:", "queue_limit", "daybook.toml:6:"});
    CHECK(difference(before, picture_of(home.path() / "state")) == "");
    home.write("daybook.toml", "[host\n");
    check_no_start(home, 2, {"daybook.toml:1:"});
    fs::remove(home.path() / "daybook.toml");
    check_no_start(home, 4, {"daybook init"});
}

TEST_CASE("a home of a newer format, or of none, is left as it is", "[fault]") {
    Home home;
    home.start();
    REQUIRE(call_tool(home, "add_note", Json::object().set("text", "kept")));
    home.stop();
    const std::string text = contents_of(home.path() / "state/format");
    const auto stays = [&](const char* number, int code, const std::string& word) {
        home.write("state/format", number);
        const Picture before = picture_of(home.path() / "state");
        check_no_start(home, code, {word});
        CHECK(difference(before, picture_of(home.path() / "state")) == "");
    };
    stays("99\n", 2, "format 99");
    stays("one\n", 1, "wanted a number");
    stays("", 1, "wanted a number");
    home.write("state/format", text);
    home.start();
    CHECK_THAT(notes_of(home), Catch::Contains("kept"));
    REQUIRE(call_tool(home, "add_note", Json::object().set("text", "and on")));
    home.stop();
}

TEST_CASE("a second host on one home is refused, also after the first was killed", "[fault]") {
    Home home;
    home.start();
    check_no_start(home, 6, {"process " + std::to_string(home.pid())});
    CHECK(request(home, "status", Json::object()));
    home.kill();
    home.start();
    home.stop();
}

TEST_CASE("torn journal and session lines are set aside, and every whole line stays", "[fault]") {
    Home home;
    home.write("daybook.toml",
               config_text("", desk_table("main", {"memory"}) + desk_table("other", {"memory"})));
    home.start();
    for (const char* desk : {"main", "other"}) {
        REQUIRE(say(home, desk, "Remember: the first lesson."));
    }
    home.kill();
    const fs::path journal = newest_file(home.path() / "state/journal/main", ".jsonl");
    const fs::path session = newest_file(home.path() / "state/sessions/main", ".jsonl");
    const std::size_t journalled = records_of(home, "journal/main").size();
    const std::size_t said = records_of(home, "sessions/main").size();
    append_to(journal, R"({"v":1,"seq":99,"id":"ma)");
    append_to(session, R"({"v":1,"seq":99,"kind":"ans)");
    append_to(newest_file(home.path() / "state/journal/_host", ".jsonl"), "{\"v\":1,");
    home.start();
    for (const char* desk : {"main", "other"}) {
        const auto answer = say(home, desk, "What did you note?");
        REQUIRE(answer);
        CHECK_THAT((*answer)["answer"].as_string(), Catch::Contains("first lesson"));
        CHECK(answers_in(home, desk) == 2);
        check_lines(home, std::string("journal/") + desk);
        check_lines(home, std::string("sessions/") + desk);
    }
    CHECK(records_of(home, "journal/main").size() > journalled);
    CHECK(records_of(home, "sessions/main").size() > said);
    bool repaired = false;
    for (const Json& record : records_of(home, "journal/main")) {
        repaired = repaired || record["type"].as_string() == "journal_repaired";
    }
    CHECK(repaired);
    std::string aside;
    for (const char* folder : {"state/journal/main", "state/sessions/main"}) {
        for (const auto& entry : fs::directory_iterator(home.path() / folder)) {
            aside += entry.path().string().find("torn") == std::string::npos
                         ? ""
                         : contents_of(entry.path()) + "\n";
        }
    }
    CHECK_THAT(aside, Catch::Contains(R"("id":"ma)") && Catch::Contains(R"("kind":"ans)"));
    home.stop();
    check_lines(home, "journal/_host");
}

TEST_CASE("a state.json that is empty, torn or gone is rebuilt from the session files", "[fault]") {
    Home home;
    home.start();
    REQUIRE(say(home, "main", "Remember: the first lesson."));
    home.stop();
    const fs::path state = home.path() / "state/sessions/main/state.json";
    std::size_t answers = 1;
    for (const char* text :
         std::initializer_list<const char*>{"", "{\"v\":1,\"ses", "[]", nullptr}) {
        INFO((text == nullptr ? "gone" : text));
        fs::remove(state);
        if (text != nullptr) {
            std::ofstream(state) << text;
        }
        home.start();
        const auto answer = say(home, "main", "What did you note?");
        REQUIRE(answer);
        CHECK_THAT((*answer)["answer"].as_string(), Catch::Contains("first lesson"));
        CHECK(answers_in(home, "main") == ++answers);
        const auto listed = request(home, "session.list", Json::object().set("desk", "main"));
        REQUIRE(listed);
        CHECK((*listed)["sessions"].items().size() == 1);
        check_lines(home, "sessions/main");
        home.stop();
    }
}

TEST_CASE("unknown and unfit plugins and a missing calendar cost what names them, and nothing else",
          "[fault]") {
    Home home;
    std::string tables;
    std::vector<std::string> plugins = {"memory", "nope"};
    const std::vector<std::string> unfit = {
        "wrong_major", "no_note", "lying_note", "future_minor", "missing_symbol"};
    for (const std::string& name : unfit) {
        tables += plugin_table(name);
        plugins.push_back(name);
    }
    tables += "[plugin.text]\nfile = \"" + (home.path() / "text.so").string() + "\"\n";
    plugins.emplace_back("text");
    home.write("text.so", "this is no program\n");
    home.write(
        "daybook.toml",
        config_text("", tables + desk_table("main", plugins) + desk_table("other", {"memory"})) +
            "[desk.lost]\ncalendar = \"nowhere\"\nmodels = [\"clerk\"]\n");
    home.start();
    for (const char* desk : {"main", "other"}) {
        CHECK(call_tool(home, "add_note", Json::object().set("text", "served"), desk));
    }
    const auto lost = say(home, "lost", "hello");
    REQUIRE_FALSE(lost);
    CHECK(lost.error().code() == Errc::unavailable);
    CHECK_THAT(lost.error().message(), Catch::Contains("calendar nowhere"));
    const auto listed = request(home, "plugin.list", Json::object());
    REQUIRE(listed);
    std::map<std::string, std::string> reasons;
    for (const Json& plugin : (*listed)["plugins"].items()) {
        if (plugin["state"].as_string() == "refused") {
            reasons[plugin["name"].as_string()] = plugin["reason"].as_string();
        }
    }
    CHECK_THAT(reasons["nope"], Catch::Contains("nope.so"));
    CHECK_THAT(reasons["wrong_major"], Catch::Contains("ABI 2") && Catch::Contains("ABI 1"));
    CHECK_THAT(reasons["future_minor"], Catch::Contains("host minor") && Catch::Contains("ABI 1."));
    CHECK_FALSE(reasons["no_note"].empty());
    CHECK_FALSE(reasons["text"].empty());
    for (const auto& [name, reason] : reasons) {
        INFO(name << ": " << reason);
        CHECK_THAT(reason, Catch::Contains(name));
        CHECK(reason.find('\n') == std::string::npos);
    }
    CHECK_FALSE(reasons.contains("memory"));
    // What only a look inside shows is found by its runner, before anything of it runs.
    for (const char* name : {"lying_note", "missing_symbol"}) {
        const auto answer = call_tool(home, "nothing", Json::object());
        INFO(name << ": " << (answer ? answer->dump() : answer.error().message()));
        CHECK_FALSE(answer);
    }
    CHECK(call_tool(home, "add_note", Json::object().set("text", "still served")));
    home.stop();
}

TEST_CASE("a bad row of a price file is named with file and line, and the others are read",
          "[fault]") {
    Home home;
    home.write(
        "prices/NIFTY50-1m.csv",
        "time,open,high,low,close,volume\n2026-10-19T09:15:00+05:30,1,2,0.5,1.5,10\n"
        "2026-10-19T09:16:00+05:30,1,zwei,0.5,1.5,10\n2026-10-19T09:17:00+05:30,1,2,0.5,1.75,10\n");
    const std::string folders = "[\"" + (home.path() / "prices").string() + "\"]\n";
    home.write("daybook.toml",
               config_text("",
                           desk_table("main", {"memory", "candles"}) + "reads = " + folders +
                               "[desk.main.config.candles]\nfolders = " + folders));
    home.start();
    const auto answer = call_tool(home, "price", Json::object().set("symbol", "NIFTY50"));
    const std::string told = answer ? answer->dump() : answer.error().message();
    INFO(told);
    CHECK_THAT(told,
               Catch::Contains("NIFTY50-1m.csv row 3") && Catch::Contains("zwei") &&
                   Catch::Contains("1.75"));
    CHECK(call_tool(home, "add_note", Json::object().set("text", "served")));
    home.stop();
}
