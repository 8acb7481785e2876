// What a model is told that takes over: effects already done, what was compressed, and that no call
// is made twice.
#include "host/turn/handover.hpp"

#include "tests/turn/compress_bench.hpp"

using namespace daybook;
using daybook::test::CompressBench;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

JournalRecord record(std::string type, std::string turn, Json data) {
    JournalRecord out;
    out.local = "2026-10-19T09:31:00+05:30";
    out.entry.type = std::move(type);
    out.entry.session = "2026-10-19-1";
    out.entry.turn = std::move(turn);
    out.entry.data = std::move(data);
    return out;
}

Json effect(const std::string& key, const std::string& outcome = "") {
    Json data = Json::object().set("key", key).set("tool", "place");
    return outcome.empty() ? data : data.set("outcome", outcome).set("status", "ok");
}

/// A part's text in an answer that echoes the request's parts; "-" = there is no such part.
std::string part_in(const Json& end, const std::string& name) {
    const Json parts = must(Json::parse(end["text"].as_string()));
    for (const Json& part : parts.items()) {
        if (part["name"].as_string() == name) {
            return part["text"].as_string();
        }
    }
    return "-";
}

bool holds(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

const char* const kFails = R"([
  {"match":"buy","calls":[{"name":"place","arguments":{"symbol":"NIFTY 50"}}]},
  {"after":"place","error":{"class":"lost_connection","message":"the server went away"}},
  {"match":"","echo":"parts"}])";

}  // namespace

TEST_CASE("effects are listed with what is known of each, an unknown one first to be kept",
          "[turn]") {
    const std::vector<JournalRecord> records = {
        record("effect_intent", "t-1", effect("k:1")),
        record("order", "t-1", Json::object().set("symbol", "INFY").set("qty", 2)),
        record("effect_outcome", "t-1", effect("k:1", "known")),
        record("effect_intent", "t-2", effect("k:2")),
        record("effect_intent", "t-3", effect("k:3")),
        record("effect_outcome", "t-3", effect("k:3", "unknown")),
        record("effect_intent", "t-4", effect("k:4")),
        record("effect_outcome",
               "t-4",
               effect("k:4", "looked_up").set("found", "not done").set("text", "no such order"))};
    const auto effects = effects_of(records, "2026-10-19-1");
    REQUIRE(effects.size() == 5);
    CHECK(effects[0].text == "- 09:31 t-1 place: known, ok (key k:1)");
    CHECK(effects[1].text == R"(- 09:31 t-1 order by host, on record: {"symbol":"INFY","qty":2})");
    CHECK(effects[2].text == "- 09:31 t-2 place: not known whether it happened (key k:2)");
    CHECK(effects[2].is_unknown);
    CHECK(effects[3].is_unknown);
    CHECK(effects[4].text == "- 09:31 t-4 place: looked up: not done, no such order (key k:4)");
    CHECK_FALSE(effects[4].is_unknown);
    CHECK(effects_of(records, "2026-10-20-1").empty());

    std::vector<std::string> left_out;
    const std::string all = effects_text(effects, "t-9", 4096, left_out);
    CHECK(left_out.empty());
    CHECK(all.find("k:1") < all.find("k:4"));
    const std::size_t room = effects[0].text.size() + effects[2].text.size() * 2 + 3;
    const std::string some = effects_text(effects, "t-1", room, left_out);
    CHECK(holds(some, "k:2"));
    CHECK(holds(some, "k:3"));
    CHECK_FALSE(holds(some, "k:4"));
    REQUIRE(left_out.size() == 1);
    CHECK(holds(left_out[0], "of 5 shown; the others stand in the journal"));
}

TEST_CASE("a model that goes on in the middle of a turn is told of its order and makes it no more",
          "[turn]") {
    DeskBench bench(kFails);
    bench.add_model("two", R"([{"after":"place","echo":"parts"},{"match":"","echo":"parts"}])");
    bench.open();
    const Json end = bench.say("buy");
    CHECK(end["model"].as_string() == "two");
    CHECK(holds(part_in(end, "handover"), "model one, which failed in the middle of this turn"));
    CHECK(holds(part_in(end, "effects"), "place: known, ok"));
    CHECK(holds(part_in(end, "effects"), "NIFTY 50"));
    CHECK(bench.records("order").size() == 1);
    const auto told = bench.records("handover");
    REQUIRE(told.size() == 1);
    CHECK(told[0].entry.turn == end["turn"].as_string());
    CHECK(told[0].entry.data["why"].as_string() == "failed");
    CHECK(told[0].entry.data["from"].as_string() == "one");
    CHECK(told[0].entry.data["class"].as_string() == "lost_connection");

    // The first model comes back: it did not hold the turn before.
    const Json back = bench.say("and now");
    CHECK(back["model"].as_string() == "one");
    CHECK(holds(part_in(back, "handover"), "take over from model two"));
    CHECK(holds(part_in(back, "effects"), "place: known, ok"));
    CHECK(part_in(bench.say("and then"), "handover") == "-");
}

TEST_CASE("after a restart a model that cannot resume gets a hand-over once", "[turn]") {
    DeskBench bench(R"([
      {"match":"buy","calls":[{"name":"place","arguments":{"symbol":"INFY"}}]},
      {"after":"place","text":"placed"},{"match":"","echo":"parts"}])");
    bench.open();
    CHECK(part_in(bench.say("first"), "handover") == "-");
    bench.say("buy");
    bench.stop_hard();
    bench.open();
    const Json end = bench.say("again");
    CHECK(holds(part_in(end, "handover"), "from the host's records"));
    CHECK(holds(part_in(end, "effects"), "INFY"));
    CHECK(part_in(bench.say("more"), "handover") == "-");
    CHECK(bench.records("handover").size() == 1);
}

TEST_CASE("a backend resumes its own session unless another model answered since", "[turn]") {
    DeskBench bench(R"([
      {"match":"fail","error":{"class":"lost_connection","message":"gone"}},
      {"match":"resume?","session":"s-2","echo":"resume"},
      {"match":"parts","session":"s-2","echo":"parts"},
      {"match":"","session":"s-1","text":"fine"}])");
    bench.add_model("two", R"([{"match":"","text":"two"}])");
    bench.open();
    bench.say("first");
    bench.stop_hard();
    bench.open();
    CHECK(bench.say("resume?")["text"].as_string() == "\"s-1\"");
    CHECK(bench.records("handover").empty());
    CHECK(bench.say("fail")["model"].as_string() == "two");
    CHECK(bench.say("resume?")["text"].as_string() == "null");
    CHECK(bench.say("resume?")["text"].as_string() == "\"s-2\"");
}

TEST_CASE("a hand-over of 200 exchanges that do not fit names what is missing and splits no call",
          "[turn]") {
    // The first model has a large window, the second, which takes over in mid-turn, a small one.
    CompressBench bench(R"([
      {"match":"read","calls":[{"name":"read_file","arguments":{"path":"small.txt"}}]},
      {"after":"read_file","in_messages":"fail-now","error":{"class":"overloaded","message":"busy"}},
      {"after":"read_file","match":"","text":"read"},
      {"match":"","text":"fine"}])",
                        4'000'000);
    bench.add_model("two", R"([
      {"kind":"summary","match":"","error":{"class":"model_fault","message":"broken"}},
      {"after":"read_file","match":"","echo":"messages"}])");
    bench.config.models.at("two").window = 8000;
    bench.config.models.at("two").config.set("bytes_per_token", 4);
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/small.txt", "4 lots of INFY\n");
    bench.open();
    for (int i = 1; i <= 200; ++i) {
        bench.accept((i % 10 == 0 ? "read " : "") + CompressBench::words(i, 300));
        if (i % 20 == 0) {
            bench.settle();
        }
    }
    const Json end = bench.say("read fail-now");
    REQUIRE(end["outcome"].as_string() == "completed");
    CHECK(end["model"].as_string() == "two");
    CHECK(holds(end["left_out"].dump(), " of 200 turns shown"));
    const Json messages = must(Json::parse(end["text"].as_string()));
    std::vector<std::string> open;
    for (const Json& message : messages.items()) {
        for (const Json& call : message["tool_calls"].items()) {
            open.push_back(call["id"].as_string());
        }
        if (message["role"].as_string() == "tool") {
            REQUIRE_FALSE(open.empty());
            CHECK(open.front() == message["id"].as_string());
            open.erase(open.begin());
        }
    }
    CHECK(open.empty());
    CHECK(messages.items().front()["role"].as_string() == "user");
    CHECK_FALSE(holds(end["text"].as_string(), "m-1 "));
    CHECK(holds(end["text"].as_string(), "m-200 "));
    CHECK(holds(end["text"].as_string(), "fail-now"));
}
