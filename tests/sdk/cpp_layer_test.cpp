// The C++ layer against a host of the test's own, without a runner: what reaches the C interface.
#include <stdexcept>
#include <string>
#include <string_view>

#include <daybook/plugin.hpp>

#include "tests/catch.hpp"

namespace {

/// Records what the plugin did; its table's functions find it through the call pointer.
struct FakeHost {
    daybook_status status = -1;
    std::string text, detail, logged;
    bool retryable = false;
    bool cancelled = false;
    std::int64_t deadline = 0;
    daybook_status read_status = DAYBOOK_OK;
    std::string read_answer = "content";
    bool serves_files = true;
};

FakeHost& host_of(daybook_call* call) {
    return *reinterpret_cast<FakeHost*>(call);
}
std::string text_of(daybook_str text) {
    return std::string(daybook::detail::to_view(text));
}

daybook_status read_file(daybook_call* call, daybook_str path, void* to, daybook_sink sink) {
    const std::string answer =
        host_of(call).read_answer + (host_of(call).read_status == DAYBOOK_OK ? text_of(path) : "");
    sink(to, {answer.data(), answer.size() / 2});  // in two pieces
    sink(to, {answer.data() + answer.size() / 2, answer.size() - answer.size() / 2});
    return host_of(call).read_status;
}
constexpr daybook_desk_files kFiles = {
    sizeof(daybook_desk_files), 0, &read_file, nullptr, nullptr, nullptr, nullptr, nullptr};

daybook_host table_of(FakeHost& fake) {
    daybook_host host{};
    host.struct_size = sizeof host;
    host.abi_major = DAYBOOK_ABI_MAJOR;
    host.ctx = &fake;
    host.log = [](void* ctx, std::int32_t, daybook_str message, daybook_str) {
        static_cast<FakeHost*>(ctx)->logged += text_of(message);
    };
    host.get_extension = [](void* ctx, const char* id) -> const void* {
        const bool files = std::string_view(id) == DAYBOOK_EXT_DESK_FILES &&
                           static_cast<FakeHost*>(ctx)->serves_files;
        return files ? &kFiles : nullptr;
    };
    host.deadline_ns = [](daybook_call* call) { return host_of(call).deadline; };
    host.cancelled = [](daybook_call* call) { return host_of(call).cancelled ? 1 : 0; };
    host.progress = [](daybook_call*, daybook_str) {};
    host.result = [](daybook_call* call, daybook_str json) -> daybook_status {
        host_of(call).status = DAYBOOK_OK;
        host_of(call).text = text_of(json);
        return DAYBOOK_OK;
    };
    host.fail = [](daybook_call* call,
                   daybook_status status,
                   std::int32_t retryable,
                   daybook_str message,
                   daybook_str detail) -> daybook_status {
        host_of(call) = {.status = status,
                         .text = text_of(message),
                         .detail = text_of(detail),
                         .logged = {},
                         .retryable = retryable != 0};
        return DAYBOOK_OK;
    };
    host.idempotency_key = [](daybook_call*) { return daybook_str{"key", 3}; };
    return host;
}

class Counter {
  public:
    explicit Counter(std::string_view config)
        : count_(daybook::json::ObjectReader(config).integer("start")) {
        if (count_ < 0) {
            throw std::runtime_error("start is negative");
        }
        ++alive;
    }
    ~Counter() { --alive; }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    Counter(Counter&&) = delete;
    Counter& operator=(Counter&&) = delete;
    std::string count(daybook::Call, std::string_view) { return std::to_string(++count_); }

    static inline int alive = 0;

  private:
    std::int64_t count_;
};

std::string act(daybook::Call call, std::string_view args) {
    const daybook::json::ObjectReader in(args);
    const std::string what = in.text("do");
    if (what == "refuse") {
        throw daybook::PluginError(DAYBOOK_REFUSED, "not today", true, R"({"rule":"r"})");
    }
    if (what == "standard") {
        throw std::out_of_range("beyond the end");
    }
    if (what == "odd") {
        throw 7;
    }
    if (what == "ok_as_error") {
        throw daybook::PluginError(DAYBOOK_OK, "says ok");
    }
    if (what == "read") {
        return call.read("Memory.md");
    }
    if (what == "list_clock") {
        return call.describe_clock();
    }
    call.check();
    call.log(DAYBOOK_LOG_INFO, "ran");
    return call.idempotency_key();
}
std::string add(Counter& counter, daybook::Call call, std::string_view args) {
    return counter.count(call, args);
}

constexpr auto kAct = daybook::tool<act>("act", "Acts.", "{}");
constexpr auto kCount = daybook::tool<&Counter::count>("count", "Counts.", "{}");
constexpr auto kAdd = daybook::tool<add>("add", "Counts, too.", "{}");

/// Opens with the C functions that DAYBOOK_PLUGIN would name, calls once, closes.
template <class T = void>
FakeHost call_once(const daybook_tool& tool,
                   const std::string& args,
                   FakeHost fake = {},
                   const std::string& config = "{}") {
    const daybook_host host = table_of(fake);
    daybook_instance* instance = nullptr;
    char error[64] = "";
    REQUIRE(daybook::detail::open_instance<T>(
                &host, {config.data(), config.size()}, &instance, error, sizeof error) ==
            DAYBOOK_OK);
    tool.call(instance, reinterpret_cast<daybook_call*>(&fake), {args.data(), args.size()});
    daybook::detail::close_instance(instance);
    return fake;
}

}  // namespace

TEST_CASE("a result and every kind of exception end the call once", "[sdk]") {
    const auto good = call_once(kAct, "{}");
    CHECK(good.status == DAYBOOK_OK);
    CHECK(good.text == "key");
    CHECK(good.logged == "ran");
    const auto refused = call_once(kAct, R"({"do":"refuse"})");
    CHECK(refused.status == DAYBOOK_REFUSED);
    CHECK(refused.text == "not today");
    CHECK(refused.retryable);
    CHECK(refused.detail == R"({"rule":"r"})");
    CHECK(call_once(kAct, R"({"do":"standard"})").text == "beyond the end");
    CHECK(call_once(kAct, R"({"do":"standard"})").status == DAYBOOK_INTERNAL);
    CHECK(call_once(kAct, R"({"do":"odd"})").status == DAYBOOK_INTERNAL);
    CHECK(call_once(kAct, R"({"do":"ok_as_error"})").status == DAYBOOK_INTERNAL);
}

TEST_CASE("a verb's text comes whole and its failure throws with the host's words", "[sdk]") {
    CHECK(call_once(kAct, R"({"do":"read"})").text == "contentMemory.md");
    FakeHost refusing;
    refusing.read_status = DAYBOOK_CONFLICT;
    refusing.read_answer = R"({"error":"conflict","message":"it changed","base":"ff"})";
    const auto conflict = call_once(kAct, R"({"do":"read"})", refusing);
    CHECK(conflict.status == DAYBOOK_CONFLICT);
    CHECK(conflict.text == "it changed");
    CHECK(conflict.detail == refusing.read_answer);
    refusing.read_answer = "no json";
    CHECK(call_once(kAct, R"({"do":"read"})", refusing).status == DAYBOOK_CONFLICT);
}

TEST_CASE("a group that the host does not give is named in the failure", "[sdk]") {
    const auto clockless = call_once(kAct, R"({"do":"list_clock"})");
    CHECK(clockless.status == DAYBOOK_UNSUPPORTED);
    CHECK_THAT(clockless.text,
               Catch::Matchers::Contains("daybook.clock/1") && Catch::Matchers::Contains("wants"));
}

TEST_CASE("check throws for a cancelled call and for a late one", "[sdk]") {
    FakeHost cancelled;
    cancelled.cancelled = true;
    CHECK(call_once(kAct, "{}", cancelled).status == DAYBOOK_CANCELLED);
    cancelled.deadline = 1;
    CHECK(call_once(kAct, "{}", cancelled).status == DAYBOOK_DEADLINE);
}

TEST_CASE("an instance is made from its configuration and freed", "[sdk]") {
    CHECK(call_once<Counter>(kCount, "{}", {}, R"({"start":41})").text == "42");
    CHECK(call_once<Counter>(kAdd, "{}", {}, R"({"start":1})").text == "2");
    CHECK(Counter::alive == 0);
    const auto wrong = call_once(kCount, "{}");  // opened without the type
    CHECK(wrong.status == DAYBOOK_INTERNAL);
    CHECK_THAT(wrong.text, Catch::Matchers::Contains("daybook::instance"));
}

TEST_CASE("a constructor that throws fails the opening, within the buffer", "[sdk]") {
    FakeHost fake;
    const daybook_host host = table_of(fake);
    daybook_instance* instance = nullptr;
    const std::string config = R"({"start":-1})";
    char error[9] = "........";
    CHECK(daybook::detail::open_instance<Counter>(
              &host, {config.data(), config.size()}, &instance, error, 8) == DAYBOOK_INTERNAL);
    CHECK(std::string(error) == "start i");
    CHECK(instance == nullptr);
    CHECK(Counter::alive == 0);
}
