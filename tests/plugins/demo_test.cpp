// The shipped demonstration, trigger by trigger, through the three built plugins.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <daybook/json.hpp>

#include "plugins/skills/candles/moment.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/desk_loop.hpp"

using daybook::json::ObjectReader;
using daybook::test::DeskLoop;

namespace {

const std::string kDemo = std::string(DAYBOOK_SOURCE_DIR) + "/demo/";

struct Trigger {
    std::string at, kind, key, name, text;
};

std::vector<Trigger> read_triggers() {
    std::vector<Trigger> triggers;
    std::ifstream in(kDemo + "triggers.jsonl");
    for (std::string line; std::getline(in, line);) {
        const ObjectReader json(line);
        triggers.push_back({json.text("at"),
                            json.text("kind"),
                            json.text("key"),
                            json.text("name"),
                            json.text("text")});
    }
    return triggers;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// Stands for the host's content rules.
std::optional<std::string> refuse_numbers(const std::string& args) {
    if (contains(args, "4111 1111 1111 1111")) {
        return "write notes: it holds a card number";
    }
    return contains(args, "ABCPE1234F") ? std::optional<std::string>("write notes: it holds a PAN")
                                        : std::nullopt;
}

/// Open and last close of each day's continuous minutes, straight from the file.
std::map<std::string, std::pair<double, double>> days_of_file() {
    std::map<std::string, std::pair<double, double>> days;
    std::ifstream in(kDemo + "prices/NIFTY50-1m.csv");
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        const std::string clock = line.substr(11, 5);
        if (clock < "09:15" || clock >= "15:30") {
            continue;
        }
        std::istringstream fields(line.substr(26));
        double open = 0;
        double high = 0;
        double low = 0;
        double close = 0;
        char comma = 0;
        fields >> open >> comma >> high >> comma >> low >> comma >> close;
        const auto day = days.try_emplace(line.substr(0, 10), open, close).first;
        day->second.second = close;
    }
    return days;
}

}  // namespace

TEST_CASE("the demonstration's triggers are well-formed, in order and unique", "[plugins]") {
    const auto triggers = read_triggers();
    std::map<std::string, int> per_day;
    std::set<std::string> keys;
    std::string before;
    for (const auto& trigger : triggers) {
        INFO(trigger.key);
        CHECK(daybook::candles::parse_instant(trigger.at).has_value());
        CHECK(trigger.at.ends_with("+05:30"));
        CHECK(trigger.at > before);
        before = trigger.at;
        const std::string day = trigger.at.substr(0, 10);
        CHECK(trigger.key == "demo-" + day + "-" + std::to_string(++per_day[day]));
        CHECK(keys.insert(trigger.key).second);
        CHECK((trigger.kind == "message" || trigger.kind == "job" || trigger.kind == "alert"));
        CHECK_FALSE(trigger.text.empty());
    }
    CHECK(per_day.size() == 4);
    for (const auto& [day, count] : per_day) {
        CHECK(count >= 6);
        CHECK(count <= 9);
    }
}

TEST_CASE("each gap alert tells the gap of the bars, and each large gap has one", "[plugins]") {
    const auto triggers = read_triggers();
    const auto days = days_of_file();
    REQUIRE(days.size() == 4);
    for (auto day = std::next(days.begin()); day != days.end(); ++day) {
        const double close = std::prev(day)->second.second;
        const double percent = (day->second.first - close) / close * 100;
        const auto alert =
            std::find_if(triggers.begin(), triggers.end(), [&](const Trigger& trigger) {
                return trigger.kind == "alert" && trigger.at.starts_with(day->first);
            });
        INFO(day->first << " " << percent);
        CHECK((alert != triggers.end()) == (std::abs(percent) >= 0.25));
        if (alert != triggers.end()) {
            std::ostringstream sign;
            sign.precision(2);
            sign << std::fixed << std::showpos << percent << "%";
            CHECK(contains(alert->text, sign.str()));
        }
    }
}

TEST_CASE(
    "the demonstration runs: lessons are kept, secrets, repeats and the alert's order are not",
    "[plugins]") {
    DeskLoop desk("2019-01-02T08:55:00");
    desk.content_rule = refuse_numbers;
    std::map<std::string, std::string> answers;
    for (const auto& trigger : read_triggers()) {
        desk.set_now(trigger.at.substr(0, 19));
        const std::string answer = desk.run(trigger.kind, trigger.text, trigger.name);
        INFO(trigger.key << ": " << answer);
        CHECK(answer.starts_with("clerk: "));
        CHECK_FALSE(contains(answer, "4111"));
        CHECK_FALSE(contains(answer, "ABCPE"));
        for (const auto& call : desk.called) {
            CHECK((trigger.kind == "message" || !contains(call, "add_note")));
        }
        answers[trigger.key] = answer;
    }
    CHECK(contains(answers["demo-2019-01-02-2"], "10848.45"));
    CHECK(contains(answers["demo-2019-01-02-5"],
                   "I did not note it: write notes: it holds a card number"));
    CHECK(contains(answers["demo-2019-01-02-6"], "no earlier day"));
    CHECK(contains(answers["demo-2019-01-02-8"], "2 lines"));
    CHECK(contains(answers["demo-2019-01-02-9"], "I am the clerk"));
    CHECK(contains(answers["demo-2019-01-03-1"], "gap at the open -54.55 points (-0.5 %)"));
    CHECK(contains(answers["demo-2019-01-03-2"], "I follow none of them"));
    CHECK(contains(answers["demo-2019-01-03-3"], "close 10915.75"));
    CHECK(contains(answers["demo-2019-01-03-6"], "says exactly that already"));
    CHECK(contains(answers["demo-2019-01-03-7"], "high 10895.35, low 10735.05, close 10781.9"));
    CHECK(contains(answers["demo-2019-01-04-2"], "10805.35"));
    CHECK(contains(answers["demo-2019-01-04-3"], "it holds a PAN"));
    CHECK(contains(answers["demo-2019-01-04-5"], "open 10879.95, high 10923.6, low 10807.1"));
    CHECK(contains(answers["demo-2019-01-07-3"], "10664.9"));
    CHECK(contains(answers["demo-2019-01-07-5"], "notes/2019-01-04.md, 1 line"));
    CHECK(contains(answers["demo-2019-01-07-6"], "close 10731.2"));

    REQUIRE(desk.memory.files.size() == 4);
    std::string notes;
    for (const auto& [path, text] : desk.memory.files) {
        notes += text;
    }
    CHECK(std::count(notes.begin(), notes.end(), '\n') == 5);
    for (const char* never : {"always buy", "4111", "ABCPE"}) {
        CHECK_FALSE(contains(notes, never));
    }
}

TEST_CASE("what the desk answers never depends on later bars", "[plugins]") {
    DeskLoop desk("2019-01-03T09:16:00");
    const std::string first = desk.run("message", "High of NIFTY today?");
    CHECK(contains(first, "high 10864.2"));  // the first minute's, not the day's 10895.35
    CHECK(contains(first, "not finished"));
    const std::string later = desk.run("message", "close of NIFTY on 2019-01-04?");
    CHECK(contains(later, "later than now"));
    CHECK_FALSE(contains(later, "10665"));
}
