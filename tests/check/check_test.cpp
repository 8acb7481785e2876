// daybook-check on plugins that break one rule each: it fails by that rule's id and by no other.
#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <sys/wait.h>

#include "host/format/json.hpp"
#include "tests/catch.hpp"

using namespace daybook;
using Catch::Matchers::Contains;

namespace {

struct Ran {
    int code = -1;
    std::string out;
};

/// daybook-check WORDS; what it says on stderr is not looked at.
Ran run(const std::string& words) {
    const std::string line =
        std::string(DAYBOOK_BUILD_DIR) + "/libexec/daybook/daybook-check " + words + " 2>/dev/null";
    std::FILE* const pipe = ::popen(line.c_str(), "re");
    REQUIRE(pipe != nullptr);
    Ran ran;
    std::array<char, 4096> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        ran.out.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return ran;
}

std::string fixture(const std::string& name) {
    return std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/fixtures/" + name + ".so";
}

Json report(const std::string& words) {
    const Ran ran = run("--json " + words);
    INFO(ran.out);
    auto json = Json::parse(ran.out);
    REQUIRE(json);
    CHECK(ran.code == ((*json)["failed"].as_integer() == 0 ? 0 : 1));
    return *json;
}

std::set<std::string> failed(const Json& report) {
    std::set<std::string> ids;
    for (const Json& check : report["checks"].items()) {
        if (check["state"].as_string() == "fail") {
            ids.insert(check["id"].as_string());
        }
    }
    return ids;
}

std::string text_of(const Json& report, const std::string& id) {
    for (const Json& check : report["checks"].items()) {
        if (check["id"].as_string() == id) {
            return check["text"].as_string();
        }
    }
    return "no such check";
}

}  // namespace

TEST_CASE("a plugin that keeps to every rule passes at the strictest level", "[check]") {
    const Json json = report("--strict 3 " + fixture("untidy_nothing"));
    CHECK(failed(json).empty());
    CHECK(json["plugin"].as_string() == "untidy_nothing");
    CHECK(json["passed"].as_integer() >= 15);
}

TEST_CASE("each broken rule is failed by its own id, with what to do", "[check]") {
    struct Case {
        const char* fixture;
        const char* id;
        const char* words;
    };
    const auto each =
        GENERATE(Case{"untidy_prints", "stdout-silent", "hello from a plugin"},
                 Case{"untidy_leaks", "leak-1000-calls", "free what a call made"},
                 Case{"untidy_crashes", "args-fuzz", "--only args-fuzz --seed 1"},
                 Case{"lying_note", "abi-note-matches-descriptor", "tools[0].description"},
                 Case{"missing_symbol", "loads-rtld-now", "daybook_function_that_is_gone"},
                 Case{"data_symbol", "loads-rtld-now", "wanted a function"},
                 Case{"open_fails", "opens", "the licence file is missing"},
                 Case{"crash", "exception-contained", "signal 11 (SIGSEGV)"},
                 Case{"crash", "drain-finishes", "it ended while it drained"},
                 Case{"garbage", "args-garbage", "broke the channel's rules"},
                 Case{"fetcher", "schemas-are-valid", "requires \"url\""},
                 Case{"teller", "config-schema", "\"additionalProperties\":false"},
                 Case{"reaches_beyond", "exports-only-entry", "extra_symbol_of_reaches_beyond"},
                 Case{"reaches_beyond", "unknown-ext-null", "wanted NULL"},
                 Case{"reaches_beyond", "old-host-table", "signal 11"});
    CAPTURE(each.fixture, each.id);
    const Json json = report("--only " + std::string(each.id) + " " + fixture(each.fixture));
    CHECK(failed(json) == std::set<std::string>{each.id});
    CHECK_THAT(text_of(json, each.id), Contains(each.words));
}

TEST_CASE("what is not broken passes beside what is", "[check]") {
    CHECK(failed(report("--strict 3 " + fixture("untidy_prints"))) ==
          std::set<std::string>{"stdout-silent"});
    CHECK(failed(report("--strict 3 --only newer-host,open-close-100,opens " +
                        fixture("reaches_beyond"))) == std::set<std::string>{"open-close-100"});
}

TEST_CASE("a plugin that never looks whether it is cancelled or late is told", "[check]") {
    const Json json = report("--only cancel-latency,deadline " + fixture("untidy_spins"));
    CHECK(failed(json) == std::set<std::string>{"cancel-latency", "deadline"});
    CHECK_THAT(text_of(json, "cancel-latency"),
               Contains("no result and no failure") && Contains("call.check()"));
}

TEST_CASE("the same seed finds the same crash with the same arguments", "[check]") {
    const std::string first =
        text_of(report("--only args-fuzz --seed 42 " + fixture("untidy_crashes")), "args-fuzz");
    CHECK_THAT(first, Contains("\"n\":7") && Contains("--seed 42"));
    CHECK(first ==
          text_of(report("--only args-fuzz --seed 42 " + fixture("untidy_crashes")), "args-fuzz"));
}

TEST_CASE("one check runs in the kit's own process, for a debugger", "[check]") {
    const Ran ran = run("--in-process --only args-fuzz " + fixture("untidy_nothing"));
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Contains("\"state\":\"pass\""));
    CHECK(run("--in-process --only args-fuzz " + fixture("untidy_crashes")).code >= 128);
    CHECK(run("--in-process " + fixture("echo")).code == 2);
}

TEST_CASE("wrong words and files that are no plugins end with 2", "[check]") {
    CHECK(run("--list").code == 0);
    CHECK_THAT(run("--list").out, Contains("abi-note-matches-descriptor"));
    CHECK(run("").code == 2);
    CHECK(run("--only no-such-check " + fixture("echo")).code == 2);
    CHECK(run("--strict 9 " + fixture("echo")).code == 2);
    CHECK(run(fixture("absent")).code == 2);
    CHECK(run(fixture("no_note")).code == 2);
}
