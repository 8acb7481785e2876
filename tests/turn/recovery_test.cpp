// What the journal says is still to do, and closing what a crash cut.
#include "host/turn/recovery.hpp"

#include "host/journal/journal_reader.hpp"
#include "host/turn/effects.hpp"
#include "host/turn/model_router.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::must;
using daybook::test::TempFolder;

namespace {

struct Home {
    TempFolder folder;
    LinuxOs os;
    FakeClock clock{"2026-10-19T04:00:00Z"};
    UniqueFd dir = must(os.open_root(folder.path()));
    std::unique_ptr<Journal> journal = must(Journal::open(
        os, clock, dir.get(), "journal/main", "main", must(Zone::find("Asia/Kolkata"))));
    std::unique_ptr<SessionStore> sessions =
        must(SessionStore::open(os, clock, dir.get(), "sessions/main"));

    std::string accept(const std::string& text, TurnKind kind = TurnKind::message) {
        Trigger trigger;
        trigger.kind = kind;
        trigger.source = source_of(kind);
        trigger.text = text;
        return must(journal->append(entry_of(trigger))).id;
    }
    void record(const std::string& type, const std::string& turn, Json data) {
        JournalEntry entry;
        entry.type = type;
        entry.session = sessions->state().session;
        entry.turn = turn;
        entry.data = std::move(data);
        must(journal->append(std::move(entry)));
    }
    void start(const std::string& turn, const std::string& trigger) {
        record("turn_start",
               turn,
               Json::object().set("kind", "message").set("trigger", trigger).set("model", "m"));
    }
    void end(const std::string& turn, const std::string& trigger) {
        record(
            "turn_end", turn, Json::object().set("trigger", trigger).set("outcome", "completed"));
    }
    void say(const std::string& turn, const std::string& kind, Json extra = Json::object()) {
        SessionRecord line;
        line.turn = turn;
        line.kind = kind;
        line.text = "text";
        line.extra = std::move(extra);
        must(sessions->append({line}, true));
    }
    JournalScanner scan() {
        JournalScanner scanner;
        const auto reader = JournalReader::of(*journal);
        for (const DeskDate day : must(reader.days())) {
            for (const JournalRecord& record : must(reader.read_day(day)).records) {
                scanner.take(record);
            }
        }
        return scanner;
    }
    Recovered recover() { return must(daybook::recover(scan(), *journal, *sessions)); }
    std::vector<std::string> pending() {
        std::vector<std::string> ids;
        for (const Trigger& trigger : recover().pending) {
            ids.push_back(trigger.id);
        }
        return ids;
    }
};

Effect effect_of(const Home& home,
                 const std::string& turn,
                 const std::string& trigger,
                 int ordinal) {
    return make_effect(
        home.sessions->state().session, turn, trigger, "place", ordinal, R"({"symbol":"NIFTY"})");
}

}  // namespace

TEST_CASE("a trigger is unsettled until a turn_end names it, and they come back in order",
          "[turn]") {
    Home home;
    const auto first = home.accept("one");
    const auto second = home.accept("two", TurnKind::alert);
    const auto third = home.accept("three");
    home.start("t-1", second);
    home.end("t-1", second);
    CHECK(home.pending() == std::vector<std::string>{first, third});
    CHECK(home.scan().triggers().at(second));
    CHECK_FALSE(home.scan().triggers().at(first));
    CHECK(home.scan().last_turn() == 1);
}

TEST_CASE("a trigger comes back as it was, with its secret masked and an alert marked as untrusted",
          "[turn]") {
    Home home;
    Trigger alert;
    alert.kind = TurnKind::alert;
    alert.source = Source::alert;
    alert.text = "gap; card 4111 1111 1111 1111";
    alert.key = "k-1";
    alert.name = "gap";
    const auto record = must(home.journal->append(entry_of(alert)));
    CHECK(record.entry.data["untrusted"].as_bool());
    CHECK(record.entry.key == "trigger:k-1");
    const auto back = home.scan().unsettled();
    REQUIRE(back.size() == 1);
    CHECK(back[0].kind == TurnKind::alert);
    CHECK(back[0].source == Source::alert);
    CHECK(back[0].name == "gap");
    CHECK(back[0].key == "k-1");
    CHECK(back[0].text.find("4111") == std::string::npos);
    CHECK(back[0].text.starts_with("gap; card "));
}

TEST_CASE("a plugin's own fill record is no trigger", "[turn]") {
    Home home;
    JournalEntry fill;
    fill.type = "fill";
    fill.by = "paper_broker";
    fill.data = Json::object().set("symbol", "NIFTY").set("kind", "fill");
    must(home.journal->append(fill));
    CHECK(home.scan().unsettled().empty());
}

TEST_CASE("a turn that was cut before any effect runs again, once", "[turn]") {
    Home home;
    must(home.sessions->open_session(must(DeskDate::parse("2026-10-19")), "", Json::object()));
    const auto trigger = home.accept("hello");
    home.start("t-1", trigger);
    home.say("t-1", "trigger");
    CHECK(home.pending() == std::vector<std::string>{trigger});
    CHECK(home.scan().cut().empty());  // its turn is closed, the trigger is not settled
    CHECK(home.sessions->conversation().back().kind == "interrupted");
    CHECK(home.pending() ==
          std::vector<std::string>{trigger});  // a second crash before it runs changes nothing
    home.start("t-2", trigger);
    home.end("t-2", trigger);
    CHECK(home.pending().empty());
}

TEST_CASE("a turn whose answer was saved is completed, never run again", "[turn]") {
    Home home;
    must(home.sessions->open_session(must(DeskDate::parse("2026-10-19")), "", Json::object()));
    const auto trigger = home.accept("hello");
    home.start("t-1", trigger);
    home.say("t-1", "trigger");
    home.say("t-1", "answer");
    CHECK(home.pending().empty());
    CHECK(home.sessions->conversation().back().kind == "answer");
    CHECK(home.scan().triggers().at(trigger));
}

TEST_CASE("a turn with an effect is closed as interrupted and followed by a recovery, exactly once",
          "[turn]") {
    const bool known = GENERATE(true, false);
    Home home;
    must(home.sessions->open_session(must(DeskDate::parse("2026-10-19")), "", Json::object()));
    const auto trigger = home.accept("buy one");
    home.start("t-1", trigger);
    home.say("t-1", "trigger");
    EffectLog log(*home.journal);
    const Effect effect = effect_of(home, "t-1", trigger, 1);
    must(log.intend(effect));
    if (known) {
        CallOutcome outcome;
        outcome.result = std::string("{}");
        outcome.external_effect = true;
        must(log.conclude(effect, outcome));
    }
    const Recovered first = home.recover();
    REQUIRE(first.pending.size() == 1);
    const Trigger& recovery = first.pending[0];
    CHECK(recovery.id != trigger);
    CHECK(recovery.source == Source::host);
    CHECK(recovery.recovery_of == "t-1");
    CHECK(recovery.text.find(effect.key) != std::string::npos);
    CHECK((recovery.text.find("Done before: place") != std::string::npos) == known);
    CHECK((recovery.text.find("Not known: place") != std::string::npos) == !known);
    // The host dies again before the recovery ran: the same one is pending, no second is made.
    const Recovered second = home.recover();
    REQUIRE(second.pending.size() == 1);
    CHECK(second.pending[0].id == recovery.id);
    home.start("t-2", recovery.id);
    home.end("t-2", recovery.id);
    CHECK(home.pending().empty());
}

TEST_CASE("a crash between the recovery's line and the turn's end makes no second recovery",
          "[turn]") {
    Home home;
    const auto trigger = home.accept("buy one");
    home.start("t-1", trigger);
    must(EffectLog(*home.journal).intend(effect_of(home, "t-1", trigger, 1)));
    Trigger half;
    half.kind = TurnKind::job;
    half.source = Source::host;
    half.name = "recovery";
    half.key = "recovery:t-1";
    half.recovery_of = "t-1";
    half.text = recovery_text(home.scan().cut().at(0));
    const auto line = must(home.journal->append(entry_of(half)));
    CHECK(home.pending() == std::vector<std::string>{line.id});
    CHECK(home.pending() == std::vector<std::string>{line.id});
}

TEST_CASE("a trigger that ends the host each time is given up after three cuts", "[turn]") {
    Home home;
    const auto trigger = home.accept("poison");
    for (int i = 1; i <= 2; ++i) {
        home.start("t-" + std::to_string(i), trigger);
        CHECK(home.pending() == std::vector<std::string>{trigger});
    }
    home.start("t-3", trigger);
    const Recovered third = home.recover();
    REQUIRE(third.pending.size() == 1);
    CHECK(third.pending[0].id != trigger);
    CHECK(third.pending[0].text.find("3 times") != std::string::npos);
}

// M31
TEST_CASE("a tool call without a result is closed as interrupted, once", "[turn]") {
    Home home;
    must(home.sessions->open_session(must(DeskDate::parse("2026-10-19")), "", Json::object()));
    const auto trigger = home.accept("q");
    home.start("t-1", trigger);
    home.say("t-1", "trigger");
    home.say(
        "t-1", "tool_call", Json::object().set("call", "a").set("tool", "price").set("round", 1));
    home.say(
        "t-1",
        "tool_result",
        Json::object().set("call", "a").set("tool", "price").set("status", "ok").set("round", 1));
    home.say(
        "t-1", "tool_call", Json::object().set("call", "b").set("tool", "price").set("round", 1));
    home.recover();
    const auto& lines = home.sessions->conversation();
    REQUIRE(lines.size() == 7);
    CHECK(lines[5].kind == "tool_result");
    CHECK(lines[5].extra["call"].as_string() == "b");
    CHECK(lines[5].extra["status"].as_string() == "interrupted");
    CHECK(lines[6].kind == "interrupted");
    home.recover();
    CHECK(home.sessions->conversation().size() == 7);
}

TEST_CASE("an effect's key holds trigger, ordinal and arguments, and is never used twice",
          "[turn]") {
    Home home;
    const Effect effect = make_effect("s", "t-1", "main-20261019-000001", "place", 2, "{}");
    CHECK(effect.key == "main-20261019-000001:2:44136fa355b3");
    EffectLog log(*home.journal);
    must(log.intend(effect));
    Effect again = effect;
    again.turn = "t-2";
    CHECK(log.intend(again).error().code() == Errc::refused);
    CallOutcome failed;
    failed.result =
        Error(Errc::auth, "the key ghp_0123456789abcdefghijklmnopqrstuvwxyz was refused");
    must(log.conclude(effect, failed));
    const std::string journal = home.folder.read("journal/main/2026-10-19.jsonl");
    CHECK(journal.find("was refused") != std::string::npos);
    CHECK(journal.find("ghp_") == std::string::npos);
}

TEST_CASE("what became of an effect follows from the outcome and the verbs that were used",
          "[turn]") {
    CallOutcome outcome;
    outcome.result = std::string("{}");
    CHECK(state_of(outcome) == EffectState::known);
    for (const Errc code :
         {Errc::plugin_crashed, Errc::plugin_protocol, Errc::deadline, Errc::cancelled}) {
        outcome.result = Error(code, "x");
        outcome.external_effect = true;
        CHECK(state_of(outcome) == EffectState::unknown);
        outcome.external_effect = false;
        CHECK(state_of(outcome) == EffectState::none);
    }
    outcome.external_effect = true;
    outcome.result = Error(Errc::refused, "over the limit");
    CHECK(state_of(outcome) == EffectState::known);
}

TEST_CASE("the router's table is that of docs/formats.md", "[turn]") {
    for (const std::string error : {"not_ready",
                                    "overloaded",
                                    "lost_connection",
                                    "no_answer",
                                    "model_fault",
                                    "auth",
                                    "request_fault",
                                    "a class of a later version"}) {
        CHECK(after_model_error(error) == AfterModelError::next_model);
    }
    CHECK(after_model_error("overflow") == AfterModelError::fail);
    CHECK(after_model_error("truncated") == AfterModelError::fail);
    CHECK(after_model_error("cancelled") == AfterModelError::cancelled);
}

TEST_CASE("an answer is what its events say, and a broken one is a fault", "[turn]") {
    const Result<std::string> fine = std::string("{}");
    const auto collect = [&](const std::vector<ModelEvent>& events,
                             const Result<std::string>& result) {
        AnswerCollector collector;
        for (const ModelEvent& event : events) {
            collector.take(event);
        }
        return collector.finish(result);
    };
    const ModelAnswer whole = collect({{"reasoning", {"hm"}},
                                       {"text", {"a"}},
                                       {"text", {"b"}},
                                       {"usage", {"1", "1200", "34", "-1", "-1"}},
                                       {"session", {"s-1"}},
                                       {"end", {"completed"}}},
                                      fine);
    CHECK(whole.text == "ab");
    CHECK(whole.end == "completed");
    CHECK(whole.input_tokens == 1200);
    CHECK(whole.output_tokens == 34);
    CHECK(whole.exact);
    CHECK(whole.backend_session == "s-1");
    const ModelAnswer calls = collect({{"tool_call", {"x", "price", "{}"}},
                                       {"tool_call", {"x", "price", "{}"}},
                                       {"end", {"tool_calls"}}},
                                      fine);
    REQUIRE(calls.calls.size() == 2);
    CHECK(calls.calls[0].id != calls.calls[1].id);
    CHECK(collect({{"usage", {"1", "0", "0", "-1", "-1"}}, {"text", {"a"}}, {"end", {"completed"}}},
                  fine)
              .input_tokens == -1);
    const auto error_of = [&](const std::vector<ModelEvent>& events,
                              const Result<std::string>& result) {
        const ModelAnswer answer = collect(events, result);
        CHECK(answer.end.empty());
        return answer.error_class;
    };
    CHECK(error_of({{"text", {"a"}}}, fine) == "no_answer");
    CHECK(error_of({{"end", {"completed"}}}, fine) == "no_answer");
    CHECK(error_of({{"text", {"a"}}, {"end", {"stopped"}}}, fine) == "model_fault");
    CHECK(error_of({{"end", {"tool_calls"}}}, fine) == "model_fault");
    CHECK(error_of({{"text", {"\xFF"}}, {"end", {"completed"}}}, fine) == "model_fault");
    CHECK(error_of({{"text", {"a"}}, {"end", {"completed"}}, {"text", {"b"}}}, fine) ==
          "model_fault");
    CHECK(error_of({{"text", {"a"}}, {"error", {"overflow", "too long"}}}, fine) == "overflow");
    CHECK(error_of({{"text", {"a"}}}, Error(Errc::plugin_crashed, "x")) == "lost_connection");
    CHECK(error_of({{"text", {"a"}}, {"end", {"completed"}}}, Error(Errc::plugin_crashed, "x")) ==
          "lost_connection");
}

TEST_CASE("an answer that outgrows its bounds is a fault; too much reasoning is only dropped",
          "[turn]") {
    const std::size_t most = AnswerCollector::kMaxText;
    const auto class_of = [](const std::vector<ModelEvent>& events) {
        AnswerCollector collector;
        for (const ModelEvent& event : events) {
            collector.take(event);
        }
        return collector.finish(std::string("{}")).error_class;
    };
    const ModelEvent done{"end", {"tool_calls"}};
    const std::string name(129, 'n');
    const std::string half(most / 2 + 1, ' ');
    CHECK(class_of({{"tool_call", {name, "price", "{}"}}, done}) == "model_fault");
    CHECK(class_of({{"tool_call", {"c-1", name, "{}"}}, done}) == "model_fault");
    CHECK(class_of({{"tool_call", {"c-1", "price", half}},
                    {"tool_call", {"c-2", "price", half}},
                    done}) == "model_fault");
    CHECK(class_of({{"tool_call", {"c-1", std::string(128, 'n'), half}}, done}).empty());
    CHECK(class_of({{"text", {half}}, {"text", {half}}, {"end", {"completed"}}}) == "model_fault");
    std::vector<ModelEvent> calls(65, ModelEvent{"tool_call", {"", "price", "{}"}});
    CHECK(class_of(calls) == "model_fault");
    calls.pop_back();
    calls.push_back(done);
    CHECK(class_of(calls).empty());
    CHECK(class_of({{"error", {std::string(100000, 'e'), std::string(100000, 'm')}}}).size() < 200);

    AnswerCollector thinker;
    CHECK(thinker.take({"reasoning", {half}}));
    CHECK_FALSE(thinker.take({"reasoning", {half}}));
    CHECK_FALSE(thinker.take({"reasoning", {"more"}}));
    CHECK(thinker.take({"text", {"so"}}));
    thinker.take({"end", {"completed"}});
    CHECK(thinker.finish(std::string("{}")).text == "so");
}
