#include "host/format/config.hpp"

#include "host/format/config_words.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using Catch::Matchers::Contains;
using daybook::test::must;

namespace {

std::string problem(std::string_view text) {
    const auto config = Config::parse(text, "daybook.toml");
    return config ? "" : config.error().message();
}

constexpr std::string_view kWhole = R"(
[host]
isolation = "seccomp-only"
log_level = "debug"
min_free = "2GiB"
stop_grace = "90s"
call_timeout = "250ms"
model_timeout = "5m"
cancel_grace = "3s"
runner_idle = "1h"
queue_limit = 10
replay_start = "2019-01-02T03:30:00Z"

[plugin.candles]
file = "/opt/candles.so"
enabled = true
origins = ["https://a.example", {url = "http://gpu-box:8000", credential = "k", private_network = true}]
[plugin.candles.config]
folder = "/data"
deep = { list = [1, 2.5, true, "x"], empty = {} }

[model.clerk]
plugin = "clerk"
[model.qwen]
plugin = "openai_compatible"
url = "http://127.0.0.1:8080/v1"
model = "qwen3-14b"
credential = "qwen-key"
window = 32768

[desk.main]
zone = "Asia/Kolkata"
calendar = "nse"
rollover = "15:45"
models = ["qwen", "clerk"]
plugins = ["memory", "candles"]
reads = ["/data/prices/"]
instructions = "Be brief."
[desk.main.config.candles]
folder = "/data/prices"
[desk.other]
models = ["clerk"]
)";

}  // namespace

TEST_CASE("a whole configuration is read", "[format]") {
    const Config config = must(Config::parse(kWhole, "daybook.toml"));
    CHECK(config.host.isolation == Isolation::seccomp_only);
    CHECK(config.host.min_free_bytes == 2ULL << 30U);
    CHECK(config.host.stop_grace == std::chrono::seconds(90));
    CHECK(config.host.call_timeout == std::chrono::milliseconds(250));
    CHECK(config.host.model_timeout == std::chrono::minutes(5));
    CHECK(config.host.runner_idle == std::chrono::hours(1));
    CHECK(config.host.queue_limit == 10);
    CHECK(config.host.replay_start == "2019-01-02T03:30:00Z");
    CHECK(config.plugins.at("candles").file == "/opt/candles.so");
    CHECK(config.plugins.at("candles").config.dump() ==
          R"({"deep":{"empty":{},"list":[1,2.5,true,"x"]},"folder":"/data"})");
    CHECK(config.models.at("qwen").url == "http://127.0.0.1:8080/v1");
    const auto& origins = config.plugins.at("candles").origins;
    REQUIRE(origins.size() == 2);
    CHECK(origins[0].url == "https://a.example");
    CHECK(origins[1].credential == "k");
    CHECK(origins[1].private_network);
    CHECK(config.models.at("qwen").window == 32768);
    const DeskConfig& desk = config.desks.at("main");
    CHECK(desk.zone == "Asia/Kolkata");
    CHECK(desk.rollover->str() == "15:45");
    CHECK(desk.models == std::vector<std::string>{"qwen", "clerk"});
    CHECK(desk.reads == std::vector<std::filesystem::path>{"/data/prices/"});
    CHECK(desk.plugin_config.at("candles")["folder"].as_string() == "/data/prices");
    CHECK(config.desks.at("other").calendar == "always");
    CHECK(!config.desks.at("other").rollover);
    CHECK(config.warnings.empty());
}

TEST_CASE("an empty file is the defaults, with a warning", "[format]") {
    const Config config = must(Config::parse("", "daybook.toml"));
    CHECK(config.host.isolation == Isolation::required);
    CHECK(config.host.call_timeout == std::chrono::seconds(30));
    REQUIRE(config.warnings.size() == 1);
    CHECK(config.warnings[0] == "no desk is configured");
}

TEST_CASE("an unknown key is an error with place and the nearest known key", "[format]") {
    CHECK(problem("[host]\nisolaton = \"off\"\n") ==
          "daybook.toml:2:1: [host] unknown key \"isolaton\"; did you mean \"isolation\"?");
    CHECK(problem("[hots]\n") == "daybook.toml:1:2: unknown key \"hots\"; did you mean \"host\"?");
    CHECK(problem("[model.a]\nplugin = \"x\"\napi_key = \"sk-123\"\n")
              .find("credential = \"NAME\"") != std::string::npos);
    CHECK(problem("[model.a]\nplugin = \"x\"\napi_key = \"sk-123\"\n").find("sk-123") ==
          std::string::npos);
    CHECK(problem("[desk.main]\nzzzzzzzz = 1\n").find("known are zone, calendar") !=
          std::string::npos);
}

TEST_CASE("every problem of a file is told at once, a line each", "[format]") {
    const std::string text = problem(
        "[host]\nqueue_limit = 0\nlog_level = \"loud\"\n[desk.main]\nrollover = \"25:00\"\nmodels "
        "= [\"qwen\"]\n");
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
    CHECK(
        text.find("daybook.toml:2:15: [host] queue_limit: expected an integer from 1 to 100000") !=
        std::string::npos);
    CHECK(text.find("daybook.toml:3:13: [host] log_level") != std::string::npos);
    CHECK(text.find("daybook.toml:5:12: [desk.main] rollover") != std::string::npos);
    CHECK(text.find("daybook.toml:6:10: [desk.main] models: there is no [model.qwen]") !=
          std::string::npos);
}

TEST_CASE("each wrong value is refused with what was expected", "[format]") {
    const std::vector<std::pair<const char*, const char*>> rows = {
        {"[host]\ncall_timeout = 30\n", "in quotes"},
        {"[host]\ncall_timeout = \"30\"\n", "60s"},
        {"[host]\ncall_timeout = \"0s\"\n", "60s"},
        {"[host]\nstop_grace = \"1500ms\"\n", "60s"},
        {"[host]\nstop_grace = \"99999999999999999999s\"\n", "60s"},
        {"[host]\nmin_free = \"64MB\"\n", "64MiB"},
        {"[host]\nmin_free = \"99999999999GiB\"\n", "64MiB"},
        {"[host]\nisolation = \"none\"\n", "seccomp-only"},
        {"[host]\nreplay_start = \"2019-01-02\"\n", "RFC 3339"},
        {"host = 5\n", "expected a table"},
        {"[plugin]\nx = 1\n", "[plugin.x]"},
        {"[plugin.\"a b\"]\n", "plain name"},
        {"[plugin.x]\nfile = \"../x.so\"\n", "absolute path"},
        {"[plugin.x]\nenabled = \"yes\"\n", "true or false"},
        {"[plugin.x]\nconfig = 5\n", "expected a table"},
        {"[plugin.x.config]\nat = 2026-01-01\n", "in quotes"},
        {"[plugin.x.config]\nn = nan\n", "finite"},
        {"[model.x]\n", "plugin: expected the name"},
        {"[model.x]\nplugin = \"p\"\nurl = \"127.0.0.1:8080\"\n", "http://"},
        {"[model.x]\nplugin = \"p\"\nurl = \"http://user:pass@host/v1\"\n", "secret"},
        {"[model.x]\nplugin = \"p\"\ncredential = \"sk-ant xyz\"\n", "name of a credential"},
        {"[model.x]\nplugin = \"p\"\nwindow = -1\n", "integer"},
        {"[model.x]\nplugin = \"p\"\nurl = \"http://gpu-box/v1\"\n", "private_network = true"},
        {"[model.x]\nplugin = \"p\"\ncredential_header = \"cookie\"\n", "x-api-key"},
        {"[model.x]\nplugin = \"p\"\nprivate_network = 1\n", "true or false"},
        {"[plugin.x]\norigins = \"https://a\"\n", "list"},
        {"[plugin.x]\norigins = [5]\n", "a table with a url"},
        {"[plugin.x]\norigins = [\"ftp://a\"]\n", "http://"},
        {"[plugin.x]\norigins = [{url = \"https://a\", credentail = \"k\"}]\n",
         "did you mean \"credential\"?"},
        {"[plugin.x]\norigins = [\"http://10.0.0.5\"]\n", "private_network = true"},
        {"[desk.x]\nzone = \"Asia Kolkata\"\n", "time zone"},
        {"[desk.x]\ncalendar = \"../nse\"\n", "calendar"},
        {"[desk.x]\nrollover = 15:45:00\n", "in quotes"},
        {"[desk.x]\nrollover = \"24:00\"\n", "23:59"},
        {"[desk.x]\nreads = [\"prices\"]\n", "absolute path"},
        {"[desk.x]\nreads = [\"/\"]\n", "absolute path"},
        {"[desk.x]\nplugins = [\"a\", \"a\"]\n", "twice"},
        {"[desk.x]\nplugins = \"memory\"\n", "list"},
        {"[desk.x]\nplugins = [\"a/b\"]\n", "plain name"},
        {"[desk.x.config.candels]\n", "lists no such plugin"},
        {"[host\n", "daybook.toml:1:"},
        // Texts that toml++ 3.3 asserts about instead of refusing.
        {"[\nx = 1\n", "daybook.toml:1:1: malformed"},
        {"[host]\n[}desk]\n", "daybook.toml:2:1: malformed"},
        {"[host]\nlog_level = \"info\"\nlog_level = \"info\"\n", "daybook.toml:3:"},
        {"[desk.x]\nmodels = [\"qwne\"]\n[model.qwen]\nplugin = \"p\"\n", "did you mean \"qwen\""},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        const std::string told = problem(text);
        INFO(told);
        CHECK(told.find(expected) != std::string::npos);
    }
    CHECK(!Config::parse("x = \"\xff\"", "daybook.toml"));
}

TEST_CASE("a plugin or a desk cannot take a name that the host signs its own records with",
          "[format]") {
    for (const std::string name : {"host", "intent", "outcome", "rollover", "trigger", "write"}) {
        const std::string wanted = "\"" + name + "\" is a name of the host's own";
        CHECK_THAT(problem("[plugin." + name + "]\n"), Contains(wanted));
        CHECK_THAT(problem("[desk.main]\nplugins = [\"" + name + "\"]\n"), Contains(wanted));
        CHECK_THAT(problem("[model.m]\nplugin = \"" + name + "\"\n[desk.main]\nmodels = [\"m\"]\n"),
                   Contains(wanted));
    }
    CHECK_THAT(problem("[desk._host]\n"), Contains("\"_host\" is a name of the host's own"));
    CHECK(Config::parse("[desk.host]\nplugins = [\"hosts\"]\n", "daybook.toml"));
}

TEST_CASE("a plugin needs no table, one that is switched off is warned of", "[format]") {
    const Config config = must(Config::parse(
        "[model.clerk]\nplugin = \"clerk\"\n[plugin.memory]\nenabled = false\n[desk.x]\nmodels = "
        "[\"clerk\"]\nplugins = [\"memory\", \"candles\"]\n",
        "t"));
    REQUIRE(config.warnings.size() == 1);
    CHECK(config.warnings[0].find("memory") != std::string::npos);
    CHECK(must(Config::parse("[desk.x]\n", "t")).warnings.size() == 1);
}

TEST_CASE("the starter configuration reads back as what it was made from", "[format]") {
    DeskConfig desk;
    desk.name = "main";
    desk.zone = "Asia/Kolkata";
    desk.calendar = "nse";
    desk.rollover = must(TimeOfDay::parse("15:45"));
    desk.models = {"clerk"};
    desk.plugins = {"memory", "candles"};
    desk.reads = {"/data/\"odd\"\\path"};
    desk.instructions = "Line one\nline \"two\" \x01 ü";
    const std::string text = starter_config(desk, "2019-01-02T03:30:00Z");
    const Config config = must(Config::parse(text, "daybook.toml"));
    const DeskConfig& read = config.desks.at("main");
    CHECK(read.zone == desk.zone);
    CHECK(read.rollover == desk.rollover);
    CHECK(read.models == desk.models);
    CHECK(read.plugins == desk.plugins);
    CHECK(read.reads == desk.reads);
    CHECK(read.instructions == desk.instructions);
    CHECK(config.host.replay_start == "2019-01-02T03:30:00Z");
    CHECK(config.host.isolation == Isolation::required);
    CHECK(config.warnings.empty());
    CHECK(text.find("# [model.qwen]") != std::string::npos);
    CHECK(text.find("http://127.0.0.1:8080/v1") != std::string::npos);

    // Taking the # away gives a model that is read.
    std::string uncommented = text;
    for (const char* line :
         {"# [model.qwen]", "# plugin = \"openai_compatible\"", "# url =", "# model ="}) {
        uncommented.replace(uncommented.find(line), 2, "");
    }
    CHECK(must(Config::parse(uncommented, "daybook.toml")).models.at("qwen").plugin ==
          "openai_compatible");

    DeskConfig bare;
    bare.name = "d";
    bare.models = {"clerk"};
    const Config plain = must(Config::parse(starter_config(bare, std::nullopt), "t"));
    CHECK(plain.desks.at("d").calendar == "always");
    CHECK(!plain.desks.at("d").rollover);
    CHECK(!plain.host.replay_start);
}

TEST_CASE("the distance of words counts a swap as one", "[format]") {
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("host", "hots") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("same", "same") == 0);
}
