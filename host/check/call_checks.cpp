// What a plugin's tools do when they are called: with what fits, with what does not, late,
// cancelled, often.
#include <array>
#include <functional>

#include "host/check/checks.hpp"
#include "host/check/schema_fuzz.hpp"
#include "host/os/desk_path.hpp"

namespace daybook::check {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCancelLatency{250};
constexpr milliseconds kGrace{2000};
constexpr std::uint64_t kLeakBytes = 2UL << 20;
constexpr int kWarmUp = 200;
constexpr int kLeakCalls = 1000;

std::string again(const Subject& subject, std::string_view id) {
    return "; the same again: --only " + std::string(id) + " --seed " +
           std::to_string(subject.seed);
}

/// Arguments of a tool that its schema takes. Gives up after a while: a schema may be more than
/// the maker knows.
class Fitting {
  public:
    Fitting(const ToolManifest& tool, std::uint64_t seed)
        : maker_(parsed(tool.input_schema), seed),
          schema_(JsonSchema::compile(tool.input_schema)) {}

    std::optional<std::string> next() {
        for (int i = 0; i < 50; ++i) {
            Json arguments = maker_.fitting();
            if (schema_ && schema_->check(arguments)) {
                return arguments.dump();
            }
        }
        return std::nullopt;
    }
    std::string garbage() { return maker_.garbage(); }

  private:
    static Json parsed(const std::string& text) {
        auto json = Json::parse(text);
        return json ? std::move(*json) : Json::object();
    }

    ArgumentMaker maker_;
    Result<JsonSchema> schema_;
};

/// How the call must not end; "" when it ended as one must. `any_result`: the host never hands over
/// such arguments, so what is made of them is nobody's.
std::string disorder(const CallEnd& end, bool any_result = false) {
    switch (end.how) {
        case CallEnd::How::died:
            return "the process died: " + end.text;
        case CallEnd::How::silent:
            return "no result and no failure within " + std::to_string(end.took.count()) + " ms";
        case CallEnd::How::failure:
            return end.text.empty() ? "a failure without a sentence" : std::string();
        case CallEnd::How::result:
            break;
    }
    return any_result || Json::parse(end.text, JsonLimits{8UL << 20, 64, 8UL << 20})
               ? std::string()
               : "a result that is no JSON: " + printable(end.text, 100);
}

/// Calls every tool `rounds` times; the first that ends in disorder is told. One host for all:
/// what a call leaves behind is met by the next.
template <class Make>
Verdict call_all(const Subject& subject, std::string_view id, int rounds, const Make& make_ask) {
    if (subject.manifest.tools.empty()) {
        return skip("it offers no tool");
    }
    auto host = CheckHost::start(subject);
    if (!host) {
        return fail(host.error().message());
    }
    for (const ToolManifest& tool : subject.manifest.tools) {
        Fitting arguments(tool, subject.seed);
        for (int round = 0; round < rounds; ++round) {
            const std::optional<CallAsk> ask = make_ask(tool, arguments, round);
            if (!ask) {
                return skip("tool " + tool.name + ": no arguments could be made for its schema");
            }
            const CallEnd end = (*host)->call(*ask);
            if (const std::string wrong = disorder(end, id == "args-garbage"); !wrong.empty()) {
                return fail("tool " + tool.name + " with " + printable(ask->arguments, 300) + ": " +
                            wrong + again(subject, id));
            }
        }
    }
    return pass();
}

std::optional<CallAsk> fitting_ask(const ToolManifest& tool, Fitting& arguments) {
    auto made = arguments.next();
    if (!made) {
        return std::nullopt;
    }
    CallAsk ask;
    ask.name = tool.name;
    ask.arguments = std::move(*made);
    return ask;
}

Verdict args_fuzz(const Subject& subject) {
    return call_all(subject,
                    "args-fuzz",
                    subject.rounds,
                    [](const ToolManifest& tool, Fitting& arguments, int) {
                        return fitting_ask(tool, arguments);
                    });
}

Verdict args_garbage(const Subject& subject) {
    return call_all(subject,
                    "args-garbage",
                    subject.rounds,
                    [](const ToolManifest& tool, Fitting& arguments, int) {
                        CallAsk ask;
                        ask.name = tool.name;
                        ask.arguments = arguments.garbage();
                        return std::optional<CallAsk>(std::move(ask));
                    });
}

/// An exception of the plugin must come out as a failure, never as the end of the process.
Verdict exception_contained(const Subject& subject) {
    return call_all(subject,
                    "exception-contained",
                    subject.rounds / 4 + 1,
                    [](const ToolManifest& tool, Fitting& arguments, int) {
                        auto ask = fitting_ask(tool, arguments);
                        if (ask) {
                            ask->verbs_fail = true;
                        }
                        return ask;
                    });
}

Verdict ends_within(const Subject& subject,
                    std::string_view id,
                    milliseconds most,
                    const std::function<void(CallAsk&)>& change) {
    if (subject.manifest.tools.empty()) {
        return skip("it offers no tool");
    }
    auto host = CheckHost::start(subject);
    if (!host) {
        return fail(host.error().message());
    }
    for (const ToolManifest& tool : subject.manifest.tools) {
        Fitting arguments(tool, subject.seed);
        for (int round = 0; round < 5; ++round) {
            auto ask = fitting_ask(tool, arguments);
            if (!ask) {
                return skip("tool " + tool.name + ": no arguments could be made for its schema");
            }
            change(*ask);
            const CallEnd end = (*host)->call(*ask);
            if (!end.is_orderly() || end.took > most) {
                return fail("tool " + tool.name + " with " + printable(ask->arguments, 200) +
                            (end.is_orderly()
                                 ? ": ended after " + std::to_string(end.took.count()) + " ms"
                                 : ": " + disorder(end)) +
                            ", wanted within " + std::to_string(most.count()) +
                            " ms; look at call.check() in long loops" + again(subject, id));
            }
        }
    }
    return pass();
}

Verdict cancel_latency(const Subject& subject) {
    return ends_within(
        subject, "cancel-latency", milliseconds(5) + kCancelLatency, [](CallAsk& ask) {
            ask.cancel_after = milliseconds(5);
            ask.patience = milliseconds(3000);
        });
}

Verdict deadline(const Subject& subject) {
    return ends_within(subject, "deadline", milliseconds(50) + kGrace, [](CallAsk& ask) {
        ask.deadline = milliseconds(50);
        ask.patience = milliseconds(4000);
    });
}

Verdict leak(const Subject& subject) {
    if (subject.manifest.tools.empty()) {
        return skip("it offers no tool");
    }
    for (const ToolManifest& tool : subject.manifest.tools) {
        auto host = CheckHost::start(subject);
        if (!host) {
            return fail(host.error().message());
        }
        Fitting arguments(tool, subject.seed);
        const auto ask = fitting_ask(tool, arguments);
        if (!ask) {
            return skip("tool " + tool.name + ": no arguments could be made for its schema");
        }
        std::uint64_t before = 0;
        for (int i = 0; i < kWarmUp + kLeakCalls; ++i) {
            if (i == kWarmUp) {
                before = (*host)->resident_bytes();
            }
            if (const CallEnd end = (*host)->call(*ask); !end.is_orderly()) {
                return fail("tool " + tool.name + ": call " + std::to_string(i) + ": " +
                            disorder(end));
            }
        }
        const std::uint64_t after = (*host)->resident_bytes();
        if (after > before + kLeakBytes) {
            return fail("tool " + tool.name + ": " + std::to_string(kLeakCalls) +
                        " equal calls left " + std::to_string((after - before) / 1024) +
                        " KiB behind, wanted at most 2048; free what a call made");
        }
    }
    return pass();
}

Verdict stdout_silent(const Subject& subject) {
    auto host = CheckHost::start(subject);
    if (!host) {
        return fail(host.error().message());
    }
    for (const ToolManifest& tool : subject.manifest.tools) {
        Fitting arguments(tool, subject.seed);
        for (int i = 0; i < 5; ++i) {
            if (auto ask = fitting_ask(tool, arguments)) {
                static_cast<void>((*host)->call(*ask));
            }
        }
    }
    static_cast<void>((*host)->end());
    const std::string printed = (*host)->printed();
    return printed.empty() ? pass()
                           : fail("it printed: " + printable(printed, 200) +
                                  "; use the host's log, which says whose line it is");
}

Verdict drain_finishes(const Subject& subject) {
    auto host = CheckHost::start(subject);
    if (!host) {
        return fail(host.error().message());
    }
    if (!subject.manifest.tools.empty()) {
        Fitting arguments(subject.manifest.tools.front(), subject.seed);
        if (auto ask = fitting_ask(subject.manifest.tools.front(), arguments)) {
            static_cast<void>((*host)->call(*ask));
        }
    }
    const std::string wrong = (*host)->end();
    return wrong.empty() ? pass() : fail(wrong);
}

constexpr std::array<Check, 8> kChecks{
    {{"args-fuzz", 1, "arguments that fit the schema end in one result or failure", args_fuzz},
     {"exception-contained",
      1,
      "a refused verb ends in a failure, not in a crash",
      exception_contained},
     {"deadline", 1, "a call past its deadline ends within the grace of 2 s", deadline},
     {"drain-finishes", 1, "drain and close end the process in 2 s", drain_finishes},
     {"cancel-latency", 2, "a cancelled call ends within 250 ms", cancel_latency},
     {"stdout-silent", 2, "it prints nothing", stdout_silent},
     {"leak-1000-calls", 2, "1,000 equal calls leave at most 2 MiB behind", leak},
     {"args-garbage",
      3,
      "bytes that are no arguments end in one failure or result",
      args_garbage}}};

}  // namespace

std::span<const Check> call_checks() {
    return kChecks;
}

}  // namespace daybook::check
