// The verbs, through the real gate, store and journal: called directly, and asked for by real
// plugins under a leash that the manifest gives.
#include "host/plugin/host_calls.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/journal/journal_reader.hpp"
#include "tests/plugin/fixture_plugins.hpp"
#include "tests/plugin/verb_answer.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

Calendar calendar_named(const std::string& id) {
    std::ostringstream text;
    text << std::ifstream(std::string(DAYBOOK_SOURCE_DIR) + "/share/calendars/" + id + ".json")
                .rdbuf();
    return must(Calendar::parse(text.str(), id));
}

/// A desk's stores and one turn's verbs. 2026-10-19 is a Monday, 11:32 in Kolkata; the 20th is a
/// holiday.
struct Turn {
    Bench bench;
    LinuxOs os;
    FakeClock clock{"2026-10-19T06:02:11Z"};
    Zone zone = must(Zone::find("Asia/Kolkata"));
    Calendar calendar = calendar_named("nse");
    DeskDate day = must(DeskDate::parse("2026-10-19"));
    UniqueFd desk_dir = must(os.open_root(bench.folder / "desk"));
    UniqueFd state_dir = must(os.open_root(bench.folder.path()));
    std::unique_ptr<CheckpointStore> store = must(CheckpointStore::open(
        os, clock, desk_dir.get(), bench.folder / "main.git", "main", CheckpointForm::journalled));
    std::unique_ptr<Journal> journal =
        must(Journal::open(os, clock, state_dir.get(), "journal/main", "main", zone));
    WriteGate gate{os, clock, desk_dir.get(), "main", *store, *journal};
    TurnAllowance allowance = TurnAllowance::of(TurnKind::message, day);
    ShownFiles shown;
    CallOutcome outcome;

    HostCalls calls() {
        return HostCalls({gate,
                          *journal,
                          clock,
                          zone,
                          calendar,
                          allowance,
                          shown,
                          "2026-10-19-1",
                          "t-1",
                          day,
                          call_tool});
    }
    std::function<Result<std::string>(Leash&, const std::string&, const std::string&, CallOutcome&)>
        call_tool;

    static Leash leash(unsigned groups) {
        Leash out;
        out.call = 42;
        out.desk = "main";
        out.plugin = "writer";
        out.tool = "write_any";
        out.turn = "t-1";
        out.groups = groups;
        out.bytes_left = 1 << 16;
        out.writes_left = 10;
        out.calls_left = 10;
        out.deadline = within(60s);
        return out;
    }
    static Leash writing(const std::string& path, unsigned operations) {
        Leash out = leash(kDeskFiles);
        out.file = FileGrant{*DeskPath::parse(path), operations};
        return out;
    }
    Result<std::string> ask(Leash& leash,
                            const std::string& verb,
                            const std::vector<std::string>& arguments) {
        HostCalls verbs = calls();
        return answer_of(verbs, leash, verb, arguments, outcome);
    }
    std::vector<JournalRecord> records(const std::string& type) {
        std::vector<JournalRecord> out;
        for (const JournalRecord& record :
             must(JournalReader::of(*journal).read_day(day)).records) {
            if (record.entry.type == type) {
                out.push_back(record);
            }
        }
        return out;
    }
    std::string file(const std::string& name) const { return bench.folder.read("desk/" + name); }
};

const std::string kToday = "notes/2026-10-19.md";

}  // namespace

TEST_CASE("an append goes through the gate and its receipt is the answer", "[plugin]") {
    Turn turn;
    Leash leash = Turn::writing(kToday, kAppend);
    const auto answer = turn.ask(
        leash, "desk-files/1.append", {kToday, "", "- gap opens fade by noon\n", "a lesson"});
    INFO((answer ? "" : answer.error().message()));
    REQUIRE(answer);
    const auto receipt = must(Json::parse(*answer));
    CHECK(receipt["path"].as_string() == kToday);
    CHECK(receipt["checkpoint"].as_string().starts_with("c-"));
    CHECK(turn.file(kToday) == "- gap opens fade by noon\n");
    REQUIRE(turn.outcome.writes.size() == 1);
    CHECK(turn.outcome.writes[0].checkpoint == receipt["checkpoint"].as_string());
    CHECK_FALSE(turn.outcome.external_effect);
    const auto written = turn.records("note_written");
    REQUIRE(written.size() == 1);
    CHECK(written[0].entry.data["checkpoint"].as_string() == receipt["checkpoint"].as_string());
    CHECK(written[0].entry.turn == "t-1");
}

TEST_CASE("a write outside the leash, by group, file or operation, is refused and writes nothing",
          "[plugin]") {
    Turn turn;
    Leash no_group = Turn::writing(kToday, kAppend);
    no_group.groups = kClock;
    Leash other_file = Turn::writing("memory/rules.md", kReplace);
    Leash append_only = Turn::writing(kToday, kAppend);
    const auto ask = [&](Leash& leash, const std::string& verb) {
        const auto answer = turn.ask(leash, verb, {kToday, "", "- x\n", "why"});
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code() == Errc::refused);
        return answer.error().message();
    };
    CHECK_THAT(ask(no_group, "desk-files/1.append"), Contains("desk-files"));
    CHECK_THAT(ask(other_file, "desk-files/1.append"),
               Contains(kToday) && Contains("memory/rules.md"));
    ask(append_only, "desk-files/1.replace");
    CHECK_FALSE(std::filesystem::exists(turn.bench.folder / ("desk/" + kToday)));
    CHECK(turn.outcome.writes.empty());
}

TEST_CASE("a name that is no path of a desk is refused and journalled like any refusal",
          "[plugin]") {
    Turn turn;
    for (const std::string path :
         {"../keys/k", "/etc/passwd", "notes/../Memory.md", "a\nb", ".git/config", ""}) {
        Leash leash = Turn::writing(kToday, kAppend);
        const auto answer = turn.ask(leash, "desk-files/1.append", {path, "", "- x\n", "why"});
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code() == Errc::refused);
    }
    const auto refused = turn.records("write_refused");
    REQUIRE(refused.size() == 6);
    CHECK(refused[0].entry.data["rule"].as_string() == "path");
    CHECK(refused[0].entry.data["path"].as_string() == "../keys/k");
    CHECK(refused[0].entry.by == "writer");
    Leash leash = Turn::leash(kDeskFiles);
    CHECK(turn.ask(leash, "desk-files/1.read", {"../keys/k"}).error().code() == Errc::invalid);
}

TEST_CASE("a secret in a name that is no path does not reach the journal", "[plugin]") {
    Turn turn;
    Leash leash = Turn::writing(kToday, kAppend);
    const std::string secret = "sk-ant-api03-Zx81QpLm22";
    REQUIRE_FALSE(turn.ask(leash, "desk-files/1.append", {"../" + secret, "", "- x\n", "why"}));
    const auto refused = turn.records("write_refused");
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].entry.data["path"].as_string() == "../[masked: api key]");
    CHECK(refused[0].entry.data.dump().find("Zx81") == std::string::npos);
}

TEST_CASE(
    "what is read counts as shown, so an edit of it passes and one of an unread file conflicts",
    "[plugin]") {
    Turn turn;
    turn.bench.folder.write("desk/memory/rules.md", "- stop at 2 %\n");
    Leash leash = Turn::writing("memory/rules.md", kEdit);
    const std::vector<std::string> edit{"memory/rules.md", "", "2 %", "1 %", "tighter"};
    const auto unread = turn.ask(leash, "desk-files/1.edit", edit);
    REQUIRE_FALSE(unread);
    CHECK(unread.error().code() == Errc::conflict);
    Leash reading = Turn::leash(kDeskFiles);
    CHECK(must(turn.ask(reading, "desk-files/1.read", {"memory/rules.md"})) == "- stop at 2 %\n");
    const auto edited = turn.ask(leash, "desk-files/1.edit", edit);
    INFO((edited ? "" : edited.error().message()));
    REQUIRE(edited);
    CHECK(turn.file("memory/rules.md") == "- stop at 1 %\n");
}

TEST_CASE("lines that were read count as shown, and no others", "[plugin]") {
    Turn turn;
    turn.bench.folder.write("desk/memory/rules.md", "one\ntwo\nthree\n");
    Leash reading = Turn::leash(kDeskFiles);
    Leash writing = Turn::writing("memory/rules.md", kReplace);
    const std::vector<std::string> replace{"memory/rules.md", "", "mine\n", "why"};
    const auto read = [&](const std::string& first, const std::string& lines) {
        return must(Json::parse(must(
            turn.ask(reading, "desk-files/1.read_lines", {"memory/rules.md", first, lines, "0"}))));
    };
    const Json part = read("2", "1");
    CHECK(part["text"].as_string() == "two\n");
    CHECK((part["first_line"].as_integer() == 2 && part["lines"].as_integer() == 1));
    CHECK(part["total_lines"].as_integer() == 3);
    CHECK(part["bytes"].as_integer() == 14);
    CHECK(part["sha256"].as_string().size() == 64);
    CHECK_FALSE(part["whole"].as_bool());
    const auto refused = turn.ask(writing, "desk-files/1.replace", replace);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::conflict);
    CHECK_THAT(refused.error().message(), Contains("shown only in part"));
    CHECK(read("1", "0")["whole"].as_bool());
    REQUIRE(turn.ask(writing, "desk-files/1.replace", replace));

    const auto failure = [&](const std::string& path, const std::string& first) {
        return turn.ask(reading, "desk-files/1.read_lines", {path, first, "0", "0"}).error().code();
    };
    for (const char* bad : {"0", "-1", "x", ""}) {
        CHECK(failure("memory/rules.md", bad) == Errc::invalid);
    }
    CHECK(failure("../x", "1") == Errc::invalid);
    CHECK(failure("memory/none.md", "1") == Errc::not_found);
    turn.bench.folder.write("desk/memory/odd.md", "\xFF\xFE\n");
    const Json odd = must(Json::parse(
        must(turn.ask(reading, "desk-files/1.read_lines", {"memory/odd.md", "1", "0", "0"}))));
    CHECK_FALSE(odd["whole"].as_bool());
    CHECK_FALSE(turn.shown.is_whole(*DeskPath::parse("memory/odd.md")));
}

TEST_CASE("what a call reads of the file that it may write counts for that call alone",
          "[plugin]") {
    Turn turn;
    turn.bench.folder.write("desk/memory/rules.md", "the owner's\n");
    const DeskPath rules = *DeskPath::parse("memory/rules.md");
    Leash leash = Turn::writing("memory/rules.md", kReplace);
    const std::vector<std::string> replace{"memory/rules.md", "", "mine\n", "why"};
    must(turn.ask(leash, "desk-files/1.read", {"memory/rules.md"}));
    CHECK_FALSE(turn.shown.find(rules));
    CHECK(turn.ask(leash, "desk-files/1.replace", replace).error().code() == Errc::conflict);

    HostCalls one_call = turn.calls();
    must(one_call.serve(leash, "desk-files/1.read", {"memory/rules.md"}, turn.outcome));
    REQUIRE(one_call.serve(leash, "desk-files/1.replace", replace, turn.outcome));
    CHECK(turn.file("memory/rules.md") == "mine\n");
    CHECK(turn.shown.find(rules));
    CHECK_FALSE(turn.shown.is_whole(rules));  // the model has not seen what the call put there
}

TEST_CASE("a listing names files with size and owner", "[plugin]") {
    Turn turn;
    turn.bench.folder.write("desk/Memory.md", "12345");
    turn.bench.folder.write("desk/prices/a.csv", "1");
    Leash leash = Turn::leash(kDeskFiles);
    const auto listed = must(Json::parse(must(turn.ask(leash, "desk-files/1.list", {""}))));
    REQUIRE(listed.items().size() == 2);
    CHECK(listed.items()[0].dump() == R"({"path":"Memory.md","bytes":5,"own":true})");
    CHECK(listed.items()[1].dump() == R"({"path":"prices/a.csv","bytes":1,"own":false})");
}

TEST_CASE("the clock tells the desk's day, the market and its sessions", "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kClock);
    CHECK(must(turn.ask(leash, "clock/1.now_ns", {})) ==
          std::to_string(turn.clock.now().time_since_epoch().count()));
    const auto now = must(Json::parse(must(turn.ask(leash, "clock/1.describe", {}))));
    CHECK(now["now"].as_string() == "2026-10-19T11:32:11+05:30");
    CHECK(now["day"].as_string() == "2026-10-19");
    CHECK(now["zone"].as_string() == "Asia/Kolkata");
    CHECK(now["market"].as_string() == "open");
    REQUIRE_FALSE(now["sessions"].items().empty());
    CHECK(now["sessions"].items()[0].dump() == R"({"open":"09:15","close":"15:35"})");
    CHECK(now["next_open"].as_string().starts_with("2026-10-21T09:15:00"));
    const auto sunday =
        must(Json::parse(must(turn.ask(leash, "clock/1.sessions", {"2026-10-18"}))));
    CHECK(sunday["trading_day"].as_bool(true) == false);
    CHECK(sunday["known"].as_bool());
    CHECK(sunday["sessions"].items().empty());
    const auto holiday =
        must(Json::parse(must(turn.ask(leash, "clock/1.sessions", {"2024-01-26"}))));
    CHECK(holiday["name"].as_string() == "Republic Day");
    const auto far = must(Json::parse(must(turn.ask(leash, "clock/1.sessions", {"2031-01-06"}))));
    CHECK_FALSE(far["known"].as_bool(true));
    CHECK(turn.ask(leash, "clock/1.sessions", {"tomorrow"}).error().code() == Errc::invalid);
    Leash none = Turn::leash(kDeskFiles);
    CHECK(turn.ask(none, "clock/1.describe", {}).error().code() == Errc::refused);
}

TEST_CASE("sessions are told in the desk's own zone", "[plugin]") {
    Turn turn;
    turn.zone = must(Zone::find("America/New_York"));
    Leash leash = Turn::leash(kClock);
    const auto day = must(Json::parse(must(turn.ask(leash, "clock/1.sessions", {"2026-10-19"}))));
    CHECK(day["sessions"].items()[0]["close"].as_string() == "06:05");
    turn.calendar = calendar_named("always");
    turn.zone = must(Zone::find("Etc/UTC"));
    const auto whole = must(Json::parse(must(turn.ask(leash, "clock/1.sessions", {"2026-10-19"}))));
    CHECK(whole["sessions"].dump() == R"([{"open":"00:00","close":"24:00"}])");
}

TEST_CASE("an order is journalled under the plugin's name, once for each key, secrets masked",
          "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kJournal);
    const std::string data =
        R"({"symbol":"RELIANCE","side":"buy","qty":5,"price":"1432.55","tag":"Bearer abcdefghijklmnopqrstuvwx0123456789"})";
    const auto first = must(
        Json::parse(must(turn.ask(leash, "journal/1.append", {"order", "k-1", "o-17", data}))));
    const auto again = must(
        Json::parse(must(turn.ask(leash, "journal/1.append", {"order", "k-1", "o-17", data}))));
    CHECK(first["id"].as_string() == again["id"].as_string());
    CHECK(turn.outcome.external_effect);
    const auto orders = turn.records("order");
    REQUIRE(orders.size() == 1);
    CHECK(orders[0].id == first["id"].as_string());
    CHECK(orders[0].entry.by == "writer");
    CHECK(orders[0].entry.key == "writer:k-1");
    CHECK((orders[0].entry.order == "o-17" && orders[0].entry.session == "2026-10-19-1"));
    CHECK_THAT(orders[0].entry.data["tag"].as_string(), Contains("masked"));
    CHECK(orders[0].entry.data["price"].as_string() == "1432.55");
}

TEST_CASE("a plugin's key cannot stand for another's record or the host's", "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kJournal);
    const std::string fill = R"({"symbol":"NIFTY 50","side":"buy","qty":50,"price":"24350.50"})";
    REQUIRE(turn.ask(leash, "journal/1.append", {"order", "intent:k-1", "", fill}));
    JournalEntry entry;
    entry.type = "effect_intent";
    entry.key = "intent:k-1";
    CHECK(must(turn.journal->append(entry)).entry.type == "effect_intent");
    Leash other = Turn::leash(kJournal);
    other.plugin = "broker";
    REQUIRE(turn.ask(leash, "journal/1.append", {"fill", "f-1", "", fill}));
    REQUIRE(turn.ask(other, "journal/1.append", {"fill", "f-1", "", fill}));
    CHECK(turn.records("fill").size() == 2);
}

TEST_CASE("a journal line of another type, without key, or with floating money is refused",
          "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kJournal);
    const auto refused = [&](const std::vector<std::string>& arguments) {
        const auto answer = turn.ask(leash, "journal/1.append", arguments);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code() == Errc::invalid);
        return answer.error().message();
    };
    CHECK_THAT(refused({"turn_end", "k", "", "{}"}), Contains("order, refusal, fill or cancel"));
    CHECK_THAT(refused({"order", "", "", "{}"}), Contains("key"));
    CHECK_THAT(refused({"order", "a\nb", "", "{}"}), Contains("key"));
    CHECK_THAT(refused({"order", "k", std::string(500, 'o'), "{}"}), Contains("order"));
    CHECK_THAT(refused({"order", "k", "", "[1]"}), Contains("object"));
    CHECK_THAT(refused({"order", "k", "", "{\"a\":1,\"a\":2}"}), Contains("data"));
    CHECK_THAT(refused({"order", "k", "", R"({"price":1432.55})"}),
               Contains("decimal text") && Contains("price"));
    CHECK_THAT(refused({"order", "k", "", R"({"price":"1,432"})"}), Contains("decimal text"));
    CHECK_THAT(refused({"order", "k", ""}), Contains("wants 4 arguments"));
    CHECK(turn.records("order").empty());
}

TEST_CASE("no external verb passes in a leash without its group", "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kAllGroups & ~kExternalGroups);
    for (const std::string verb : {"journal/1.append", "http/1.begin"}) {
        CHECK(turn.ask(leash, verb, {"order", "k", "", "{}"}).error().code() == Errc::refused);
    }
    CHECK((!turn.outcome.external_effect && turn.records("order").empty()));
}

TEST_CASE("past its deadline a call gets no verb", "[plugin]") {
    Turn turn;
    Leash leash = Turn::writing(kToday, kAppend);
    leash.deadline = within(-1ms);
    CHECK(turn.ask(leash, "desk-files/1.append", {kToday, "", "- x\n", ""}).error().code() ==
          Errc::deadline);
    CHECK(turn.ask(leash, "desk-files/1.read", {kToday}).error().code() == Errc::deadline);
}

TEST_CASE("verbs that are not served say so, whatever the leash", "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kAllGroups);
    for (const std::string verb : {"http/1.request",
                                   "desk-files/1.delete",
                                   "clock/1.set",
                                   "journal/1.read",
                                   "tools/1.list",
                                   "tools/1.call",
                                   "",
                                   "desk-files/2.read",
                                   "\x01"}) {
        CAPTURE(verb);
        const auto answer = turn.ask(leash, verb, {"a", "b"});
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code() == Errc::unsupported);
    }
}

TEST_CASE("a nested tool call gets this call's leash as its parent", "[plugin]") {
    Turn turn;
    Leash leash = Turn::leash(kTools);
    std::string asked;
    turn.call_tool =
        [&](Leash& parent, const std::string& tool, const std::string& arguments, CallOutcome&) {
            asked = std::to_string(parent.call) + " " + tool + " " + arguments;
            return Result<std::string>(std::string("{\"done\":1}"));
        };
    CHECK(must(turn.ask(leash, "tools/1.call", {"add_note", "{}"})) == "{\"done\":1}");
    CHECK(asked == "42 add_note {}");
}

TEST_CASE("a real plugin writes what its leash allows, and only that", "[plugin]") {
    Turn turn;
    Fixtures plugins(turn.bench, {"writer"});
    const PluginEntry& plugin = *plugins.registry->find("writer");
    HostCalls verbs = turn.calls();
    const auto call = [&](const std::string& tool, const Json& arguments) {
        const auto& tools = plugin.manifest.tools;
        const auto found = std::find_if(
            tools.begin(), tools.end(), [&](const auto& one) { return one.name == tool; });
        REQUIRE(found != tools.end());
        Leash leash =
            must(derive_leash(turn.allowance, *found, plugin.groups, arguments, within(20s)));
        leash.plugin = "writer";
        leash.tool = tool;
        CallRequest request;
        request.name = tool;
        request.arguments = arguments.dump();
        return run_call(
            plugins["writer"].runner, turn.bench.inbox, leash, request, verbs, {}, 300ms);
    };
    Json arguments =
        Json::object({{"path", kToday}, {"verb", "append"}, {"text", "- from a plugin\n"}});
    const auto written = call("write_any", arguments);
    INFO((written.result ? "" : written.result.error().message()));
    REQUIRE(written.result);
    REQUIRE(written.writes.size() == 1);
    CHECK_THAT(*written.result, Contains(written.writes[0].checkpoint));
    CHECK(turn.file(kToday) == "- from a plugin\n");

    arguments.set("target", "Memory.md");
    const auto elsewhere = call("write_any", arguments);
    REQUIRE_FALSE(elsewhere.result);
    CHECK(elsewhere.result.error().code() == Errc::refused);
    CHECK_THAT(elsewhere.result.error().message(), Contains("Memory.md") && Contains(kToday));
    CHECK(elsewhere.writes.empty());
    CHECK_FALSE(std::filesystem::exists(turn.bench.folder / "desk/Memory.md"));

    turn.bench.folder.write("desk/memory/three.md", "one\ntwo\nthree\n");
    const auto part =
        call("read_any", Json::object({{"path", "memory/three.md"}, {"from", 2}, {"lines", 1}}));
    INFO((part.result ? "" : part.result.error().message()));
    REQUIRE(part.result);
    CHECK(must(Json::parse(*part.result))["text"].as_string() == "two\n");
    CHECK_FALSE(turn.shown.is_whole(*DeskPath::parse("memory/three.md")));

    const auto time = call("tell_time", Json::object({{"day", "2026-10-19"}}));
    REQUIRE(time.result);
    const auto told = must(Json::parse(*time.result));
    CHECK(told["day"].as_string() == "2026-10-19");
    CHECK(told["now_ns"].as_integer() == turn.clock.now().time_since_epoch().count());

    arguments = Json::object({{"path", kToday}, {"text", "- too late\n"}, {"late", true}});
    REQUIRE(call("write_any", arguments).result);
    REQUIRE(turn.bench.wait([&] { return turn.bench.log.has_line("late write: status 2"); }));
    CHECK(turn.file(kToday) == "- from a plugin\n");
}

TEST_CASE("an effect made by a real plugin stands in the journal under the call's key",
          "[plugin]") {
    Turn turn;
    Fixtures plugins(turn.bench, {"effects"});
    HostCalls verbs = turn.calls();
    const auto call = [&](const std::string& tool) {
        Leash leash = Turn::leash(kJournal);
        leash.plugin = "effects";
        CallRequest request;
        request.name = tool;
        request.arguments = R"({"symbol":"NIFTY 50","quantity":2})";
        request.idempotency_key = "effect-" + tool;
        return run_call(
            plugins["effects"].runner, turn.bench.inbox, leash, request, verbs, {}, 300ms);
    };
    const auto placed = call("place");
    INFO((placed.result ? "" : placed.result.error().message()));
    REQUIRE(placed.result);
    CHECK(placed.external_effect);
    const auto crashed = call("place_and_crash");
    REQUIRE_FALSE(crashed.result);
    CHECK(crashed.result.error().code() == Errc::plugin_crashed);
    CHECK(crashed.external_effect);
    const auto orders = turn.records("order");
    REQUIRE(orders.size() == 2);
    CHECK(orders[0].entry.key == "effects:effect-place");
    CHECK(orders[1].entry.key == "effects:effect-place_and_crash");
}
