// An effect outside the desk whose outcome nobody saw is never tried again, and told.
#include <fstream>

#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

/// A desk whose model places an order when it hears "buy", and says what it was told after a crash.
std::string trading_config(const std::string& tool, const std::string& plugin) {
    return config_text(
        "",
        plugin_table("scripted") + plugin_table(plugin) +
            "[model.scripted]\nplugin = \"scripted\"\n[model.scripted.config]\nscript = [\n"
            "{match = \"buy\", kind = \"message\", calls = [{name = \"" +
            tool + "\", arguments = {}}]},\n{after = \"" + tool +
            "\", text = \"the order is out\"},\n{match = \"Do not repeat\", text = \"I was cut "
            "off\"},\n]\n"
            "[desk.main]\ncalendar = \"always\"\nmodels = [\"scripted\"]\nplugins = [\"memory\", "
            "\"" +
            plugin + "\"]\n");
}

std::vector<Json> of_type(const std::vector<Json>& records, const std::string& type) {
    std::vector<Json> found;
    for (const Json& record : records) {
        if (record["type"].as_string() == type) {
            found.push_back(record);
        }
    }
    return found;
}

std::size_t turns_ended(const Home& home) {
    std::size_t ended = 0;
    for (const Json& record : of_type(records_of(home, "journal/main"), "turn_end")) {
        ended += record["data"]["trigger"].as_string().empty() ? 0U : 1U;
    }
    return ended;
}

std::string buy(const Home& home) {
    const auto accepted = request(
        home,
        "trigger",
        Json::object().set("desk", "main").set("kind", "message").set("text", "buy one lot"));
    INFO((accepted ? std::string("ok") : accepted.error().message()));
    REQUIRE(accepted);
    return (*accepted)["trigger"].as_string();
}

}  // namespace

TEST_CASE("an effect that kill -9 cut is never retried, and the desk is told", "[fault]") {
    Home home;
    home.write("daybook.toml", trading_config("place_slowly", "venue"));
    home.start();
    const std::string trigger = buy(home);
    REQUIRE(eventually([&] {
        // Read as bytes: the last line may be under way.
        std::string text;
        for (const auto& entry :
             std::filesystem::directory_iterator(home.path() / "state/journal/main")) {
            text += contents_of(entry.path());
        }
        return text.find("\"type\":\"order\"") != std::string::npos && text.back() == '\n';
    }));
    home.kill();
    for (int start = 0; start < 2; ++start) {  // a second restart brings nothing new
        home.start();
        REQUIRE(eventually([&] { return turns_ended(home) >= 2; }));
        const auto records = records_of(home, "journal/main");
        const auto intents = of_type(records, "effect_intent");
        REQUIRE(intents.size() == 1);
        CHECK(of_type(records, "order").size() == 1);
        CHECK(of_type(records, "effect_outcome").empty());
        const std::string key = intents.front()["data"]["key"].as_string();
        CHECK(key.starts_with(trigger + ":1:"));
        const auto ends = of_type(records, "turn_end");
        REQUIRE(ends.size() == 2);
        CHECK(ends[0]["data"]["trigger"].as_string() == trigger);
        CHECK(ends[0]["data"]["outcome"].as_string() == "interrupted");
        const auto jobs = of_type(records, "job");
        REQUIRE(jobs.size() == 1);
        CHECK(jobs[0]["data"]["name"].as_string() == "recovery");
        CHECK_THAT(jobs[0]["data"]["text"].as_string(),
                   Catch::Contains(key) && Catch::Contains("not known") &&
                       Catch::Contains("Do not repeat"));
        CHECK(ends[1]["data"]["trigger"].as_string() == jobs[0]["id"].as_string());
        CHECK(ends[1]["data"]["outcome"].as_string() == "completed");
        CHECK(runners_of(home).size() <= 3);
        home.stop();
    }
}

TEST_CASE(
    "a plugin that dies after its effect leaves it unknown, and the model is told not to repeat",
    "[fault]") {
    Home home;
    home.write("daybook.toml", trading_config("place_and_crash", "effects"));
    home.start();
    buy(home);
    REQUIRE(eventually([&] { return turns_ended(home) == 1; }));
    const auto records = records_of(home, "journal/main");
    CHECK(of_type(records, "effect_intent").size() == 1);
    CHECK(of_type(records, "order").size() == 1);
    const auto outcomes = of_type(records, "effect_outcome");
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes.front()["data"]["outcome"].as_string() == "unknown");
    std::string told;
    for (const Json& line : records_of(home, "sessions/main")) {
        told += line["kind"].as_string() == "tool_result" ? line["text"].as_string() : "";
    }
    CHECK_THAT(told, Catch::Contains("do not repeat it"));
    home.kill();
    home.start();
    CHECK(of_type(records_of(home, "journal/main"), "order").size() == 1);
    CHECK(turns_ended(home) == 1);
    home.stop();
}
