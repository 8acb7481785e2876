// What may stand in files, notes of plugins, answers of models and configuration.
#include <fstream>
#include <sstream>

#include "host/format/calendar.hpp"
#include "host/format/config.hpp"
#include "host/format/desk_state.hpp"
#include "host/format/journal_record.hpp"
#include "host/format/manifest.hpp"
#include "host/format/session_record.hpp"
#include "host/format/text_pattern.hpp"
#include "host/os/desk_path.hpp"
#include "tests/catch.hpp"
#include "tests/format/elf_builder.hpp"
#include "tests/support/must.hpp"
#include "tests/support/mutate.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

constexpr int kRounds = 20'000;
constexpr int kSlowRounds = 5'000;  // readers of larger texts

std::string file(const std::string& path) {
    std::ifstream in(std::string(DAYBOOK_SOURCE_DIR) + "/" + path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

const std::vector<std::string> kJson = {
    R"({"a":[1,2.5,-3e7,true,null],"b":{"c":"\u00fc\n\"x\\"},"d":""})",
    R"([[[[{"x":{"y":[{}]}}]]],9223372036854775807])",
    R"("text with \ud83d\ude00")"};

}  // namespace

TEST_CASE("JSON that is accepted writes and reads back the same", "[fuzz]") {
    Mutator mutator(11);
    int accepted = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto parsed = Json::parse(mutator.damaged(kJson));
        if (!parsed) {
            REQUIRE(parsed.error().code() == Errc::invalid);
            continue;
        }
        ++accepted;
        const std::string text = parsed->dump();
        REQUIRE(is_utf8(text));
        REQUIRE(must(Json::parse(text)) == *parsed);
        REQUIRE(must(Json::parse(parsed->dump_pretty())) == *parsed);
    }
    CHECK(accepted > 100);
}

TEST_CASE("a schema from anywhere is refused or checks any value", "[fuzz]") {
    const std::vector<std::string> schemas = {
        R"({"type":"object","required":["a"],"properties":{"a":{"type":["string","null"],"minLength":1,"pattern":"^[a-z]{1,3}$"},"b":{"$ref":"#"}},"additionalProperties":false})",
        R"({"anyOf":[{"enum":[1,"x",null]},{"not":{"type":"array","items":[{"minimum":1}],"uniqueItems":true}}],"definitions":{"p":{"multipleOf":0.5}}})"};
    const std::vector<Json> values = {must(Json::parse(R"({"a":"abc","b":{"a":null}})")),
                                      must(Json::parse("[1,1,[2]]")),
                                      Json(5),
                                      Json("x")};
    Mutator mutator(12);
    int compiled_count = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto compiled = JsonSchema::compile(mutator.damaged(schemas));
        if (compiled) {
            ++compiled_count;
            for (const Json& value : values) {
                const auto outcome = compiled->check(value);
                REQUIRE((outcome || outcome.error().code() == Errc::invalid));
            }
        }
    }
    CHECK(compiled_count > 100);
}

TEST_CASE("a pattern from anywhere is refused or matches in linear time", "[fuzz]") {
    const std::vector<std::string> patterns = {"^[A-Z]{3}[PCHFATBLJG][A-Z][0-9]{4}[A-Z]$",
                                               "(a|b)*?c+\\d\\W[^\\s-]x?",
                                               "(?:(x{2,5})+y|\\u00fc){3}$"};
    const std::string text = "ABCPD1234E aabbc1-x xxyü xxxxxy";
    Mutator mutator(13);
    int compiled_count = 0;
    for (int round = 0; round < kRounds; ++round) {
        if (const auto compiled = TextPattern::compile(mutator.damaged(patterns))) {
            ++compiled_count;
            const bool found = compiled->found_in(text);
            REQUIRE(compiled->found_in(text) == found);
        }
    }
    CHECK(compiled_count > 100);
}

TEST_CASE("a damaged plugin file gives a manifest's text from inside the file, or none", "[fuzz]") {
    ElfBuilder with_sections;
    with_sections.add_note("GNU", 3, "id");
    with_sections.add_note("daybook", 1, R"({"manifest":1})");
    ElfBuilder without = with_sections;
    without.sections = false;
    const std::vector<std::string> samples = {with_sections.build(), without.build()};
    Mutator mutator(14);
    int found = 0;
    for (int round = 0; round < kRounds; ++round) {
        const std::string bytes = mutator.damaged(samples);
        if (const auto text = read_manifest_note(bytes)) {
            ++found;
            REQUIRE(bytes.find(*text) != std::string::npos);
        }
    }
    CHECK(found > 100);
}

TEST_CASE("a damaged manifest is refused or whole", "[fuzz]") {
    const std::vector<std::string> samples = {
        R"({"manifest":1,"name":"memory","version":"1.0.0","abi":[1,0],"min_host_minor":0,"profile":"pure","wants":["daybook.desk-files/1"],"tools":[{"name":"add_note","description":"Adds.","input_schema":{"type":"object","properties":{"text":{"type":"string"}}},"writes":{"fixed":"notes/{day}.md","ops":["append"]},"groups":["daybook.desk-files/1"],"timeout_ms":5000,"flags":["idempotent"]}],"models":[{"name":"clerk"}],"skills":[{"name":"pivot","description":"P"}]})"};
    Mutator mutator(15);
    int accepted = 0;
    for (int round = 0; round < kRounds; ++round) {
        if (const auto manifest = Manifest::parse(mutator.damaged(samples))) {
            ++accepted;
            for (const ToolManifest& tool : manifest->tools) {
                REQUIRE(JsonSchema::compile(tool.input_schema));
                REQUIRE(
                    (!tool.writes || tool.writes->fixed.empty() != tool.writes->argument.empty()));
            }
        }
    }
    CHECK(accepted > 100);
}

TEST_CASE("records that are accepted write back to what reads the same", "[fuzz]") {
    const std::vector<std::string> journal = {
        R"({"v":1,"seq":118,"id":"main-20261019-000118","ts":"2026-10-19T06:02:11.104233871Z","local":"2026-10-19T11:32:11+05:30","desk":"main","session":null,"turn":"t-42","type":"refusal","by":"paper_broker","key":"k","order":"o-17","data":{"qty":500}})"};
    const std::vector<std::string> session = {
        R"({"v":1,"seq":3,"ts":"2026-10-19T06:02:11.000000000Z","turn":"t-1","kind":"tool_call","source":"desk","text":"{}","extra":{"call":"c1"}})"};
    const std::vector<std::string> state = {
        R"({"v":1,"session":"2026-10-19-1","session_day":"2026-10-19","rollover":{"day":"2026-10-18","session":null,"summarised":true,"folded":false,"opened":false},"next_turn":4,"backend_sessions":{"clerk":"a"},"last_model":null,"settled_day":null,"context_tokens":7})"};
    Mutator mutator(16);
    for (int round = 0; round < kRounds; ++round) {
        if (const auto record = JournalRecord::from_line(mutator.damaged(journal))) {
            const std::string line = must(record->to_line());
            REQUIRE(line.find('\n') == std::string::npos);
            REQUIRE(must(must(JournalRecord::from_line(line)).to_line()) == line);
        }
        if (const auto record = SessionRecord::from_line(mutator.damaged(session))) {
            const std::string line = record->to_line();
            REQUIRE(must(SessionRecord::from_line(line)).to_line() == line);
        }
        if (const auto json = Json::parse(mutator.damaged(state))) {
            if (const auto read = DeskState::from_json(*json)) {
                REQUIRE(must(DeskState::from_json(read->to_json())).to_json() == read->to_json());
            }
        }
    }
}

TEST_CASE("a damaged configuration is refused with a place, or read", "[fuzz]") {
    DeskConfig desk;
    desk.name = "main";
    desk.models = {"clerk"};
    desk.plugins = {"memory"};
    const std::vector<std::string> samples = {
        starter_config(desk, "2019-01-02T03:30:00Z"),
        "[host]\nmin_free = \"2GiB\"\n[model.q]\nplugin = \"p\"\nurl = "
        "\"http://h/v1\"\n[desk.d]\nmodels = [\"q\"]\n[desk.d.config.p]\nx = [1, {a = 2.5}]\n"};
    Mutator mutator(17);
    int refused = 0;
    for (int round = 0; round < kSlowRounds; ++round) {
        const auto config = Config::parse(mutator.damaged(samples), "f.toml");
        if (!config) {
            ++refused;
            REQUIRE(config.error().message().starts_with("f.toml:"));
        }
    }
    CHECK(refused > 100);
}

TEST_CASE("a damaged calendar is refused, or answers about any day", "[fuzz]") {
    const std::vector<std::string> samples = {
        file("share/calendars/always.json"),
        file("share/calendars/nse-demo-2019.json"),
        R"({"$schema_version":1,"id":"x","tz":"Asia/Kolkata","valid_from":"2026-01-01","valid_through":"2026-12-31","weekend":["Sat"],"rollover":"15:45","regular":[{"from":"2026-01-01","to":null,"segments":{"a":[{"open":"16:35","close":"02:45","next_day":true}]}}],"holidays":[{"date":"2026-01-26","weekday":"Mon","name":"R"}],"special":[{"date":"2026-11-08","times":"unannounced","sessions":[]}]})"};
    Mutator mutator(18);
    const DeskDate day = must(DeskDate::parse("2026-01-26"));
    int accepted = 0;
    for (int round = 0; round < kSlowRounds; ++round) {
        const auto calendar = Calendar::parse(mutator.damaged(samples), "f.json");
        if (!calendar) {
            continue;
        }
        ++accepted;
        for (const int ahead : {-1, 0, 1, 286}) {
            const auto sessions = calendar->sessions(day.plus_days(ahead));
            REQUIRE(
                (!sessions || calendar->is_trading_day(day.plus_days(ahead)) || sessions->empty()));
            const auto due =
                calendar->rollover_due(day.plus_days(ahead), TimeOfDay{945}, calendar->zone());
            REQUIRE((!due || sessions));
        }
        const Timestamp at = calendar->zone().instant(day, TimeOfDay{600});
        const auto next = calendar->next_open(at);
        REQUIRE((!next || *next > at));
        REQUIRE((calendar->market_at(at) != Market::open || calendar->sessions(day) ||
                 calendar->sessions(day.plus_days(-1))));
    }
    CHECK(accepted > 100);
}

TEST_CASE("a path that is accepted stays inside and reads back the same", "[fuzz]") {
    const std::vector<std::string> samples = {"notes/2026-10-19.md",
                                              "memory/über/a b.md",
                                              "skills/pivot/SKILL.md",
                                              "../../etc/passwd",
                                              "notes/.git/config",
                                              "/abs",
                                              "notes/x.daybook~"};
    Mutator mutator(19);
    int accepted = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto path = DeskPath::parse(mutator.damaged(samples));
        if (!path) {
            REQUIRE(is_utf8(path.error().message()));
            REQUIRE(path.error().message().find('\n') == std::string::npos);
            continue;
        }
        ++accepted;
        const std::string text = "/" + path->str() + "/";
        for (const char* bad : {"//", "/./", "/../", "/.git/", "/.daybook/"}) {
            REQUIRE(text.find(bad) == std::string::npos);
        }
        REQUIRE(DeskPath::parse(path->str()).operator bool());
        REQUIRE(printable(path->str(), 5000).size() >= path->str().size());
    }
    CHECK(accepted > 100);
}

TEST_CASE("times from anywhere are refused or written back to the same instant", "[fuzz]") {
    Mutator mutator(20);
    const std::vector<std::string> samples = {"2026-10-19T06:02:11.104233871Z",
                                              "2026-10-19T11:32:11+05:30",
                                              "1969-12-31T23:59:59.5-12:00"};
    int accepted = 0;
    for (int round = 0; round < kRounds; ++round) {
        if (const auto at = parse_rfc3339(mutator.damaged(samples))) {
            ++accepted;
            REQUIRE(must(parse_rfc3339(to_rfc3339(*at))) == *at);
        }
    }
    CHECK(accepted > 100);
}
