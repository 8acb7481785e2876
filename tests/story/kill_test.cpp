// The host is killed (SIGKILL) at random instants of its work: whatever was acknowledged is there
// afterwards, once.
#include <csignal>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <random>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

constexpr int kRounds = 30;
constexpr unsigned kSeed = 20261019;

const char* const kScript = R"([
  {"match":"stopped in the middle","text":"I see"},
  {"match":"buy","calls":[{"name":"place","arguments":{"symbol":"NIFTY"}}]},
  {"after":"place","match":"","text":"placed"},
  {"match":"","text":"fine"}])";

void tell(int pipe, const std::string& line) {
    static_cast<void>(
        ::write(pipe, line.data(), line.size()));  // one write of a short line: whole or not at all
}

/// Works until it is killed, and tells what it was told.
[[noreturn]] void work(DeskBench& bench, int round, int pipe) {
    Desk& desk = bench.open();
    desk.listen([pipe](const Json& event) {
        if (event["event"].as_string() == "turn_end" &&
            event["outcome"].as_string() == "completed" &&
            event["kind"].as_string() != "owner_call") {
            tell(pipe, "answered " + event["trigger"].as_string() + "\n");
        }
    });
    tell(pipe, "ready -\n");
    for (int i = 0;; ++i) {
        const std::string name = std::to_string(round) + "-" + std::to_string(i);
        const std::string text = i % 3 == 0 ? "buy " + name : "say " + name;
        if (const auto accepted = desk.accept(TurnKind::message, text, "key-" + name, "")) {
            tell(pipe, "accepted " + accepted->trigger + "\n");
        }
        const auto noted = bench.call_tool("add_note", R"({"text":"note )" + name + R"("})");
        if (noted.result) {
            tell(pipe, "noted " + name + "\n");
        }
        bench.settle();
    }
}

/// What the child has acknowledged, by kind.
using Acknowledged = std::map<std::string, std::set<std::string>>;

/// Reads what the child tells: `lines` lines, or all until its end when 0.
void read_lines(int pipe, std::size_t lines, std::string& text) {
    char buffer[256];
    while (lines == 0 ||
           static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < lines) {
        struct pollfd ready = {pipe, POLLIN, 0};
        if (::poll(&ready, 1, 20000) != 1) {
            return;
        }
        const ssize_t got = ::read(pipe, buffer, sizeof buffer);
        if (got <= 0) {
            return;
        }
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

struct Instant {
    std::size_t lines = 0;              ///< told by the child before
    std::chrono::microseconds after{};  ///< and so much later
};

void run_and_kill(DeskBench& bench, int round, Instant when, Acknowledged& acknowledged) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        try {
            work(bench, round, ends[1]);
        } catch (const std::exception& error) {
            tell(ends[1], "failed " + std::string(error.what()) + "\n");
        }
        ::_exit(1);
    }
    ::close(ends[1]);
    std::string text;
    read_lines(ends[0], when.lines, text);
    // The instant of the kill is what the test is about; nothing is waited for.
    const struct timespec pause = {0, std::chrono::nanoseconds(when.after).count()};
    ::nanosleep(&pause, nullptr);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    read_lines(ends[0], 0, text);
    ::close(ends[0]);
    std::istringstream lines(text);
    for (std::string kind, what; lines >> kind >> what;) {
        acknowledged[kind].insert(what);
    }
}

void check_home(DeskBench& bench, const Acknowledged& acknowledged) {
    std::map<std::string, int> settled;
    for (const JournalRecord& end : bench.records("turn_end")) {
        if (const std::string& id = end.entry.data["trigger"].as_string(); !id.empty()) {
            ++settled[id];
        }
    }
    std::map<std::string, int> answers;
    for (const SessionInfo& session : must(bench.desk->sessions().list())) {
        std::size_t bad = 0;
        for (const SessionRecord& line : must(bench.desk->sessions().read(session.id, &bad))) {
            answers[line.kind == "answer" ? line.extra["trigger"].as_string() : ""] += 1;
        }
        CHECK(bad == 0);
    }
    for (const std::string& id : acknowledged.at("accepted")) {
        INFO(id);
        CHECK(settled[id] == 1);
        CHECK(answers[id] <= 1);
    }
    for (const std::string& id : acknowledged.at("answered")) {
        INFO(id);
        CHECK(answers[id] == 1);
    }
    const std::string notes = bench.folder.read("workspace/main/notes/2026-10-19.md");
    for (const std::string& name : acknowledged.at("noted")) {
        const std::string line = " note " + name + "\n";
        const auto at = notes.find(line);
        INFO(line);
        CHECK(at != std::string::npos);
        CHECK(notes.find(line, at + 1) == std::string::npos);
    }
    std::set<std::string> keys;
    for (const JournalRecord& intent : bench.records("effect_intent")) {
        CHECK(keys.insert(intent.entry.data["key"].as_string()).second);
    }
    std::set<std::string> orders;
    for (const JournalRecord& order : bench.records("order")) {
        CHECK(orders.insert(order.entry.order)
                  .second);  // its id holds the effect's key: nothing is placed twice
    }
}

}  // namespace

TEST_CASE("killed at random instants, a desk loses nothing it acknowledged and does nothing twice",
          "[story]") {
    DeskBench bench(kScript);
    bench.desk_config.rollover = must(TimeOfDay::parse("15:45"));
    std::mt19937 random(kSeed);
    std::uniform_int_distribution<int> lines(1, 12);
    std::uniform_int_distribution<int> microseconds(0, 15000);
    Acknowledged acknowledged;
    for (int round = 0; round < kRounds; ++round) {
        Instant when;
        when.lines = static_cast<std::size_t>(lines(random));
        when.after = std::chrono::microseconds(microseconds(random));
        run_and_kill(bench, round, when, acknowledged);
    }
    CHECK(acknowledged["failed"].empty());
    CHECK(acknowledged["accepted"].size() > 30);
    CHECK(acknowledged["noted"].size() > 10);
    bench.open();
    bench.settle();
    check_home(bench, acknowledged);
    const std::string fsck = "git --git-dir '" +
                             (bench.folder / "workspace/.checkpoints/main.git").string() +
                             "' -c safe.directory='*' fsck --full --strict >/dev/null 2>&1";
    CHECK(std::system(fsck.c_str()) == 0);
}
