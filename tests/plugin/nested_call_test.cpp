// Calls that plugins make of each other, served on one desk's thread.
#include "host/format/json.hpp"
#include "tests/plugin/fixture_plugins.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// Serves tools/1.call by a call on the runner of that name, as the turn does: narrower leash, one
/// level deeper.
class NestingVerbs final : public VerbServer {
  public:
    explicit NestingVerbs(DeskInbox& inbox, Fixtures& plugins) : inbox_(inbox), plugins_(plugins) {}

    Result<std::string> serve(Leash& leash,
                              std::string_view verb,
                              const std::vector<std::string>& arguments,
                              CallOutcome&) override {
        if (verb != "tools/1.call" || arguments.size() != 2) {
            return Error(Errc::unsupported, "only tools/1.call here");
        }
        Leash wanted = leash;
        wanted.tool = arguments[0];
        wanted.plugin = arguments[0];
        wanted.depth = leash.depth + 1;
        wanted.parent = &leash;
        auto child = attenuate(leash, wanted);
        if (!child) {
            return child.error();
        }
        deepest = std::max(deepest, child->depth);
        return call(*child, arguments[0], arguments[1]).result;
    }

    CallOutcome call(Leash& leash, const std::string& tool, const std::string& arguments) {
        CallRequest request;
        request.name = tool;
        request.arguments = arguments;
        return run_call(plugins_[tool].runner, inbox_, leash, request, *this, {}, 300ms);
    }
    CallOutcome call(const std::string& tool,
                     const std::string& arguments,
                     std::chrono::milliseconds time = 10s) {
        Leash leash;
        leash.desk = "main";
        leash.plugin = leash.tool = tool;
        leash.groups = kTools;
        leash.calls_left = 10;
        leash.deadline = within(time);
        return call(leash, tool, arguments);
    }
    int deepest = 1;

  private:
    DeskInbox& inbox_;
    Fixtures& plugins_;
};

std::string chain(const std::vector<std::string>& tools) {
    std::string arguments = "{}";
    for (auto tool = tools.rbegin(); tool != tools.rend(); ++tool) {
        arguments = R"({"tool":")" + *tool + R"(","args":)" + arguments + "}";
    }
    return arguments;
}

}  // namespace

TEST_CASE("calls nest four deep and the answers come back in their order", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"nest_a", "nest_b", "nest_c", "nest_d", "nest_e"});
    NestingVerbs verbs(bench.inbox, plugins);
    const auto outcome = verbs.call("nest_a", chain({"nest_b", "nest_c", "nest_d"}));
    INFO((outcome.result ? "" : outcome.result.error().message()));
    REQUIRE(outcome.result);
    CHECK(
        *outcome.result ==
        R"({"from":"nest_a","answer":{"from":"nest_b","answer":{"from":"nest_c","answer":{"from":"nest_d"}}}})");
    CHECK(verbs.deepest == 4);
}

TEST_CASE("a fifth level is refused, and every level above ends", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"nest_a", "nest_b", "nest_c", "nest_d", "nest_e"});
    NestingVerbs verbs(bench.inbox, plugins);
    const auto outcome = verbs.call("nest_a", chain({"nest_b", "nest_c", "nest_d", "nest_e"}));
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    CHECK(plugins["nest_e"].runner.status().state == RunnerState::stopped);
    CHECK(verbs.call("nest_a", "{}").result);
}

TEST_CASE("a call back into a plugin on the stack is refused busy, never a deadlock", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"nest_a", "nest_b"});
    NestingVerbs verbs(bench.inbox, plugins);
    const auto own = verbs.call("nest_a", chain({"nest_a"}));
    REQUIRE_FALSE(own.result);
    CHECK(own.result.error().code() == Errc::busy);
    CHECK(own.took < 5s);
    const auto around = verbs.call("nest_a", chain({"nest_b", "nest_a"}));
    REQUIRE_FALSE(around.result);
    CHECK(around.result.error().code() == Errc::busy);
    CHECK(around.took < 5s);
    CHECK(verbs.call("nest_a", chain({"nest_b"})).result);
}

TEST_CASE("a crash deep in a nest is the failure of the calls above, which go on living",
          "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"nest_a", "nest_b", "crash"});
    class Verbs final : public VerbServer {
      public:
        Verbs(DeskInbox& inbox, Fixtures& plugins) : inbox_(inbox), plugins_(plugins) {}
        Result<std::string> serve(Leash& leash,
                                  std::string_view,
                                  const std::vector<std::string>& arguments,
                                  CallOutcome&) override {
            const bool is_nest = arguments.at(0).starts_with("nest");
            CallRequest request;
            request.name = arguments[0];
            request.arguments = arguments[1];
            return run_call(plugins_[is_nest ? arguments[0] : "crash"].runner,
                            inbox_,
                            leash,
                            request,
                            *this,
                            {},
                            300ms)
                .result;
        }

      private:
        DeskInbox& inbox_;
        Fixtures& plugins_;
    } verbs(bench.inbox, plugins);
    Leash leash;
    leash.groups = kTools;
    leash.deadline = within(10s);
    CallRequest request;
    request.name = "nest_a";
    request.arguments = chain({"nest_b", "segv"});
    const auto outcome =
        run_call(plugins["nest_a"].runner, bench.inbox, leash, request, verbs, {}, 300ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_crashed);
    CHECK_THAT(outcome.result.error().message(), Contains("SIGSEGV"));
    CHECK(plugins["nest_a"].runner.status().state == RunnerState::ready);
    CHECK(plugins["nest_b"].runner.status().state == RunnerState::ready);
}

TEST_CASE("a deadline in the depth ends every level in time", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"nest_a", "hang"});
    class Verbs final : public VerbServer {
      public:
        Verbs(DeskInbox& inbox, Fixtures& plugins) : inbox_(inbox), plugins_(plugins) {}
        Result<std::string> serve(Leash& leash,
                                  std::string_view,
                                  const std::vector<std::string>&,
                                  CallOutcome&) override {
            CallRequest request;
            request.name = "hang";
            return run_call(plugins_["hang"].runner, inbox_, leash, request, *this, {}, 200ms)
                .result;
        }

      private:
        DeskInbox& inbox_;
        Fixtures& plugins_;
    } verbs(bench.inbox, plugins);
    Leash leash;
    leash.groups = kTools;
    leash.deadline = within(400ms);
    CallRequest request;
    request.name = "nest_a";
    request.arguments = chain({"hang"});
    const auto outcome =
        run_call(plugins["nest_a"].runner, bench.inbox, leash, request, verbs, {}, 1000ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::deadline);
    CHECK(outcome.took < 5s);
}
