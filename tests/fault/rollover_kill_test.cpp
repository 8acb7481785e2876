// The host is killed at a system call of a rollover, or of a turn with an effect: at each of them
// by hand (DAYBOOK_ROLLOVER_KILLS=all), at a spread of them in a test run.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"
#include "tests/fault/strace_kill.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

constexpr std::size_t kUsualKills = 8;
constexpr const char* kSession = "2026-10-19-1";
constexpr const char* kNextSession = "2026-10-20-1";
constexpr const char* kEvening = "2026-10-19T16:00:00+05:30";
constexpr const char* kMorning = "2026-10-20T09:30:00+05:30";

std::string config() {
    return config_text(
        "replay_start = \"2026-10-19T09:00:00+05:30\"\nmin_free = \"1MiB\"\n",
        plugin_table("scripted") + plugin_table("effects") +
            "[model.scripted]\nplugin = \"scripted\"\n[model.scripted.config]\nscript = [\n"
            "{kind = \"summary\", text = \"One note, one order.\"},\n"
            "{match = \"note\", kind = \"message\", calls = [{name = \"add_note\", arguments = "
            "{text = \"kept\"}}]},\n"
            "{match = \"buy\", kind = \"message\", calls = [{name = \"place\", arguments = {}}]},\n"
            "{match = \"\", text = \"fine\"}, {after = \"add_note\", text = \"noted\"}, "
            "{after = \"place\", text = \"placed\"},\n]\n"
            "[desk.main]\ncalendar = \"nse\"\nmodels = [\"scripted\"]\nplugins = [\"memory\", "
            "\"effects\"]\n");
}

/// What failed; "" = nothing.
std::string say(const Home& home, const std::string& text, const std::string& key) {
    const auto told = request(home,
                              "trigger",
                              Json::object()
                                  .set("desk", "main")
                                  .set("kind", "message")
                                  .set("text", text)
                                  .set("key", key)
                                  .set("wait", true));
    return told ? "" : text + ": " + told.error().message();
}

std::string advance(const Home& home, const char* to) {
    const auto moved = request(home, "clock.advance", Json::object().set("to", to));
    const bool is_later = !moved && moved.error().code() == Errc::invalid;
    return moved || is_later ? "" : std::string(to) + ": " + moved.error().message();
}

/// A home with a note and its runners up, so that what is traced later is the host alone.
void open_day(Home& home) {
    home.write("daybook.toml", config());
    home.start();
    REQUIRE(say(home, "note the first", "first") == "");
    REQUIRE(say(home, "buy the first lot", "first-lot") == "");
}

/// The day's end and the next morning's first turn. Not "": the host died on the way.
std::string end_day(const Home& home) {
    std::string failed = advance(home, kEvening);
    failed = failed.empty() ? advance(home, kMorning) : failed;
    return failed.empty() ? say(home, "note the morning", "morning") : failed;
}

std::string place_order(const Home& home) {
    return say(home, "buy a second lot", "second-lot");
}

using Work = std::string (*)(const Home&);
struct Point {
    std::string call;
    std::uint64_t nth = 0;
};

/// Every call of the work, or a spread of them.
std::vector<Point> points_of(Work work, std::string& why_not) {
    Home home;
    open_day(home);
    Strace strace(home.pid(), kFileCalls, 0);
    why_not = strace.why_not();
    if (!why_not.empty()) {
        return {};
    }
    REQUIRE(work(home) == "");
    std::vector<Point> all;
    for (const auto& [call, count] : strace.counts()) {
        for (std::uint64_t nth = 1; nth <= count; ++nth) {
            all.push_back({call, nth});
        }
    }
    home.stop();
    const char* wish = std::getenv("DAYBOOK_ROLLOVER_KILLS");  // a number, all, or "fsync 3"
    if (const char* space = wish == nullptr ? nullptr : std::strchr(wish, ' ')) {
        return {{std::string(wish, space), std::strtoul(space, nullptr, 10)}};
    }
    const std::size_t wanted = wish == nullptr              ? kUsualKills
                               : std::string(wish) == "all" ? all.size()
                                                            : std::strtoul(wish, nullptr, 10);
    WARN(all.size() << " calls, " << std::min(wanted, all.size()) << " kills");
    std::vector<Point> some;
    for (std::size_t i = 0; i < std::min(wanted, all.size()); ++i) {
        some.push_back(all[i * all.size() / std::min(wanted, all.size())]);
    }
    return some;
}

std::size_t records(const std::vector<Json>& all,
                    const std::string& type,
                    const std::function<bool(const Json& data)>& fits) {
    std::size_t count = 0;
    for (const Json& record : all) {
        count += record["type"].as_string() == type && fits(record["data"]) ? 1U : 0U;
    }
    return count;
}

std::size_t steps(const std::vector<Json>& all, const char* session, const char* step) {
    return records(all, "rollover", [&](const Json& data) {
        return data["session"].as_string() == session && data["step"].as_string() == step;
    });
}

/// Each trigger that was accepted is settled once.
void check_triggers(const std::vector<Json>& all) {
    for (const Json& record : all) {
        const std::string& type = record["type"].as_string();
        const bool is_trigger =
            (type == "message" || type == "job") && record["by"].as_string() == "host";
        if (!is_trigger) {
            continue;
        }
        const std::string& id = record["id"].as_string();
        INFO(id);
        CHECK(records(all, "turn_end", [&](const Json& data) {
                  return data["trigger"].as_string() == id;
              }) == 1);
    }
}

void check_clean(Home& home) {
    const Ran verified = home.daybook({"journal", "verify", "main"});
    INFO(verified.out << verified.err);
    CHECK(verified.code == 0);
    check_lines(home, "journal/main");
    check_lines(home, "sessions/main");
    const Shell fsck =
        shell("git --git-dir " + repository(home).string() + " fsck --full --strict");
    INFO(fsck.out);
    CHECK(fsck.code == 0);
}

/// Runs the work in a host that dies at the point. False: it was over before.
bool die_at(Home& home, Work work, const Point& point) {
    open_day(home);
    {
        const Strace strace(home.pid(), point.call, point.nth);
        REQUIRE(strace.why_not() == "");
        if (work(home).empty()) {
            return false;
        }
    }
    home.wait_gone();
    CHECK(eventually([&] { return runners_of(home).empty(); }));
    home.start();
    return true;
}

}  // namespace

TEST_CASE(
    "a host that dies at any call of a rollover makes one summary, one fold step, one fresh "
    "session",
    "[fault]") {
    std::string why_not;
    std::size_t reached = 0;
    const auto points = points_of(end_day, why_not);
    if (!why_not.empty()) {
        WARN("not tried: " << why_not);
        return;
    }
    for (const Point& point : points) {
        INFO("killed at " << point.call << " " << point.nth);
        Home home;
        if (!die_at(home, end_day, point)) {
            continue;
        }
        ++reached;
        // Whatever was under way is done now, once.
        REQUIRE(end_day(home) == "");
        home.stop();
        const auto all = records_of(home, "journal/main");
        CHECK(steps(all, kSession, "summarised") == 1);
        CHECK(steps(all, kSession, "folded") == 1);
        CHECK(steps(all, kSession, "opened") == 1);
        CHECK(steps(all, kNextSession, "opened") == 1);
        const std::string summary = home.read("state/sessions/main/summaries/2026-10-19.md");
        CHECK(count_of(summary, "<!-- session ") == 1);
        CHECK(count_of(summary, "One note, one order.") == 1);
        CHECK(count_of(notes_of(home), " kept\n") == 2);
        check_triggers(all);
        check_clean(home);
    }
    WARN(reached << " of " << points.size() << " kills hit");
    CHECK(reached * 10 >= points.size() * 7);
}

TEST_CASE("a host that dies at any call of a turn with an order places it at most once and knows",
          "[fault]") {
    std::string why_not;
    std::size_t reached = 0;
    std::size_t told = 0;
    const auto points = points_of(place_order, why_not);
    if (!why_not.empty()) {
        WARN("not tried: " << why_not);
        return;
    }
    for (const Point& point : points) {
        INFO("killed at " << point.call << " " << point.nth);
        Home home;
        if (!die_at(home, place_order, point)) {
            continue;
        }
        ++reached;
        REQUIRE(place_order(home) ==
                "");  // the same key: run once, however often it is handed over
        REQUIRE(say(home, "what happened?", "after") == "");
        home.stop();
        const auto all = records_of(home, "journal/main");
        const auto any = [](const Json&) { return true; };
        const std::size_t orders = records(all, "order", any);
        const std::size_t intents = records(all, "effect_intent", any);
        const std::size_t recoveries = records(
            all, "job", [](const Json& data) { return data["name"].as_string() == "recovery"; });
        CHECK(intents == 2);  // the first lot's, and this one's
        CHECK(orders <= 2);
        CHECK((orders == 2 || recoveries == 1));
        told += recoveries;
        check_triggers(all);
        check_clean(home);
    }
    WARN(reached << " of " << points.size() << " kills hit, " << told << " told by a recovery");
    CHECK(reached * 10 >= points.size() * 7);
}
