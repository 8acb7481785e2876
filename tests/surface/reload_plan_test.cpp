// What a new configuration changes.
#include "host/surface/reload_plan.hpp"

#include "host/format/config_tables.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

const char* const kBase = R"([host]
log_level = "info"
queue_limit = 10
[model.clerk]
plugin = "clerk"
[model.qwen]
plugin = "openai"
url = "http://127.0.0.1:8080"
[desk.a]
models = ["clerk"]
plugins = ["memory"]
[desk.b]
models = ["qwen"]
)";

ReloadPlan plan(const std::string& after, const std::string& before = kBase) {
    return plan_reload(must(config_tables(before, "x")),
                       must(Config::parse(before, "x")),
                       must(config_tables(after, "x")),
                       must(Config::parse(after, "x")));
}

std::string with(const std::string& from, const std::string& to) {
    std::string text = kBase;
    text.replace(text.find(from), from.size(), to);
    return text;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the same settings in another order and with comments change nothing", "[surface]") {
    const ReloadPlan same = plan(
        "# a comment\n[desk.b]\nmodels = [ \"qwen\" ]\n[desk.a]\n"
        "plugins = [\"memory\"]\nmodels = [\"clerk\"]\n[model.qwen]\n"
        "url = \"http://127.0.0.1:8080\"\nplugin = \"openai\"\n"
        "[model.clerk]\nplugin = \"clerk\"\n[host]\nqueue_limit = 10\n"
        "log_level = \"info\"\n");
    CHECK(same.is_empty());
}

TEST_CASE("a desk is changed with its own table, a model's or a plugin's that it uses",
          "[surface]") {
    CHECK(plan(with(":8080", ":8081")).changed == Names{"b"});
    CHECK(plan(with("models = [\"clerk\"]", "models = [\"clerk\", \"qwen\"]")).changed ==
          Names{"a"});
    CHECK(plan(std::string(kBase) + "[plugin.memory.config]\nx = 1\n").changed == Names{"a"});
    CHECK(plan(std::string(kBase) + "[plugin.openai.config]\nx = 1\n").changed == Names{"b"});
    CHECK(plan(std::string(kBase) + "[plugin.candles]\nenabled = false\n").is_empty());
    CHECK(plan(with("queue_limit = 10", "queue_limit = 11")).changed == Names{"a", "b"});
    CHECK(plan(with("\"info\"", "\"debug\"")).is_empty());
}

TEST_CASE("new and gone desks, and what only a start takes over, are told apart", "[surface]") {
    const ReloadPlan more = plan(std::string(kBase) + "[desk.c]\nmodels = [\"clerk\"]\n");
    CHECK(more.added == Names{"c"});
    CHECK(more.changed.empty());
    const ReloadPlan less = plan(with("[desk.b]\nmodels = [\"qwen\"]\n", ""));
    CHECK(less.removed == Names{"b"});
    CHECK(less.changed.empty());
    const ReloadPlan clock =
        plan(with("queue_limit = 10", "queue_limit = 10\nreplay_start = \"2019-01-02T00:00:00Z\""));
    CHECK(clock.at_next_start == Names{"host.replay_start"});
    CHECK(clock.changed.empty());
}
