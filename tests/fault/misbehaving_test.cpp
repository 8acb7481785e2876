// Plugins that crash, hang, flood and lie cost their own call: a typed error in time, and everybody
// else is answered meanwhile.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr milliseconds kTimeout{800};
constexpr milliseconds kGrace{300};
constexpr milliseconds kSlack{
    6000};  // a loaded machine's own slowness; a real hang would last for ever

struct Misdeed {
    const char* plugin;
    const char* tool;
    std::vector<Errc> codes;  ///< empty: the first answer counts
};

const std::vector<Misdeed> kMisdeeds = {
    {"crash", "segv", {Errc::plugin_crashed}},
    {"crash", "abort", {Errc::plugin_crashed}},
    {"crash", "exit0", {Errc::plugin_crashed}},
    {"crash", "throw", {Errc::internal, Errc::plugin_crashed, Errc::plugin_protocol}},
    {"crash", "throw_odd", {Errc::internal, Errc::plugin_crashed, Errc::plugin_protocol}},
    {"crash", "throw_raw", {Errc::internal, Errc::plugin_crashed, Errc::plugin_protocol}},
    {"crash", "silent", {Errc::internal, Errc::plugin_protocol}},
    {"hang", "hang", {Errc::deadline}},
    {"flood", "flood_progress", {Errc::deadline, Errc::plugin_protocol}},
    {"flood", "flood_log", {Errc::deadline, Errc::plugin_protocol}},
    {"flood", "flood_result", {Errc::plugin_protocol, Errc::full}},
    {"garbage", "garbage", {Errc::plugin_protocol}},
    {"garbage", "short_frame", {Errc::plugin_protocol}},
    {"garbage", "bad_version", {Errc::plugin_protocol}},
    {"garbage", "oversized", {Errc::plugin_protocol}},
    {"garbage", "foreign_frame", {Errc::plugin_protocol}},
    {"garbage", "bad_fields", {Errc::plugin_protocol}},
    {"garbage", "unknown_id", {Errc::plugin_protocol}},
    {"garbage", "unknown_verb_call", {Errc::plugin_protocol}},
    {"garbage", "host_type", {Errc::plugin_protocol}},
    {"garbage", "twice_raw", {}},
    {"garbage", "twice", {}},
};

std::string bad_config() {
    std::string tables;
    std::vector<std::string> plugins = {"memory"};
    for (const char* name : {"crash", "hang", "flood", "garbage"}) {
        tables += plugin_table(name);
        plugins.emplace_back(name);
    }
    return config_text("call_timeout = \"800ms\"\ncancel_grace = \"300ms\"",
                       tables + desk_table("main", plugins) + desk_table("other", {"memory"}));
}

}  // namespace

TEST_CASE("whatever a plugin does, its call ends typed and in time, and the others are served",
          "[fault]") {
    Home home;
    home.write("daybook.toml", bad_config());
    home.start();
    REQUIRE(call_tool(home, "list_files", Json::object(), "other"));
    std::size_t number = 0;
    for (const Misdeed& misdeed : kMisdeeds) {
        INFO(misdeed.plugin << " " << misdeed.tool);
        const auto begun = steady_clock::now();
        std::atomic<bool> over{false};
        Result<Json> answer = Error(Errc::internal, "none");
        std::thread caller([&] {
            answer = call_tool(home, misdeed.tool, Json::object());
            over = true;
        });
        // Meanwhile the other desk answers.
        const bool hangs = misdeed.plugin == std::string("hang");
        const auto meanwhile =
            call_tool(home,
                      "add_note",
                      Json::object().set("text", "meanwhile " + std::to_string(++number)),
                      "other");
        const auto answered = steady_clock::now() - begun;
        caller.join();
        const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun);
        CHECK(meanwhile);
        CHECK(answered < kTimeout + kSlack);
        CHECK(took < kTimeout + kGrace + kSlack);
        if (hangs) {
            CHECK(took >= kTimeout);
        }
        if (misdeed.codes.empty()) {
            if (answer) {
                CHECK((*answer)["result"]["first"].as_bool());
            } else {
                CHECK(answer.error().code() == Errc::plugin_protocol);
            }
        } else {
            REQUIRE_FALSE(answer);
            INFO(name_of(answer.error().code()) << ": " << answer.error().message());
            CHECK(std::find(misdeed.codes.begin(), misdeed.codes.end(), answer.error().code()) !=
                  misdeed.codes.end());
            CHECK(answer.error().message().find('\n') == std::string::npos);
        }
        const auto good = call_tool(
            home, "add_note", Json::object().set("text", "after " + std::to_string(number)));
        INFO((good ? std::string() : good.error().message()));
        CHECK(good);
        CHECK(request(home, "plugin.retry", Json::object().set("plugin", misdeed.plugin)));
    }
    const auto status = request(home, "status", Json::object());
    REQUIRE(status);
    CHECK((*status)["pid"].as_integer() == home.pid());
    home.stop();
    CHECK(eventually([&] { return runners_of(home).empty(); }));
}

TEST_CASE("after five crashes a plugin is left alone until the owner asks again", "[fault]") {
    Home home;
    home.write("daybook.toml", bad_config());
    home.start();
    std::string last;
    const bool opened = eventually([&] {
        const auto answer = call_tool(home, "exit0", Json::object());
        REQUIRE_FALSE(answer);
        last = answer.error().message();
        return answer.error().code() == Errc::unavailable &&
               last.find("until it is retried") != std::string::npos;
    });
    INFO(last);
    CHECK(opened);
    CHECK(call_tool(home, "add_note", Json::object().set("text", "the desk goes on")));
    REQUIRE(request(home, "plugin.retry", Json::object().set("plugin", "crash")));
    const auto again = call_tool(home, "exit0", Json::object());
    REQUIRE_FALSE(again);
    CHECK(again.error().code() == Errc::plugin_crashed);
    home.stop();
}

TEST_CASE("calls nest to depth four; a fifth and a call back are refused, never a deadlock",
          "[fault]") {
    Home home;
    std::string tables;
    for (const char* name : {"nest_a", "nest_b", "nest_c", "nest_d", "nest_e"}) {
        tables += plugin_table(name);
    }
    home.write(
        "daybook.toml",
        config_text(
            "", tables + desk_table("main", {"nest_a", "nest_b", "nest_c", "nest_d", "nest_e"})));
    home.start();
    const auto nested = [](const std::vector<std::string>& tools) {
        Json arguments = Json::object();
        for (auto tool = tools.rbegin(); tool != tools.rend(); ++tool) {
            arguments = Json::object().set("tool", *tool).set("args", arguments);
        }
        return arguments;
    };
    const auto four = call_tool(home, "nest_a", nested({"nest_b", "nest_c", "nest_d"}));
    INFO((four ? four->dump() : four.error().message()));
    REQUIRE(four);
    CHECK((*four)["result"]["answer"]["answer"]["answer"]["from"].as_string() == "nest_d");
    const auto five = call_tool(home, "nest_a", nested({"nest_b", "nest_c", "nest_d", "nest_e"}));
    REQUIRE_FALSE(five);
    CHECK(five.error().code() == Errc::refused);
    const auto back = call_tool(home, "nest_a", nested({"nest_b", "nest_a"}));
    REQUIRE_FALSE(back);
    CHECK(back.error().code() == Errc::busy);
    CHECK(call_tool(home, "nest_a", nested({"nest_e"})));
    home.stop();
}
